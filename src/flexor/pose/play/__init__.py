"""Clips played: layers, cross-fades, events, root motion."""
