"""What programs hold, and words for them; no algorithms."""
