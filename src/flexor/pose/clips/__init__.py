"""Clips changed: cut, mirrored, joined, sampled, carried over."""
