"""What moves in the world: crowds of characters."""
