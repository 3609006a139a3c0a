"""Motion in fewer bytes, within a bound of what is seen."""
