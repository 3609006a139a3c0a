"""World matrices to skin: palettes, morphs, vertices and normals."""
