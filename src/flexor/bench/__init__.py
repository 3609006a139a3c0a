"""One file for each claim, measured."""
