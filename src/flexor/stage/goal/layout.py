"""Numbers that balls, nets and their kernels share, and what kernels take together."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Doubles, Ints

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


class BallTables(NamedTuple):
    """What balls fly among: see the columns of `kernels.ball`."""

    areas: Annotated[Doubles, "[:, ::1]"]
    marks: Annotated[Ints, "[:, ::1]"]
    bounds: Annotated[Doubles, "[:, ::1]"]
    rods: Annotated[Doubles, "[:, ::1]"]
    gates: Annotated[Doubles, "[:, ::1]"]
    rules: Annotated[Ints, "[:, ::1]"]
    settings: Annotated[Doubles, "[::1]"]


class NetTables(NamedTuple):
    """A net of M nodes and E strings: see `kernels.net`."""

    settings: Annotated[Doubles, "[::1]"]
    strings: Annotated[Ints, "[:, ::1]"]  # (E, 2), nodes
    inverse_lengths: Annotated[Doubles, "[::1]"]  # (E,), 1 / metres
    holds: Annotated[Ints, "[::1]"]  # (M,)
    anchors: Annotated[Doubles, "[:, ::1]"]  # (M, 3)


class FaceNodes(NamedTuple):
    """The nodes of a net's faces, and those that strings join."""

    firsts: Annotated[Ints, "[::1]"]  # first node in members of each face
    members: Annotated[Ints, "[::1]"]
    near_firsts: Annotated[Ints, "[::1]"]  # first node in near of each node
    near: Annotated[Ints, "[::1]"]  # nodes that strings join to it
