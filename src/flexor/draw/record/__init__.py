"""A backend that keeps draw lists and draws nothing."""
