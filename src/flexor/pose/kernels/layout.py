"""Numbers that tables of clips and links share with the kernels that read them.

Nothing here loads a compiler: reading a file needs none.
"""

from __future__ import annotations

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
# Coefficients of one polynomial.
DEGREES = 9
