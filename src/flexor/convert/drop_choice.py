"""What the loss of a node does to the skin, and who takes over its vertices.

The cost of a loss is what is seen of it: how far vertices are from the full skin at
worst, more if the skin breaks at joints that stay, and more for large parts of a body
than for small ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.level_poses import LevelPoses
from flexor.maths import transforms
from flexor.scene.node_table import NodeTable

__all__ = ["Choice", "DropState", "choose_carrier", "drop_node", "find_misled"]

SWING_SHARE = 0.2  # of a swing's displacement that counts beside that of clips
# A finger that does not bend is hardly seen; an upper arm that stays behind is, as the
# lower arm comes off it. So a joint that loses its place counts twice as much as skin.
GAP_SHARE = 2.0
# What all else hangs on goes late, or the others would have nothing to hang on.
TOP_SHARE = 2.0
SMALLEST = 0.05  # of the size of the whole: nodes that pull less count as if they did
MOST_HEIRS = 4  # nodes below that are tried where there is none above
FLAT = 1e-12  # of the cube of its longest row: a matrix with less volume is singular

Rows = NDArray[np.intp]
Doubles = NDArray[np.float64]


class DropState:
    """Who pulls which vertex while nodes are dropped, and how far off the skin is.

    numbers, binds, spaces, motions: lists over slots, of table numbers, bind matrices,
    mesh spaces and float32 (4, 3 * P): what takes the weighted place of a vertex (x, y,
    z, 1) to all P poses, those of clips first, coordinate by coordinate; rows, pulls:
    vertices of each slot and their weights; slots_of: slots of each number that pull;
    slot_of: the slot of a number in a space; current: int64 (V, K), the slots that
    joints have become; off: float32 (V, 3 * P), displacement from the full skin;
    squares: float32 (V, 2), its mean square and largest square over the poses reported;
    is_kept: bool (T,), numbers that pull something; heirs: carriers of those that have
    gone; carried: float64 (T, P, 3, 4), the
    way of things that stand at rest with each node, NaN for a node without volume;
    joints: float64 (T, P, 3), where its parent takes each node that does not move.
    """

    def __init__(
        self,
        table: NodeTable,
        numbers: Rows,
        binds: Floats,
        spaces: Ints,
        positions: Floats,
        joints: NDArray[np.uint16],
        weights: Floats,
        poses: LevelPoses,
        rest: Floats,
    ) -> None:
        self.parents: list[int] = table.parents.tolist()
        self.children: list[list[int]] = [[] for _ in self.parents]
        for number, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(number)
        self.rest = rest[table.nodes].astype(np.float64)
        self.inverse = _inverses(self.rest)
        world = np.concatenate([poses.clips, poses.swings])[:, table.nodes]
        self.world = world.astype(np.float64).transpose(1, 0, 2, 3)
        self.clip_count = len(poses.clips)
        self.carried = transforms.multiply(self.world, self.inverse[:, None])
        self.joints = _apply(self.carried[self.parents], self.rest[:, None, :, 3])
        self.homogeneous = np.ones((len(positions), 4), np.float32)
        self.homogeneous[:, :3] = positions
        self.numbers: list[int] = numbers.tolist()
        self.binds = list(binds)
        self.spaces: list[int] = spaces.tolist()
        self.motions = [
            self.motion(number, bind)
            for number, bind in zip(self.numbers, binds, strict=True)
        ]
        self.slot_of: dict[tuple[int, int], int] = {}
        for slot, number in enumerate(self.numbers):
            self.slot_of.setdefault((number, self.spaces[slot]), slot)
        self.current = joints.astype(np.int64)
        self.is_used = weights > 0
        self.rows, self.pulls = _by_slot(joints, weights, len(self.numbers))
        self.slots_of: list[list[int]] = [[] for _ in self.parents]
        for slot, number in enumerate(self.numbers):
            if len(self.rows[slot]):
                self.slots_of[number].append(slot)
        self.is_kept = np.array([bool(own) for own in self.slots_of], bool)
        self.heirs: dict[int, int] = {}
        self.off = np.zeros((len(positions), 3 * world.shape[0]), np.float32)
        self.squares = np.zeros((len(positions), 2), np.float32)
        self.places = self._places()
        self.size = _spread(self.places, np.ones(len(positions)))

    def motion(self, number: int, bind: Floats) -> Floats:
        """A slot's way from places in the mesh to those in all poses: (4, 3 * P)."""
        whole = transforms.multiply(self.world[number], bind.astype(np.float64))
        return whole.transpose(2, 1, 0).reshape(4, -1).astype(np.float32)

    def _places(self) -> Doubles:
        """Vertices of the full skin at rest: (V, 3)."""
        places = np.zeros((len(self.homogeneous), 3))
        for slot, (rows, pulls) in enumerate(zip(self.rows, self.pulls, strict=True)):
            at_rest = transforms.multiply(
                self.rest[self.numbers[slot]], self.binds[slot].astype(np.float64)
            )
            places[rows] += (self.homogeneous[rows] * pulls[:, None]) @ at_rest.T
        return places


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
    changed = {dropped, carrier}
    found = {n for n, choice in choices.items() if not changed.isdisjoint(choice.tried)}
    above, is_nearest = state.parents[dropped], True
    while above >= 0:
        if above in choices:
            # Nodes come after their parents: who tries a later one may have none above.
            if is_nearest or choices[above].tried[0] > above:
                found.add(above)
            is_nearest = False
        above = state.parents[above]
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
            made[space] = bind, state.motion(carrier, bind)
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
    above = state.parents[number]
    while above >= 0:
        heir = above
        while heir in state.heirs:
            heir = state.heirs[heir]
        if can_carry[heir]:
            return [heir], False
        above = state.parents[above]
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
