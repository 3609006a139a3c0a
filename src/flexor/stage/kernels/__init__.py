"""What several rooms of the stage compute alike, compiled."""
