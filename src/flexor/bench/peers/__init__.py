"""What claims are measured beside."""
