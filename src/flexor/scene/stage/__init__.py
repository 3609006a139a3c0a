"""What a stage is before it is played: ground, walls, moves, plans and settings."""
