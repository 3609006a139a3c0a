"""Matrices to vertices, compiled."""
