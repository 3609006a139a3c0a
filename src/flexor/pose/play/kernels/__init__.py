"""Players, compiled."""
