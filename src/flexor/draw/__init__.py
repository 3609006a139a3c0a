"""Draw lists, and the backends that turn them into pictures."""
