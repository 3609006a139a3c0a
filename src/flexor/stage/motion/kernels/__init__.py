"""Kernels of the motion of a tick."""
