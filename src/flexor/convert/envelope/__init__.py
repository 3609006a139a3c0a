"""Scenes as envelopes: vertices sorted by the joint that pulls them."""
