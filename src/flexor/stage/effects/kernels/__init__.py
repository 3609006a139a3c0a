"""Effects, compiled."""
