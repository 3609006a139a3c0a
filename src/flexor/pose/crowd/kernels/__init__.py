"""Clocks and nodes of crowds, compiled."""
