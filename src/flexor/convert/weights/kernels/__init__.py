"""Scores and smoothing of weights, compiled."""
