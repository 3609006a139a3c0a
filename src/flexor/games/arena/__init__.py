"""The arena: two who fight."""
