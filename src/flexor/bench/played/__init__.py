"""Matches that are played to be looked at: what goes wrong in them, and how often."""
