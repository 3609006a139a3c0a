"""Levels of detail, made by measuring."""
