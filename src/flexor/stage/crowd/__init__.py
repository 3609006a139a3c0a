"""Many characters in the world."""
