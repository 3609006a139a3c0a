"""Bodies as passes see them: surfaces, bones, sections, thickness, bending joints."""
