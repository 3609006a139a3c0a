"""What kernels of balls and nets take together, as records."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Doubles, Ints

__all__ = ["BallTables", "FaceNodes", "NetTables"]


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
