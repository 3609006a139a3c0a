"""What moves and ages in the world: stages, crowds, balls and nets, effects."""
