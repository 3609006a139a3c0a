"""Motion and levels of detail of many characters."""
