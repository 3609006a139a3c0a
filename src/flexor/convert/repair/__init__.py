"""The recipe of a repair, and what it changed."""
