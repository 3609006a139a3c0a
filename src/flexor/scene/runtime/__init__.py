"""What is made of a character to run fast: envelopes, levels, packed motion."""
