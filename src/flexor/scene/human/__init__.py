"""Which nodes of a skeleton are which parts of a human body."""
