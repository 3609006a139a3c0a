"""Node tables: every joint that can ever be used, by number, and which are.

A level of detail selects nodes of one table. A selection is a mask, one bit for each
node, or the first so many of one ordered list. As motion is given from one point of the
character, not from each node's parent, any selection can be moved on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.errors import SettingError, ShapeError
from flexor.scene.human_words import FINGERS, read_names
from flexor.scene.humans import PARTS, SIDES, Human, find_human
from flexor.scene.skeleton import Skeleton, rest_world

__all__ = ["NodeTable", "make_node_table"]

Mask = NDArray[np.bool_]
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
    children: list[list[int]] = [[] for _ in above]
    for node, parent in enumerate(above):
        if parent >= 0:
            children[parent].append(node)
    order: list[int] = []
    is_in = [False] * len(above)

    def add(nodes: Iterable[int]) -> None:
        """Each node after those it hangs on, as far as they are not in yet."""
        for node in nodes:
            line = []
            while node >= 0 and not is_in[node]:
                is_in[node] = True
                line.append(node)
                node = above[node]
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
        for node in _walk(tops[0], children) if tops else ():
            if said[node].side == side and said[node].kind in kinds:
                order.append(node)

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
