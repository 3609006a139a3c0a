"""Bytes to and from scene values."""
