"""Wiring and words for people, no algorithms."""
