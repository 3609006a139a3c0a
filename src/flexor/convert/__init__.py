"""Passes over scenes, and findings about them."""
