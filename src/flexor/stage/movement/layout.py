"""Numbers that the rules of movement and their kernels share: no compiler is loaded."""

from __future__ import annotations

__all__ = ["CONTROLS"]

# What a pad does, by number.
CONTROLS = ("opponent", "free", "none")
OPPONENT, FREE, NONE = range(len(CONTROLS))

# What came of an attack.
NOTHING, HIT, GUARDED, PARRIED = range(4)

# Phases of a move: none, before it can hit, while it can, the return.
NO_MOVE, START_UP, HITTING, RETURN = range(4)
FASTEST = 16.0  # of the clocks of characters
# Columns of marks of characters, int32: ticks that the input which waits may still do
# so, -1 without end; its buttons; buttons pressed that may become a chord, which of
# them came first, ticks since then, and whether they came in time or late; buttons that
# the current move holds by.
WAIT, BY, PENDING, FIRST, AGE, CAME, HOLD = range(7)
MARKS = 7

# Columns of sides of zones: start, end, direction, length, normal to where characters
# may be, and at start and end the sum of the normals of the sides that meet there.
AX, AZ, BX, BZ, TX, TZ, LENGTH, NX, NZ, SX, SZ, EX, EZ = range(13)
SIDE_NUMBERS = 13
# Metres, of places and of radii of what is kept in zones.
ZONE_FARTHEST, ZONE_WIDEST = 1e6, 1e4

NEAR_SPOT = 1e-6  # metres: opponents as near stand on one spot
