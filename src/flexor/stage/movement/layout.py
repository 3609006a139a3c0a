"""Numbers that rules of movement and their kernels share, and what kernels take
together, as records; N characters.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Bools, Bytes, Codes, Doubles, Floats, Ints, Masks

# What a pad does, by number.
CONTROLS = ("opponent", "free", "none")
OPPONENT, FREE, NONE = range(len(CONTROLS))

# What came of an attack: of a throw, that it holds, or that it was broken.
NOTHING, HIT, GUARDED, PARRIED, THROWN, BROKEN = range(6)
# How characters show themselves to attacks, a bit each, 0 to none; and that an attack
# can be parried. Attacks have the bits of those that they meet.
STANDS, CROUCHES, JUMPS, LIES, PARRIABLE = 1, 2, 4, 8, 16

# Whether one is on its feet, and what of going down and getting up it is in: struck
# down, lying, rising, held by a throw, beaten.
UP, FALLING, LYING, RISING, HELD, COLLAPSED = range(6)
# To which side: onto the back, onto the front, to its left, to its right.
BACK, FRONT, LEFT, RIGHT = range(4)

# Phases of a move: none, before it can hit, while it can, the return.
NO_MOVE, START_UP, HITTING, RETURN = range(4)
FASTEST = 16.0  # of the clocks of characters
# Columns of marks of characters, int32: ticks that the input which waits may still do
# so, -1 without end; its buttons; buttons pressed that may become a chord, which of
# them came first, ticks since then, and how they came; buttons that the current move
# holds by; of a sequence that is typed, rows of nodes: how far it is typed, and how far
# its moves have begun, 0 for none; the command that the current move is of.
WAIT, BY, PENDING, FIRST, AGE, CAME, HOLD, TYPED, BEGUN, OF = range(10)
MARKS = 10

# Columns of sides of zones: start, end, direction, length, normal to where characters
# may be, and at start and end the sum of the normals of the sides that meet there.
AX, AZ, BX, BZ, TX, TZ, LENGTH, NX, NZ, SX, SZ, EX, EZ = range(13)
SIDE_NUMBERS = 13
# Metres, of places and of radii of what is kept in zones.
ZONE_FARTHEST, ZONE_WIDEST = 1e6, 1e4

TALL = 1.2  # metres: who is higher by this is over the other, not beside it
NEAR_SPOT = 1e-6  # metres: opponents as near stand on one spot


class Speeds(NamedTuple):
    """How fast characters go, metres a second, and turn, radians a second."""

    walk: float
    run: float
    back: float
    side: float
    turn: float


class Gait(NamedTuple):
    """How legs and ground get on: see `FrictionSettings`."""

    gravity: float
    still: float
    moving: float
    push: float
    effort: float
    brake: float
    uphill: float
    factors: Annotated[Doubles, "[::1]"]  # (S,), of friction, by surface


class Walkers(NamedTuple):
    """N characters as walking has them."""

    clocks: Annotated[Doubles, "[::1]"]  # (N,), factors of time
    opponents: Annotated[Ints, "[::1]"]  # (N,), -1 for none
    circling: Annotated[Bools, "[::1]"]  # (N,), who goes around its opponent
    can_walk: Annotated[Bools, "[::1]"]  # (N,)
    grounded: Annotated[Bools, "[::1]"]  # (N,)
    asked: Annotated[Doubles, "[:, ::1]"]  # (N, 2), metres a second ahead, right
    paces: Annotated[Doubles, "[::1]"]  # (N,), factors of the ground
    normals: Annotated[Doubles, "[:, ::1]"]  # (N, 3), of the ground
    surfaces: Annotated[Bytes, "[::1]"]  # (N,), of the ground
    # (N, 2), metres a second along x and z; (N,), metres a second squared by which legs
    # push; (N, 2), what of it is done, as if on plain, level ground.
    velocities: Annotated[Doubles, "out [:, ::1]"]
    efforts: Annotated[Doubles, "out [::1]"]
    going: Annotated[Doubles, "out [:, ::1]"]
    places: Annotated[Doubles, "out [:, ::1]"]  # (N, 3), metres
    headings: Annotated[Doubles, "out [::1]"]  # (N,), radians


class PadRows(NamedTuple):
    """N characters as pads see them.

    asked and circling are filled, but for those whose control is "none".
    """

    held: Annotated[Masks, "[::1]"]  # (N,), buttons
    clocks: Annotated[Doubles, "[::1]"]  # (N,), factors of time
    controls: Annotated[Bytes, "[::1]"]  # (N,), numbers in CONTROLS
    opponents: Annotated[Ints, "[::1]"]  # (N,), -1 for none
    can_walk: Annotated[Bools, "[::1]"]  # (N,)
    places: Annotated[Doubles, "[:, ::1]"]  # (N, 3), metres
    headings: Annotated[Doubles, "out [::1]"]  # (N,), radians, changed
    asked: Annotated[Doubles, "out [:, ::1]"]  # (N, 2), metres a second ahead, right
    circling: Annotated[Bools, "out [::1]"]  # (N,), who goes around its opponent


class Aims(NamedTuple):
    """Whom attacks of N characters may meet, and with which of H capsules each."""

    meets: Annotated[Bytes, "out [::1]"]  # (N,), bits of those it meets, 0: no attack
    shows: Annotated[Bytes, "out [::1]"]  # (N,), bits
    teams: Annotated[Ints, "[::1]"]  # (N,), who has the same is not met, -1: none
    attacks: Annotated[Bools, "[:, ::1]"]  # (N, H), what attacks
    shields: Annotated[Bools, "[:, ::1]"]  # (N, H), what parries
    bodies: Annotated[Bools, "[:, ::1]"]  # (N, H), what can be met: all there is
    before: Annotated[Doubles, "[:, :, :, ::1]"]  # (N, H, 2, 3), ends a tick ago
    swept: Annotated[Bools, "[::1]"]  # (N,), whose attack was there a tick ago


class Aiming(NamedTuple):
    """What N characters do, as far as attacks are concerned."""

    move: Annotated[Ints, "[::1]"]  # (N,), -1 for none
    phase: Annotated[Codes, "[::1]"]  # (N,), of the move
    has_met: Annotated[Bools, "[::1]"]  # (N,), whose attack has met already
    energy: Annotated[Doubles, "[::1]"]  # (N,)
    down: Annotated[Bytes, "[::1]"]  # (N,), phases of going down, UP on one's feet
    is_throwing: Annotated[Bools, "[::1]"]  # (N,), who holds somebody


class Meeting(NamedTuple):
    """N characters, as far as hands that parry are concerned."""

    move: Annotated[Ints, "[::1]"]  # (N,), -1 for none
    at: Annotated[Doubles, "[::1]"]  # (N,), ticks in it
    phase: Annotated[Codes, "[::1]"]  # (N,), of the move
    has_met: Annotated[Bools, "[::1]"]  # (N,), whose attack has met already
    opened: Annotated[Ints, "[::1]"]  # (N,), who has parried it, -1 for nobody
    has_parried: Annotated[Bools, "[::1]"]  # (N,), whose parry has met
    down: Annotated[Bytes, "[::1]"]  # (N,), phases of going down, UP on one's feet
    places: Annotated[Doubles, "[:, ::1]"]  # (N, 3)
    headings: Annotated[Doubles, "[::1]"]  # (N,)


class FallTable(NamedTuple):
    """Clips of going down and getting up, of K kinds of bodies, by R roles."""

    spans: Annotated[Doubles, "[:, ::1]"]  # (K, R), ticks that they last
    rows: Annotated[Ints, "[:, ::1]"]  # (K, R), of travels, -1 for none
    travels: Annotated[Doubles, "[:, :, ::1]"]  # (S, T, 2), metres to the left, ahead


class FallRows(NamedTuple):
    """N characters that may be down: see `falls.Falls`."""

    kinds: Annotated[Ints, "[::1]"]  # (N,), rows of tables
    clocks: Annotated[Doubles, "[::1]"]  # (N,)
    energy: Annotated[Doubles, "[::1]"]  # (N,)
    headings: Annotated[Doubles, "[::1]"]  # (N,)
    held: Annotated[Masks, "[::1]"]  # (N,), buttons
    pressed: Annotated[Masks, "out [::1]"]  # (N,), with those that were kept
    phase: Annotated[Bytes, "out [::1]"]  # (N,)
    side: Annotated[Bytes, "out [::1]"]  # (N,)
    at: Annotated[Doubles, "out [::1]"]  # (N,)
    kept: Annotated[Masks, "out [::1]"]  # (N,)
    stun: Annotated[Ints, "out [::1]"]  # (N,)
    places: Annotated[Doubles, "out [:, ::1]"]  # (N, 3)


class MoveRules(NamedTuple):
    """Moves, combinations and chords of T tables: columns are in `kernels.moves`."""

    window: int  # ticks in which buttons are pressed at once
    late: int  # ticks that an input in a return phase is kept
    repeats: int  # 1: a move may follow on itself before it returns
    bound: Annotated[Ints, "[::1]"]  # (T,), masks of the buttons that do something
    phases: Annotated[Ints, "[:, ::1]"]  # (M, 4)
    firsts: Annotated[Ints, "[::1]"]  # (C + 1,), rows of commands of each combination
    commands: Annotated[Ints, "[:, ::1]"]  # (K, 2)
    singles: Annotated[Ints, "[:, ::1]"]  # (T, B), commands by button, -1: none
    chord_rows: Annotated[Ints, "[::1]"]  # (T + 1,), rows of chords of each table
    chords: Annotated[Ints, "[:, ::1]"]  # (H, 2)
    nodes: Annotated[Ints, "[:, ::1]"]  # (S, 8), of sequences, those of no button first
    edges: Annotated[Ints, "[:, ::1]"]  # (E, 2), buttons and the node that they lead to


class Doing(NamedTuple):
    """What characters do: see `moves.MoveState`."""

    tables: Annotated[Ints, "[::1]"]  # (N,)
    move: Annotated[Ints, "out [::1]"]  # (N,)
    at: Annotated[Doubles, "out [::1]"]  # (N,)
    phase: Annotated[Codes, "out [::1]"]  # (N,)
    combination: Annotated[Ints, "out [::1]"]  # (N,)
    step: Annotated[Ints, "out [::1]"]  # (N,)
    left: Annotated[Doubles, "out [::1]"]  # (N,)
    buffered: Annotated[Ints, "out [::1]"]  # (N,)
    marks: Annotated[Ints, "out [:, ::1]"]  # (N, 10)


class Seen(NamedTuple):
    """What the role of a character follows from."""

    energy: Annotated[Doubles, "[::1]"]  # (N,)
    stun: Annotated[Ints, "[::1]"]  # (N,), ticks
    struck: Annotated[Bytes, "[::1]"]  # (N,), what its stun came of
    is_new: Annotated[Bools, "[::1]"]  # (N,), whose stun began just now
    has_won: Annotated[Bools, "[::1]"]  # (N,)
    moves: Annotated[Ints, "[::1]"]  # (N,), -1 for none
    started: Annotated[Ints, "[::1]"]  # (N,), moves that began, -1 for none
    grounded: Annotated[Bools, "[::1]"]  # (N,)
    falls: Annotated[Doubles, "[::1]"]  # (N,), metres a second downward
    asked: Annotated[Doubles, "[:, ::1]"]  # (N, 2), metres a second ahead, to the right
    paces: Annotated[Doubles, "[::1]"]  # (N,), factors of the ground
    kinds: Annotated[Ints, "[::1]"]  # (N,), rows of own speeds
    clocks: Annotated[Doubles, "[::1]"]  # (N,), factors of time
    before: Annotated[Doubles, "[:, ::1]"]  # (N, 3), metres, a tick ago
    places: Annotated[Doubles, "[:, ::1]"]  # (N, 3), metres, now
    phases: Annotated[Bytes, "[::1]"]  # (N,), of going down, UP on one's feet
    sides: Annotated[Bytes, "[::1]"]  # (N,), to which


class Roles(NamedTuple):
    """What characters are seen to do."""

    roles: Annotated[Ints, "out [::1]"]  # (N,)
    changed: Annotated[Bools, "out [::1]"]  # (N,), whose role begins now
    rates: Annotated[Doubles, "out [::1]"]  # (N,), how fast it plays


class Feet(NamedTuple):
    """The ends of M limbs of n characters of a kind, and where they are to be."""

    ends: Annotated[Ints, "[::1]"]  # (M,), nodes
    # (M,), metres that a foot's node is above the floor at rest, below 0 for a hand
    flats: Annotated[Doubles, "[::1]"]
    lifts: Annotated[Doubles, "[:, ::1]"]  # (n, M), metres they are lifted by beside
    targets: Annotated[Floats, "out [:, :, ::1]"]  # (n, M, 3), metres
    tilts: Annotated[Floats, "out [:, :, ::1]"]  # (n, M, 4), rotations
    weights: Annotated[Floats, "out [:, ::1]"]  # (n, M)
