"""The goal: shots at a keeper."""
