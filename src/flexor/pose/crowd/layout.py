"""Numbers that node motion and its kernels share: no compiler is loaded."""

from __future__ import annotations

LANES = 8
# Columns of the table of clips: first row of its frames in the tables of its form, how
# many, and which form.
FIRST, FRAMES, FORM = range(3)
DEFINED, EXPANDED = range(2)
# Numbers of a node in a frame of either form, and of what it is multiplied by.
DEFINED_ROWS, EXPANDED_ROWS, BIND_ROWS = 6, 12, 12
DEFINED_FLOATS, EXPANDED_FLOATS = DEFINED_ROWS * LANES, EXPANDED_ROWS * LANES
BIND_FLOATS = BIND_ROWS * LANES
