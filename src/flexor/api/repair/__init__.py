"""A repair in one call, and the page that shows what it did."""
