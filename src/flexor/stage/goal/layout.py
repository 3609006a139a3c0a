"""Numbers that balls, nets and their kernels share: no compiler is loaded."""

from __future__ import annotations

# Columns of areas, float64: plane, metres before and behind it, coefficients, and half
# of the height of the face.
NX, NY, NZ, OFFSET, FRONT, LIMIT, K1, K2A, K2B, K3, K4, K5, HALF = range(13)
# Columns of marks of areas, int32: side, row of the owner or -1, number of the face,
# first row and number of rows in bounds, and which side of which sheet it is: faces of
# one group hand balls on to each other.
SIDE, OWNER, FACE, FIRST_BOUND, BOUND_COUNT, GROUP = range(6)
# What a ball remembers.
BEFORE, INSIDE, OUTSIDE = range(3)
# What has happened to a ball since it was shot, as bits.
SCORED, MET_ROD, MET_GROUND, MET_NET = 1, 2, 4, 8
# Numbers of a ball: place, velocity, spin and rotation.
BODY_NUMBERS = 13
# How a node of a net is held.
FREE, SPRUNG, FIXED = range(3)
