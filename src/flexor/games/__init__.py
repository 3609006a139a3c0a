"""The games, and what a game needs: window, pads, sounds, recording."""
