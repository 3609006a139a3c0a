"""What exists: frozen descriptions; no behaviour but lookup and checks."""
