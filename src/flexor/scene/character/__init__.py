"""What a character file holds: nodes, surfaces, weights, clips, looks, cameras."""
