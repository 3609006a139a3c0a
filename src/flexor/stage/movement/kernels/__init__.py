"""Rules of movement, compiled."""
