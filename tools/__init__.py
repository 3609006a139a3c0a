"""What makes the samples and the pictures of the documents; not part of the package."""
