"""The ground: its picture, what is painted on it, its triangles."""
