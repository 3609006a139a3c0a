"""How characters move over a stage, and what stops them."""
