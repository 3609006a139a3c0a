"""Balls and nets, compiled."""
