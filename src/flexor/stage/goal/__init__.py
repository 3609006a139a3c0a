"""Balls and flexible sheets: goals, nets, curtains, hammocks."""
