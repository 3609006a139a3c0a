"""Numbers that tables of clips and links share with the kernels that read them, and
records of what these kernels take.

Nothing here loads a compiler: reading a file needs none.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Floats, Ints, Masks

LANES = 8
# The ten rows of a pose begin with three of translations, four of rotations and three
# of scales.
FIRST_ROW = {"translation": 0, "rotation": 3, "scale": 7}

# --- tables of tracks ---
TIMELINE, ROW, KIND, LANE, OFFSET = range(5)
TRACK_NUMBERS = 5
LINEAR, STEP, CUBIC = range(3)
# The floats of one packed rotation key: the quaternion, and for the span that it
# starts the angle and 1 / sin(angle).
ROTATION_KEY = 6
# Angles below this are interpolated as if they were this: the weights are then linear
# to the last bit, and no division by zero can happen.
SMALLEST_ANGLE = 1e-4

# --- packed clips ---
# The first whole numbers of a clip: frames, blocks in a segment (the power of two),
# pairs of columns, numbers in a row, rotations that move, rounded up to eight, and
# their number, vectors that move, numbers that stand still; then, for each code, bits,
# mask and middle of a number; then the slots of columns, the lanes of rotations, the
# places of vectors and of what stands still. Its floats are the steps of a row, the
# turns of rotations (a matrix and a quaternion), the bases of vectors and what stands
# still.
FRAMES, SEGMENT, PAIRS, WIDTH, RUN, TURNING, MOVING, STILL = range(8)
BITS, MASKS, MIDDLES, SLOTS = 8, 24, 40, 56
# Instead of their number, of rotations that lie in a row as in a pose, eight lanes
# after another: then the lanes are the first of each eight.
AS_LANES = -1
TURNS = 13

# --- links ---
# Kinds: of the whole movement; of the twist, with all of the swing; of the swing alone.
BEND, TWIST, SWING = range(3)
# Coefficients of one polynomial.
DEGREES = 9
# The rows of eight that a block of links with axes has beside: the axis, and the rest
# rotation times the axis.
AXIS_ROWS = 7


# --- records: N characters of J nodes in L lanes ---
class Tracks(NamedTuple):
    """Tracks of a clip, as in `ClipTables`; timelines: (G, 2), tables: (n, 5)."""

    times: Annotated[Floats, "[::1]"]
    timelines: Annotated[Ints, "[:, ::1]"]
    rotations: Annotated[Ints, "[:, ::1]"]
    vectors: Annotated[Ints, "[:, ::1]"]
    values: Annotated[Floats, "[::1]"]


class Sampled(NamedTuple):
    """What sampling writes: the last keys of each timeline, (N, G), and transforms,
    (N, 10 * L); spots: (G * 2,) and scratch: (11 * L,), work space, which holds the
    rest rotations where no track writes.
    """

    cursors: Annotated[Ints, "out [:, ::1]"]
    spots: Annotated[Floats, "out [::1]"]
    scratch: Annotated[Floats, "out [::1]"]
    local: Annotated[Floats, "out [:, ::1]"]


class Walked(NamedTuple):
    """What the walk to the world needs and writes.

    nodes: (J, 2), node and parent of each lane, J for roots; places: (N, 12), what
    roots hang on; matrices: (L * 12,), work space; world: (N, J * 12), the result.
    """

    nodes: Annotated[Masks, "[:, ::1]"]
    places: Annotated[Floats, "[:, ::1]"]
    matrices: Annotated[Floats, "out [::1]"]
    world: Annotated[Floats, "out [:, ::1]"]


class Hung(NamedTuple):
    """What hangs on nodes: nodes: (S,); offsets: (S, 12), node_from_thing; matrices:
    (N, S * 12), world_from_thing, the result.
    """

    nodes: Annotated[Masks, "[::1]"]
    offsets: Annotated[Floats, "[:, ::1]"]
    matrices: Annotated[Floats, "out [:, ::1]"]


class Moves(NamedTuple):
    """All that a clip at a moment needs."""

    tracks: Tracks
    sampled: Sampled
    walked: Walked
    hung: Hung
