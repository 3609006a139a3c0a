"""What is seen of a stage beside its characters: views, marks, weather."""
