"""Solvers, compiled."""
