"""What the loss of a node does to the skin, and who takes over its vertices.

The cost of a loss is what is seen of it: how far vertices are from the full skin at
worst, more if the skin breaks at joints that stay, and more for large parts of a body
than for small ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints, Rows
from flexor.convert.levels.poses import LevelPoses
from flexor.maths import transforms
from flexor.scene.character.tree import ancestors, children_of
from flexor.scene.runtime.node_table import NodeTable

__all__ = [
    "Choice",
    "DropState",
    "choose_carrier",
    "drop_node",
    "find_misled",
    "init_drops",
]

SWING_SHARE = 0.2  # of a swing's displacement that counts beside that of clips
# A finger that does not bend is hardly seen; an upper arm that stays behind is, as the
# lower arm comes off it. So a joint that loses its place counts twice as much as skin.
GAP_SHARE = 2.0
# What all else hangs on goes late, or the others would have nothing to hang on.
TOP_SHARE = 2.0
SMALLEST = 0.05  # of the size of the whole: nodes that pull less count as if they did
MOST_HEIRS = 4  # nodes below that are tried where there is none above
FLAT = 1e-6  # of the cube of its longest row: with less volume, float32 has no inverse


@dataclass(slots=True, eq=False)
class DropState:
    """Who pulls which vertex while nodes are dropped, and how far off the skin is.

    Of T nodes of the table: parents, children: numbers; rest, inverse: float64
    (T, 3, 4), world_from_node at rest and back, NaN for a node without volume; world:
    float64 (T, P, 3, 4), in all poses, the first clip_count of clips; carried: the same
    for things that stand in the world at rest; joints: float64 (T, P, 3), where its
    parent takes each node; is_kept: bool (T,), those that pull something; heirs: the
    carriers of those that have gone; slots_of: slots of each that pull.

    Of slots: numbers, binds, spaces; motions: float32 (4, 3 * P), what takes (x, y, z,
    1) to all poses, coordinate by coordinate; rows, pulls: vertices, rising, and their
    weights; slot_of: by number and space.

    Of V vertices: homogeneous: float32 (V, 4), (x, y, z, 1) in the mesh; places:
    float64 (V, 3), at rest in the world; size: metres from their middle, root mean
    square; current: int64 (V, K), slots, and is_used: which of them have weight; off:
    float32 (V, 3 * P), displacement from the full skin; squares: float32 (V, 2), mean
    and largest square of it over the poses that are reported.
    """

    parents: list[int]
    children: list[list[int]]
    rest: Doubles
    inverse: Doubles
    world: Doubles
    clip_count: int
    carried: Doubles
    joints: Doubles
    is_kept: NDArray[np.bool_]
    heirs: dict[int, int]
    slots_of: list[list[int]]
    numbers: list[int]
    binds: list[Floats]
    spaces: list[int]
    motions: list[Floats]
    rows: list[Rows]
    pulls: list[Floats]
    slot_of: dict[tuple[int, int], int]
    homogeneous: Floats
    places: Doubles
    size: float
    current: NDArray[np.int64]
    is_used: NDArray[np.bool_]
    off: Floats
    squares: Floats


def init_drops(
    table: NodeTable,
    numbers: Rows,
    binds: Floats,
    spaces: Ints,
    positions: Floats,
    joints: NDArray[np.uint16],
    weights: Floats,
    poses: LevelPoses,
    rest: Floats,
) -> DropState:
    """The full skin: as in `plan_drops`, with the table's number of each slot (S,)."""
    parents: list[int] = table.parents.tolist()
    children = children_of(parents)
    own_rest = rest[table.nodes].astype(np.float64)
    inverse = _inverses(own_rest)
    world = np.concatenate([poses.clips, poses.swings])[:, table.nodes]
    world = world.astype(np.float64).transpose(1, 0, 2, 3)
    carried = transforms.multiply(world, inverse[:, None])
    homogeneous = np.ones((len(positions), 4), np.float32)
    homogeneous[:, :3] = positions
    rows, pulls = _by_slot(joints, weights, len(numbers))
    slot_of: dict[tuple[int, int], int] = {}
    slots_of: list[list[int]] = [[] for _ in parents]
    places = np.zeros((len(positions), 3))
    for slot, number in enumerate(numbers.tolist()):
        slot_of.setdefault((number, int(spaces[slot])), slot)
        if len(rows[slot]):
            slots_of[number].append(slot)
        at_rest = transforms.multiply(own_rest[number], binds[slot].astype(np.float64))
        own = homogeneous[rows[slot]] * pulls[slot][:, None]
        places[rows[slot]] += own @ at_rest.T
    return DropState(
        parents,
        children,
        own_rest,
        inverse,
        world,
        len(poses.clips),
        carried,
        # Roots get those of any other: they are below none.
        _apply(carried[parents], own_rest[:, None, :, 3]),
        np.array([bool(own) for own in slots_of], bool),
        {},
        slots_of,
        numbers.tolist(),
        list(binds),
        spaces.tolist(),
        [_motion(world[n], bind) for n, bind in zip(numbers, binds, strict=True)],
        rows,
        pulls,
        slot_of,
        homogeneous,
        places,
        _spread(places, np.ones(len(positions))),
        joints.astype(np.int64),
        weights > 0,
        np.zeros((len(positions), 3 * world.shape[1]), np.float32),
        np.zeros((len(positions), 2), np.float32),
    )


def _motion(world: Doubles, bind: Floats) -> Floats:
    """A slot's way from the mesh to poses (P, 3, 4) of its node: (4, 3 * P)."""
    whole = transforms.multiply(world, bind.astype(np.float64))
    motion: Floats = whole.transpose(2, 1, 0).reshape(4, -1).astype(np.float32)
    return motion


@dataclass(slots=True, eq=False)
class _Transfer:
    """A node's vertices with a carrier.

    slots: those of the node; made: bind and motion of those that the carrier would be
    given, by space; rows: the vertices; off: their displacement from the full skin
    after it; squares: the square of its length, float32 (vertices, P).
    """

    slots: list[int]
    made: dict[int, tuple[Floats, Floats]]
    rows: Rows
    off: Floats
    squares: Floats


@dataclass(frozen=True, slots=True)
class Choice:
    """What a node's loss costs, and its carrier.

    score: cost, vertices, and the number negated: the least goes first; tried: nodes
    that were looked at as carriers.
    """

    score: tuple[float, int, int]
    carrier: int
    tried: list[int]


def choose_carrier(state: DropState, number: int) -> Choice | None:
    """The best carrier of a node and what its loss costs; None without a carrier."""
    best: Choice | None = None
    tried, is_top = _carriers(state, number)
    for carrier in tried:
        after = _transfer(state, number, carrier)
        cost = _seen(state, np.sqrt(after.squares.max(0)))
        cost += GAP_SHARE * _seen(state, _gaps(state, number, carrier))
        cost *= _size_factor(state, after) * (TOP_SHARE if is_top else 1)
        score = cost, len(after.rows), -number
        if best is None or score < best.score:
            best = Choice(score, carrier, tried)
    return best


def drop_node(
    state: DropState, number: int, carrier: int
) -> tuple[list[tuple[int, int]], set[int]]:
    """Hand a node's vertices over: which slot became which, and who else pulls them."""
    after = _transfer(state, number, carrier)
    for space, (bind, motion) in after.made.items():
        state.slot_of[carrier, space] = len(state.numbers)
        state.numbers.append(carrier)
        state.spaces.append(space)
        state.binds.append(bind)
        state.motions.append(motion)
        state.rows.append(np.zeros(0, np.intp))
        state.pulls.append(np.zeros(0, np.float32))
    moved = []
    for slot in after.slots:
        target = state.slot_of[carrier, state.spaces[slot]]
        rows = state.rows[slot]
        names = state.current[rows]
        state.current[rows] = np.where(names == slot, target, names)
        _add(state, target, rows, state.pulls[slot])
        if target not in state.slots_of[carrier]:
            state.slots_of[carrier].append(target)
        moved.append((slot, target))
    state.slots_of[number] = []
    state.heirs[number] = carrier
    state.is_kept[number] = False
    state.off[after.rows] = after.off
    clips, swings = np.split(after.squares, [state.clip_count], axis=1)
    shown = clips if state.clip_count else swings
    state.squares[after.rows] = np.stack([shown.mean(1), shown.max(1)], 1)
    used = state.is_used[after.rows]
    slots = np.unique(state.current[after.rows][used]).tolist()
    return moved, {state.numbers[slot] for slot in slots}


def find_misled(
    state: DropState, choices: dict[int, Choice], dropped: int, carrier: int
) -> set[int]:
    """Nodes whose choice does not hold any more, beside those that share vertices.

    It was made with a node that is gone, or with a carrier that may have a new slot, or
    looked at nodes below of which one has gone.
    """
    if np.isnan(state.inverse[dropped, 0, 0]):
        return set(choices)  # nodes that looked past it now find its carrier
    changed = {dropped, carrier}
    found = {n for n, choice in choices.items() if not changed.isdisjoint(choice.tried)}
    for above in ancestors(state.parents, dropped):
        if above in choices:
            found.add(above)
        # Who is above one that can carry does not look below it.
        if state.is_kept[above] and np.isfinite(state.inverse[above, 0, 0]):
            break
    return found


def _transfer(state: DropState, number: int, carrier: int) -> _Transfer:
    """What would be if a node's vertices went to another node."""
    slots = state.slots_of[number]
    rows = state.rows[slots[0]]
    if len(slots) > 1:
        rows = np.unique(np.concatenate([state.rows[slot] for slot in slots]))
    off = state.off[rows]
    made: dict[int, tuple[Floats, Floats]] = {}
    for slot in slots:
        space = state.spaces[slot]
        target = state.slot_of.get((carrier, space))
        if target is None and space not in made:
            at_rest = transforms.multiply(state.rest[number], state.binds[slot])
            bind = transforms.multiply(state.inverse[carrier], at_rest)
            bind = bind.astype(np.float32)
            made[space] = bind, _motion(state.world[carrier], bind)
        motion = made[space][1] if target is None else state.motions[target]
        own = state.rows[slot]
        weighted = state.homogeneous[own] * state.pulls[slot][:, None]
        change = weighted @ (motion - state.motions[slot])
        if len(slots) > 1:
            off[np.searchsorted(rows, own)] += change
        else:
            off += change
    parts = off.reshape(len(rows), 3, -1)
    return _Transfer(slots, made, rows, off, np.einsum("vap,vap->vp", parts, parts))


def _seen(state: DropState, worst: NDArray[np.floating]) -> float:
    """What counts of the worst of each pose (P,), metres."""
    clips, swings = worst[: state.clip_count], worst[state.clip_count :]
    share = SWING_SHARE if state.clip_count else 1.0
    return float(clips.max(initial=0)) + share * float(swings.max(initial=0))


def _gaps(state: DropState, number: int, carrier: int) -> Doubles:
    """How far, at worst in each pose (P,), joints that stay lose their place.

    These are the nearest kept nodes below: their place is where their parent takes
    them; the carrier takes them elsewhere.
    """
    below = _nearest_below(state, number, state.is_kept)
    apart = (
        _apply(state.carried[carrier], state.rest[below, None, :, 3])
        - state.joints[below]
    )
    gaps: Doubles = np.linalg.norm(np.nan_to_num(apart), axis=2).max(0, initial=0)
    return gaps


def _size_factor(state: DropState, after: _Transfer) -> float:
    """Square root of the size of what a node pulls, as a share of the whole."""
    if state.size <= 0:
        return 1.0
    pulls = np.zeros(len(after.rows))
    for slot in after.slots:
        pulls[np.searchsorted(after.rows, state.rows[slot])] += state.pulls[slot]
    share = _spread(state.places[after.rows], pulls) / state.size
    return float(np.sqrt(max(share, SMALLEST)))


def _carriers(state: DropState, number: int) -> tuple[list[int], bool]:
    """Kept nodes that may take over: the nearest above, or who took over from it; if
    there is none, the nearest in the branches below; if there is none either, the
    nearest in place. Says also whether there is none above.
    """
    spaces = {state.spaces[slot] for slot in state.slots_of[number]}
    can_carry = state.is_kept & np.isfinite(state.inverse[:, 0, 0])
    for other in np.flatnonzero(state.is_kept & ~can_carry).tolist():
        can_carry[other] = all((other, space) in state.slot_of for space in spaces)
    can_carry[number] = False
    for above in ancestors(state.parents, number):
        heir = above
        while heir in state.heirs:
            heir = state.heirs[heir]
        if can_carry[heir]:
            return [heir], False
    below, most = _nearest_below(state, number, can_carry), MOST_HEIRS
    if not below:
        below, most = np.flatnonzero(can_carry).tolist(), 1
    places = state.rest[below, :, 3] - state.rest[number, :, 3]
    by_distance = np.lexsort((below, np.linalg.norm(places, axis=1)))
    return [below[row] for row in by_distance[:most].tolist()], True


def _nearest_below(
    state: DropState, number: int, is_meant: NDArray[np.bool_]
) -> list[int]:
    """In each branch below a node the first that is meant."""
    found: list[int] = []
    branches = list(state.children[number])
    while branches:
        node = branches.pop()
        if is_meant[node]:
            found.append(node)
        else:
            branches += state.children[node]
    return found


def _add(state: DropState, slot: int, rows: Rows, pulls: Floats) -> None:
    """More vertices for a slot, some of which it may have."""
    both = np.concatenate([state.rows[slot], rows])
    weights = np.concatenate([state.pulls[slot], pulls])
    state.rows[slot], place = np.unique(both, return_inverse=True)
    state.pulls[slot] = np.bincount(place, weights).astype(np.float32)


def _by_slot(
    joints: NDArray[np.uint16], weights: Floats, count: int
) -> tuple[list[Rows], list[Floats]]:
    """Vertices of each slot, rising, and their weights; those with 0 are left out."""
    vertices, columns = np.nonzero(weights > 0)
    keys = joints[vertices, columns].astype(np.int64) * len(joints) + vertices
    unique, place = np.unique(keys, return_inverse=True)
    pulls = np.bincount(place, weights[vertices, columns]).astype(np.float32)
    ends = np.searchsorted(unique, np.arange(count + 1) * len(joints))
    parts = [slice(ends[slot], ends[slot + 1]) for slot in range(count)]
    rows = unique % max(len(joints), 1)
    return [rows[part] for part in parts], [pulls[part] for part in parts]


def _spread(places: Doubles, pulls: Doubles) -> float:
    """How far points (R, 3) are from their middle, root mean square by weights (R,)."""
    whole = pulls.sum()
    if whole <= 0:
        return 0.0
    apart = places - (pulls @ places) / whole
    return float(np.sqrt(pulls @ (apart * apart).sum(1) / whole))


def _apply(b_from_a: Doubles, points: Doubles) -> Doubles:
    """Points (..., 3) by matrices (..., 3, 4) of the same shape or one for all."""
    linear, place = b_from_a[..., :3], b_from_a[..., 3]
    moved: Doubles = (linear @ points[..., None])[..., 0] + place
    return moved


def _inverses(matrices: Doubles) -> Doubles:
    """Inverse of each of (T, 3, 4); NaN where there is none."""
    linear = matrices[..., :3]
    longest = np.linalg.norm(linear, axis=2).max(1, initial=0)
    is_flat = np.abs(np.linalg.det(linear)) <= FLAT * longest**3
    safe = np.where(is_flat[:, None, None], np.eye(3, 4), matrices)
    inverse: Doubles = transforms.invert(safe)
    inverse[is_flat] = np.nan
    return inverse
