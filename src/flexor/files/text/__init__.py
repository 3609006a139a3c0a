"""Text files that people write (TOML), read and written."""
