"""Pixels to files: pictures, videos and arrays, each written whole or not at all."""
