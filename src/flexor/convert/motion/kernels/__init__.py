"""Whole numbers of packed motion, compiled."""
