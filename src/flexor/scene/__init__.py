"""What exists: frozen descriptions of characters; no behaviour but lookup and checks."""
