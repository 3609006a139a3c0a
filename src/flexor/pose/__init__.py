"""Time and goals to local transforms to world matrices."""
