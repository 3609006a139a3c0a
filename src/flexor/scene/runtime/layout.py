"""Numbers of envelopes that descriptions and kernels share: no compiler is loaded."""

from __future__ import annotations

# What a step does: the four groups of vertices, then the three commands.
NATIVE, START, MIDDLE, END, NO_DRAW, DRAW, DRAW_DEFERRED = range(7)
GROUPS = ("native", "start", "middle", "end")
# Columns of `steps`. Commands have their part or their id in the second.
OP, MODEL, ENTRY, COUNT, DATA = range(5)
# Columns of `parts`.
NODE, PRIMITIVE, OWNER, AREA, VERTICES, FACES = range(6)
# Columns of `morphs`.
MORPH_NODE, TARGET, MORPH_DATA, MORPH_COUNT, DELTAS = range(5)
BLOCK = 8  # vertices that lie together
