"""Clips sampled and world matrices made, compiled."""
