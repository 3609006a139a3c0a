"""Games: the arena and the goal, in a window and without one."""
