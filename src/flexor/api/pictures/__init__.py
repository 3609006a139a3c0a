"""Pictures of characters, crowds, goals and stages."""
