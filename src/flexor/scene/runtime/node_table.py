"""Node tables: every joint that can ever be used, by number, and which are.

A level of detail selects nodes of one table. A selection is a mask, one bit for each
node, or the first so many of one ordered list. As motion is given from one point of the
character, not from each node's parent, any selection can be moved on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Floats, Ints, check_input, freeze
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.tree import children_of, upward
from flexor.scene.human.human import PARTS, SIDES, Human, find_human
from flexor.scene.human.words import FINGERS, read_names

__all__ = [
    "NodeTable",
    "bone_lengths",
    "bones_of",
    "counter_from_masks",
    "make_node_table",
    "masks_from_counter",
    "select_by_counter",
    "select_by_mask",
]

_LEG = ("UpperLeg", "LowerLeg", "Foot", "Toes")
_MIDDLE = ("spine", "chest", "upperChest", "neck", "head")


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """Nodes by number, each after its parent.

    names: T texts; nodes: int32 (T,), their rows in the skeleton; parents: int32 (T,),
    the number of each one's parent, -1 for none; lengths: float32 (T,), metres from the
    parent at rest, the standard length of the bone that ends here. Takes ownership of
    the arrays.
    """

    names: tuple[str, ...]
    nodes: Ints
    parents: Ints
    lengths: Floats

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "names", tuple(self.names))
        count = len(self.names)
        put(self, "nodes", freeze(self.nodes, np.int32, (count,), "nodes"))
        put(self, "parents", freeze(self.parents, np.int32, (count,), "parents"))
        put(self, "lengths", freeze(self.lengths, np.float32, (count,), "lengths"))
        if count and (self.nodes.min() < 0 or len(np.unique(self.nodes)) < count):
            raise ShapeError("nodes: must be rows of the skeleton, each once")
        if count and (self.parents < -1).any():
            raise ShapeError("parents: must be -1 or above")
        if (self.parents >= np.arange(count)).any():
            raise ShapeError("parents: must come before their children")
        if not np.isfinite(self.lengths).all() or (self.lengths < 0).any():
            raise ShapeError("lengths: must be finite and not negative")

    def __len__(self) -> int:
        return len(self.names)


def make_node_table(skeleton: Skeleton, human: Human | None = None) -> NodeTable:
    """Every node of a skeleton by number, each after its parent.

    human: which nodes are parts of a body; None: as the names say. A body begins with
    its hips, after the nodes that they hang on; then the left leg and the right leg
    from the hip to the toe, the spine, neck and head, the left arm and the right arm
    from the shoulder to the fingers, each with the joints between its parts. What else
    there is (eyes, hair, props, meshes) comes behind the body, in the order of the
    nodes it hangs on. Without hips the tree is walked depth first, children in the
    order of the file.
    """
    body = find_human(skeleton) if human is None else human
    _check_human(body, len(skeleton))
    above: list[int] = skeleton.parents.tolist()
    children = children_of(above)
    order: list[int] = []
    is_in = [False] * len(above)

    def add(nodes: Iterable[int]) -> None:
        """Each node after those it hangs on, as far as they are not in yet."""
        for node in nodes:
            line = []
            for one in upward(above, node):
                if is_in[one]:
                    break
                is_in[one] = True
                line.append(one)
            order.extend(reversed(line))

    if "hips" in body:
        add(_body_order(skeleton, body, children))
    roots = [node for node, parent in enumerate(above) if parent < 0]
    for beside in (*(children[node] for node in order), roots):
        for node in beside:
            if not is_in[node]:
                add(_walk(node, children))
    rows = np.array(order, np.int32)
    number = np.full(len(rows) + 1, -1, np.int32)  # the last: the parent of roots
    number[rows] = np.arange(len(rows))
    with np.errstate(all="ignore"):  # the table refuses what is not finite
        places = rest_world(skeleton)[:, :, 3]
        ways = places - places[skeleton.parents]
        lengths = np.linalg.norm(ways, axis=1).astype(np.float32)
    lengths[skeleton.parents < 0] = 0
    return NodeTable(
        tuple(skeleton.names[node] for node in order),
        rows,
        number[skeleton.parents[rows]],
        lengths[rows],
    )


def _check_human(human: Human, count: int) -> None:
    """Refuse parts of a body that are no nodes of the skeleton."""
    rolls = [(part, node) for part, row in human.rolls.items() for node in row]
    middle = [("trunk", n) for n in human.trunk] + [("necks", n) for n in human.necks]
    for part, node in (*human.nodes.items(), *rolls, *middle):
        if not 0 <= node < count:
            raise SettingError(f"human: {part} is node {node}, there are {count}")


def _body_order(
    skeleton: Skeleton, human: Human, children: Sequence[Sequence[int]]
) -> list[int]:
    """The parts of a body in their order; some more than once."""
    said = read_names(skeleton.names)

    def limb(side: str, parts: Sequence[str], ends: str, kinds: Sequence[str]) -> None:
        for part in parts:
            order.extend([human[side + part]] if side + part in human else [])
            order.extend(human.rolls.get(side + part, ()))
        # Toes and fingers that are no part: one of several, or one joint too many.
        tops = [human[side + end] for end in ends.split() if side + end in human]
        below = _walk(tops[0], children) if tops else []
        order.extend(node for node in below if said[node].kind in kinds)

    order = [human["hips"]]
    for side in SIDES:
        limb(side, _LEG, "Foot", ("foot", "toe"))
    order.extend(human.trunk)
    order.extend(human[part] for part in _MIDDLE[:3] if part in human)
    order.extend(human.necks)
    order.extend(human[part] for part in _MIDDLE[3:] if part in human)
    for side in SIDES:
        own = [part.removeprefix(side) for part in PARTS if part.startswith(side)]
        arm = [part for part in own if part not in (*_LEG, "Eye")]
        limb(side, arm, "Hand LowerArm", ("hand", *FINGERS))
    return order


def _walk(top: int, children: Sequence[Sequence[int]]) -> list[int]:
    """A node and all below it, depth first, children in their order."""
    found, left = [], [top]
    while left:
        node = left.pop()
        found.append(node)
        left.extend(reversed(children[node]))
    return found


def counter_from_masks(masks: Bools) -> tuple[Ints, Ints]:
    """The counter form of masks: bool (L, T).

    Gives counts, int32 (L,), and one ordered list of numbers, int32, of which level l
    selects the first counts[l]: those of more levels first, then by number. Only for
    levels that each select from what the level before selects.
    """
    _check_masks(masks)
    is_new = masks[1:] & ~masks[:-1]
    if is_new.any():
        level, node = (int(first) for first in np.argwhere(is_new)[0])
        raise SettingError(
            f"masks: level {level + 1} selects node {node}, which level {level} does "
            "not; a counter can only give levels that are nested"
        )
    times = masks.sum(0)
    order = np.argsort(-times, kind="stable")
    counts = masks.sum(1).astype(np.int32)
    return counts, order[: np.count_nonzero(times)].astype(np.int32)


def masks_from_counter(counts: Ints, order: Ints, count: int) -> Bools:
    """The mask form of a counter: bool (L, T), of a table of T = count nodes."""
    _check_counter(counts, order)
    if order.size and int(order.max()) >= count:
        raise ShapeError(f"order: node {int(order.max())}, there are {count}")
    masks = np.zeros((len(counts), count), bool)
    masks[:, order] = np.arange(len(order)) < counts[:, None]
    return masks


def select_by_counter(counts: Ints, order: Ints, level: int) -> Ints:
    """The numbers of the nodes of a level, ascending: the first counts[level]."""
    _check_counter(counts, order)
    _check_level(level, len(counts))
    return np.sort(order[: counts[level]]).astype(np.int32)


def select_by_mask(masks: Bools, level: int) -> Ints:
    """The numbers of the nodes of a level, ascending: those whose bit is set."""
    _check_masks(masks)
    _check_level(level, len(masks))
    return np.flatnonzero(masks[level]).astype(np.int32)


def bones_of(table: NodeTable, selected: NDArray[np.integer[Any]] | Bools) -> Ints:
    """The bones of a selection: numbers (B, 2) of where each begins and ends.

    selected: numbers, or a mask (T,). A bone ends at each selected node and begins at
    the nearest selected one above it, so the bone of a dropped node reaches on to the
    next; nodes without one above have no bone. In the order of their ends.
    """
    is_selected = _as_mask(selected, len(table))
    parents: list[int] = table.parents.tolist()
    above: list[int] = []  # of each node the nearest selected one, -1: none
    for parent in parents:
        kept = parent < 0 or bool(is_selected[parent])
        above.append(parent if kept else above[parent])
    ends = np.flatnonzero(is_selected)
    bones = np.stack([np.array(above, np.int32)[ends], ends.astype(np.int32)], 1)
    return np.ascontiguousarray(bones[bones[:, 0] >= 0])


def bone_lengths(table: NodeTable, skeleton: Skeleton, bones: Ints) -> Floats:
    """Metres from the beginning to the end of each bone (B, 2) at rest: (B,)."""
    check_input(bones, np.int32, (None, 2), "bones")
    if bones.size and not 0 <= bones.min() <= bones.max() < len(table):
        raise ShapeError(f"bones: must lie in 0..{len(table) - 1}")
    if len(table) and int(table.nodes.max()) >= len(skeleton):
        most = int(table.nodes.max())
        raise ShapeError(f"table: node {most}, the skeleton has {len(skeleton)}")
    places = rest_world(skeleton)[:, :, 3][table.nodes]
    ways = places[bones[:, 1]] - places[bones[:, 0]]
    lengths: Floats = np.linalg.norm(ways, axis=1).astype(np.float32)
    return lengths


def _check_masks(masks: Bools) -> None:
    if not isinstance(masks, np.ndarray) or masks.dtype != np.bool_:
        have = getattr(masks, "dtype", type(masks).__name__)
        raise ShapeError(f"masks: {have}, expected bool")
    if masks.ndim != 2:
        raise ShapeError(f"masks: shape {masks.shape}, expected (levels, nodes)")


def _check_counter(counts: Ints, order: Ints) -> None:
    for name, value in (("counts", counts), ("order", order)):
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu":
            have = getattr(value, "dtype", type(value).__name__)
            raise ShapeError(f"{name}: {have}, expected whole numbers")
        if value.ndim != 1:
            raise ShapeError(f"{name}: shape {value.shape}, expected (any,)")
    if counts.size and not 0 <= counts.min() <= counts.max() <= len(order):
        raise ShapeError(f"counts: must lie in 0..{len(order)}, the length of order")
    if order.size and (order.min() < 0 or len(np.unique(order)) < len(order)):
        raise ShapeError("order: must be numbers of nodes, each once")


def _check_level(level: int, count: int) -> None:
    if not 0 <= level < count:
        raise SettingError(f"level: {level}, must lie in 0..{count - 1}")


def _as_mask(selected: NDArray[np.integer[Any]] | Bools, count: int) -> Bools:
    """A selection, numbers or a mask, as a mask (T,)."""
    given: NDArray[Any] = np.asarray(selected)
    if given.dtype == np.bool_:
        if given.shape != (count,):
            raise ShapeError(f"selected: shape {given.shape}, expected ({count},)")
        return given
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ShapeError("selected: expected numbers of nodes, or a mask")
    mask = np.zeros(count, bool)
    if given.size:
        if not 0 <= given.min() <= given.max() < count:
            raise ShapeError(f"selected: must lie in 0..{count - 1}")
        mask[given] = True
    return mask
