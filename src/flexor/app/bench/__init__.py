"""The claims, measured here: `flexor bench` runs these."""
