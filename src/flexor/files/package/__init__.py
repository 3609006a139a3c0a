"""The runtime package, a .flexor file, read and written."""
