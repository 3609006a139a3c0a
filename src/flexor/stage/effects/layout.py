"""Numbers that effects and their kernels share, and what kernels take together."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Bools, Bytes, Doubles, Floats, Ints, Longs, Words

# Parts of bodies that effects look at, in this order; and where toes stand in it.
CHECKED = (
    *("leftFoot", "rightFoot", "head", "hips"),
    *("leftHand", "rightHand", "leftToes", "rightToes"),
)
TOES = 6

# What a part of a body does to the ground in a tick.
NONE, LANDING, KICK_UP, CONTINUING, PLOUGHING = range(5)

# Flakes and leaves that one call of a kernel moves at once, so that slices of threads
# begin where loops do.
FLAKES, LEAVES = 1024, 256


class LeafRows(NamedTuple):
    """L leaves in B blocks: see `leaves.Leaves`."""

    spins: Annotated[Words, "[::1]"]  # (L,)
    counts: Annotated[Ints, "out [::1]"]  # (B,), leaves of each block that move
    # (L,), which, from the first place of their block on
    listed: Annotated[Ints, "out [::1]"]
    boxes: Annotated[Floats, "out [:, ::1]"]  # (B, 4), least and most x, then z
    places: Annotated[Floats, "out [:, ::1]"]  # (L, 3)
    speeds: Annotated[Floats, "out [:, ::1]"]  # (L, 3)
    steps: Annotated[Bytes, "out [::1]"]  # (L,)
    angles: Annotated[Words, "out [::1]"]  # (L,)
    is_aloft: Annotated[Bools, "out [::1]"]  # (L,)
    is_moving: Annotated[Bools, "out [::1]"]  # (L,)


class Parts(NamedTuple):
    """What P parts of N characters do: see `churn.Churn`."""

    lasts: Annotated[Doubles, "out [:, :, ::1]"]  # (N, P, 3), places a tick ago
    is_aloft: Annotated[Bools, "out [:, ::1]"]  # (N, P)
    is_wet: Annotated[Bools, "out [:, ::1]"]  # (N, P)
    states: Annotated[Bytes, "out [:, ::1]"]  # (N, P)
    events: Annotated[Bytes, "out [:, ::1]"]  # (N, P), what began last
    # (N, P, 2), drops that are to come and ticks in which they may
    left: Annotated[Ints, "out [:, :, ::1]"]
    origins: Annotated[Doubles, "out [:, :, ::1]"]  # (N, P, 3), where it began
    # (N, P, 5), how the part moved then, the surface's height, and 1 if it was water
    moves: Annotated[Doubles, "out [:, :, ::1]"]
    # (N, P), metres over the ground in the fastest tick since it left the surface; -1:
    # it is far from it, or on it
    peaks: Annotated[Doubles, "out [:, ::1]"]


class Drops(NamedTuple):
    """The ring of C drops: see `churn.Churn`."""

    serial: Annotated[Longs, "out [::1]"]  # (1,), drops so far
    places: Annotated[Floats, "out [:, ::1]"]  # (C, 3)
    speeds: Annotated[Floats, "out [:, ::1]"]  # (C, 3)
    floors: Annotated[Floats, "out [::1]"]  # (C,)
    ages: Annotated[Ints, "out [::1]"]  # (C,)
    patterns: Annotated[Bytes, "out [::1]"]  # (C,)
    is_water: Annotated[Bools, "out [::1]"]  # (C,)


# What a mark is.
PRINT, RING = range(2)


class MarkRows(NamedTuple):
    """The ring of C marks: see `marks.Marks`."""

    serial: Annotated[Longs, "out [::1]"]  # (1,), marks so far
    places: Annotated[Floats, "out [:, ::1]"]  # (C, 3)
    ways: Annotated[Floats, "out [:, ::1]"]  # (C, 2)
    sizes: Annotated[Floats, "out [::1]"]  # (C,)
    ages: Annotated[Ints, "out [::1]"]  # (C,)
    kinds: Annotated[Bytes, "out [::1]"]  # (C,)
