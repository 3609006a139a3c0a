"""Formats of pictures and movies: one file each, which says so with its `FORMAT`."""
