"""A scene in a backend: uploaded, dressed in a style, lit, seen by a camera."""
