"""Quaternions, transforms and the one place for compiler flags; no domain words."""
