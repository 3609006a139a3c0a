"""A picture from draw list to pixels, compiled: stages of one kernel."""
