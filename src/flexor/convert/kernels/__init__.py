"""The slow loops of passes, compiled."""
