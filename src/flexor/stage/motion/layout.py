"""What kernels of motion take together, as records; n characters of a kind, M limbs,
K points of a sole, C clips.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Bools, Codes, Doubles, Floats, Ints

# What a foot does: as the clip has it, stands where it stands, makes a step.
FREE, LOCKED, STEPPING = range(3)
# Columns of offsets of feet from where clips have them: metres along x, y and z of the
# world, and radians about y.
OFF_X, OFF_Y, OFF_Z, OFF_TURN = range(4)
# Columns of steps: where one began, x and z of the end of the limb in the world, its
# offset along y and its turn; seconds since then, its length in seconds, and how high
# it goes, metres.
FROM_X, FROM_Y, FROM_Z, FROM_TURN, SINCE, LENGTH, HIGH = range(7)
STEP_NUMBERS = 7
# Columns of contacts: whether a foot is planted, seconds until that changes, and since
# it has.
PLANTED, AHEAD, BEHIND = range(3)
# Columns of what is found out about a foot in a tick: its place x, z, its turn's sine
# and cosine, the height of its sole, number of its lowest point, whether its clip has
# it planted, seconds until that changes and since, metres it is off, and its score.
AT_X, AT_Z, SINE, COSINE, LOW, PIVOT, IS_DOWN, LEFT, GONE, OFF, SCORE = range(11)
FOUND = 11

# What a capsule belongs to: nothing that touches, a trunk, the end of a limb, the bone
# above it.
NOTHING, TRUNK, TIP, LOWER = range(4)


class Soles(NamedTuple):
    """Points that feet stand on, in the frames of nodes."""

    nodes: Annotated[Ints, "[:, ::1]"]  # (M, K), -1 for none
    points: Annotated[Doubles, "[:, :, ::1]"]  # (M, K, 3), metres
    starts: Annotated[Ints, "[::1]"]  # (M,), nodes at which limbs begin
    lengths: Annotated[Doubles, "[::1]"]  # (M,), metres of a limb that is straight


class Contacts(NamedTuple):
    """When clips have feet planted, sixty times a second."""

    rows: Annotated[Ints, "[:, ::1]"]  # (C, 2), first row and how many
    plans: Annotated[Floats, "[:, :, ::1]"]  # (R, M, 3)
    holds: Annotated[Doubles, "[:, ::1]"]  # (C, M), seconds that a foot is planted
    ways: Annotated[Doubles, "[:, ::1]"]  # (C, 2), metres a second to the left, ahead


class Heard(NamedTuple):
    """What n characters play: of `PlayerState`, and which of its columns are which."""

    marks: Annotated[Ints, "[:, ::1]"]
    voices: Annotated[Doubles, "[:, ::1]"]
    targets: Annotated[Ints, "[::1]"]  # (n,)
    speeds: Annotated[Doubles, "[::1]"]  # (n,)
    clip: int  # column of marks
    position: int  # columns of voices
    speed: int


class Steps(NamedTuple):
    """How n characters stand: see `feet.Footwork`."""

    phases: Annotated[Ints, "out [:, ::1]"]  # (n, M)
    offsets: Annotated[Doubles, "out [:, :, ::1]"]  # (n, M, 4)
    spots: Annotated[Doubles, "out [:, :, :, ::1]"]  # (n, M, K, 2)
    steps: Annotated[Doubles, "out [:, :, ::1]"]  # (n, M, 7)
    paces: Annotated[Doubles, "out [:, ::1]"]  # (n, 2)
    headings: Annotated[Doubles, "out [::1]"]  # (n,)
    rests: Annotated[Doubles, "out [::1]"]  # (n,)
    found: Annotated[Doubles, "out [:, ::1]"]  # (M, 11)


class Touch(NamedTuple):
    """Capsules and limbs of N characters, at most H and L each, that touch."""

    parts: Annotated[Codes, "[:, ::1]"]  # (N, H), of what a capsule is
    limbs: Annotated[Ints, "[:, ::1]"]  # (N, H), columns of limbs, -1 for none
    radii: Annotated[Doubles, "[:, ::1]"]  # (N, H), metres
    longest: Annotated[Doubles, "[:, ::1]"]  # (N, L), metres from a limb's end
    folded: Annotated[Doubles, "[:, ::1]"]  # (N, L), metres from start to end, at least
    ends: Annotated[Doubles, "out [:, :, :, ::1]"]  # (N, H, 2, 3), of capsules
    spans: Annotated[Doubles, "out [:, :, :, ::1]"]  # (N, L, 2, 3), of limbs
    pushes: Annotated[Doubles, "out [:, :, ::1]"]  # (N, L, 3), metres


class Strikes(NamedTuple):
    """What N characters do that strike; M moves."""

    moves: Annotated[Ints, "[::1]"]  # (N,), -1 for none
    at: Annotated[Doubles, "[::1]"]  # (N,), ticks of the move
    started: Annotated[Ints, "[::1]"]  # (N,), moves that began now, -1 for none
    opponents: Annotated[Ints, "[::1]"]  # (N,), -1 for none
    has_met: Annotated[Bools, "[::1]"]  # (N,), whose attack has met already
    outcomes: Annotated[Codes, "[::1]"]  # (N,), what came of it now, 0: nothing
    kinds: Annotated[Codes, "[::1]"]  # (M,)
    heights: Annotated[Codes, "[::1]"]  # (M,)
    phases: Annotated[Ints, "[:, ::1]"]  # (M, 4)


class Aims(NamedTuple):
    """What strikes of N characters were aimed at; see `touch_tables.Touching`."""

    whom: Annotated[Ints, "out [::1]"]  # (N,)
    marks: Annotated[Doubles, "out [:, :, ::1]"]  # (N, H, 3)
    bends: Annotated[Doubles, "out [:, :, ::1]"]  # (N, L, 3)
