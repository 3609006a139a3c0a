"""Clips of one skeleton for another."""
