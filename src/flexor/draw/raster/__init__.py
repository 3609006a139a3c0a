"""The default backend: a rasteriser for plain CPUs."""
