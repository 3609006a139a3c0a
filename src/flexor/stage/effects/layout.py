"""Numbers that effects and their kernels share: no compiler is loaded."""

from __future__ import annotations

# What a part of a body does to the ground in a tick.
NONE, LANDING, KICK_UP, CONTINUING = range(4)

# Flakes and leaves that one call of a kernel moves at once, so that slices of threads
# begin where loops do.
FLAKES, LEAVES = 1024, 256
