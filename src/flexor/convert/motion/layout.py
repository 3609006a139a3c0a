"""Records of arrays that the fitting kernel takes.

F frames, J nodes, R packed rotations and V vectors, whose numbers are 3 (R + V)
columns.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Doubles, Ints

__all__ = ["Fitted", "Forms", "Original"]


class Original(NamedTuple):
    """What is to be fitted: nodes: (J, 2), node and parent, parents first, J for none;
    chains: (J, any), packed rows that move a node, nearest first, then -1; drivers:
    (J, 3), row of a node's rotation, translation, scale, or how it is known; local:
    (F, J, 10), turned: (F, J, 4), places: (F, J, 12), shells: (F, J, 3): local parts,
    world rotations and matrices, and the reach of the points around a node in its own
    units; still: (J, 10), parts that are held; limits: (F,), metres.
    """

    nodes: Annotated[Ints, "[:, ::1]"]
    chains: Annotated[Ints, "[:, ::1]"]
    drivers: Annotated[Ints, "[:, ::1]"]
    local: Annotated[Doubles, "[:, :, ::1]"]
    turned: Annotated[Doubles, "[:, :, ::1]"]
    places: Annotated[Doubles, "[:, :, ::1]"]
    shells: Annotated[Doubles, "[:, :, ::1]"]
    still: Annotated[Doubles, "[:, ::1]"]
    limits: Annotated[Doubles, "[::1]"]


class Forms(NamedTuple):
    """How numbers are meant: turns: (R * 8,), factors; gains: (R * 12,), how a rotation
    answers to a place that is off; bases: (V * 3,); turning: R; follows: whether errors
    are taken back.
    """

    turns: Annotated[Doubles, "[::1]"]
    gains: Annotated[Doubles, "[::1]"]
    bases: Annotated[Doubles, "[::1]"]
    turning: int
    follows: bool


class Fitted(NamedTuple):
    """Results: errors (F, J), metres, and numbers (F, columns); and of one try: work:
    (16 * J + 60,); nudges: (2, columns); trial, found: its numbers and errors.
    """

    errors: Annotated[Doubles, "out [:, ::1]"]
    numbers: Annotated[Ints, "out [:, ::1]"]
    work: Annotated[Doubles, "out [::1]"]
    nudges: Annotated[Doubles, "out [:, ::1]"]
    trial: Annotated[Ints, "out [::1]"]
    found: Annotated[Doubles, "out [::1]"]
