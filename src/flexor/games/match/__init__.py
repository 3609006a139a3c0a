"""A stage as a game: matches of those who fight on it."""
