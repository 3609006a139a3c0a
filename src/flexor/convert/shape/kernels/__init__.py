"""The nearest points of surfaces, compiled."""
