"""The node tree of a character: names, parents and the rest transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.errors import SettingError, ShapeError
from flexor.maths import transforms
from flexor.scene.character.tree import find_cycle, top_down
from flexor.scene.unchecked import filled

__all__ = ["Link", "Skeleton", "find_link_fault", "rest_world"]

UNIT = 1e-4  # by which the square of an axis' length may be off 1


@dataclass(frozen=True, slots=True)
class Link:
    """What moves a link: a node that takes a part of a joint's movement.

    joint: the node it follows, a child of the same parent.

    Without an axis, a bend link: fraction says how much of the way from the joint's
    rest to where the joint is, more than 0 and less than 1.

    With one, a twist link: it stands where the joint does and turns as the joint does,
    but takes only `fraction` of what the joint has turned about the axis since its
    rest, from 0 to less than 1. axis: a unit vector in the joint's own frame.

    With one and is_swing, a swing link: a bend link that leaves the twist to others. It
    goes `fraction` of the way from the joint's rest to where a twist link of fraction 0
    is.
    """

    joint: int
    fraction: float
    axis: tuple[float, float, float] | None = None
    is_swing: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """Every node of a file, in the file's order; joints are nodes like any other.

    names: J texts, not always unique; parents: int32 (J,), -1 for a root;
    translations: float32 (J, 3), metres; rotations: float32 (J, 4), xyzw;
    scales: float32 (J, 3); matrices: float32 (3, 4) of the nodes whose rest transform
    the file gives as a matrix, by node: the three parts say the same, the matrix is
    kept to be written back; links: the nodes that follow a joint, by node, in
    their order; order: int32 (J,), each node after its parent (made here).
    Takes ownership of the arrays.
    """

    names: tuple[str, ...]
    parents: Ints
    translations: Floats
    rotations: Floats
    scales: Floats
    matrices: Mapping[int, Floats] = field(default_factory=dict)
    links: Mapping[int, Link] = field(default_factory=dict)
    order: Ints = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "names", tuple(self.names))
        count = len(self.names)
        put(self, "parents", freeze(self.parents, np.int32, (count,), "parents"))
        for name, width in (("translations", 3), ("rotations", 4), ("scales", 3)):
            value = getattr(self, name)
            put(self, name, freeze(value, np.float32, (count, width), name))
        if count and not (-1 <= self.parents.min() and self.parents.max() < count):
            raise ShapeError(f"parents: must lie in -1..{count - 1}")
        cycle = find_cycle(self.parents)
        if cycle is not None:
            raise ShapeError(f"parents: node {cycle} is its own ancestor")
        given = {
            node: freeze(matrix, np.float32, (3, 4), f"matrices[{node}]")
            for node, matrix in self.matrices.items()
        }
        put(self, "matrices", MappingProxyType(given))
        links = {
            int(node): _plain_link(link) for node, link in sorted(self.links.items())
        }
        for node in links:
            fault = find_link_fault(node, links, self.parents)
            if fault is not None:
                raise ShapeError(f"links[{node}]: {fault}")
        put(self, "links", MappingProxyType(links))
        order = top_down(self.parents)
        order.flags.writeable = False
        put(self, "order", order)

    @classmethod
    def unchecked(
        cls,
        names: tuple[str, ...],
        parents: Ints,
        parts: tuple[Floats, Floats, Floats],
        matrices: Mapping[int, Floats],
        order: Ints,
        links: Mapping[int, Link],
    ) -> Skeleton:
        """A tree in read-only arrays that were checked before.

        parts: translations, rotations, scales; order: by depth, then by number.
        """
        given = (MappingProxyType(matrices), MappingProxyType(links))
        return filled(cls, names, parents, *parts, *given, order)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.parents, self.translations, self.rotations, self.scales)
        given = (dict(self.matrices), dict(self.links))
        return Skeleton, (self.names, *parts, *given)

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """The first node called `name`."""
        try:
            return self.names.index(name)
        except ValueError:
            some = ", ".join(repr(n) for n in self.names[:8])
            more = ", ..." if len(self) > 8 else ""
            raise SettingError(f"no node {name!r}; there are {some}{more}") from None

    def children(self, node: int) -> list[int]:
        """The nodes whose parent is `node`, in file order."""
        return [int(child) for child in np.nonzero(self.parents == node)[0]]


def rest_world(skeleton: Skeleton) -> NDArray[np.float64]:
    """world_from_node (J, 3, 4) of every node at rest."""
    world: NDArray[np.float64] = transforms.compose(
        skeleton.translations.astype(np.float64),
        skeleton.rotations.astype(np.float64),
        skeleton.scales.astype(np.float64),
    )
    for node in skeleton.order:
        parent = skeleton.parents[node]
        if parent >= 0:
            world[node] = transforms.multiply(world[parent], world[node])
    return world


def find_link_fault(
    node: int, links: Mapping[int, Link], parents: Sequence[int] | Ints
) -> str | None:
    """What is wrong with the link `node` in a tree, or None.

    parents: J entries, all in range.
    """
    link, last = links[node], len(parents) - 1
    if not 0 <= node <= last:
        return f"there is no such node; the last is {last}"
    if not 0 <= link.joint <= last:
        return f"joint {link.joint}: must lie in 0..{last}"
    if link.joint == node:
        return "a node cannot follow itself"
    if link.joint in links:
        return f"joint {link.joint} is a link itself"
    if parents[link.joint] != parents[node]:
        return f"joint {link.joint} has another parent"
    if link.axis is None and link.is_swing:
        return "a swing link needs the axis of the twist that it leaves out"
    if (link.axis is None or link.is_swing) and not 0 < link.fraction < 1:
        return f"fraction {link.fraction}: must be more than 0 and less than 1"
    if link.axis is None:
        return None
    if not 0 <= link.fraction < 1:
        return f"fraction {link.fraction}: must be 0 or more and less than 1"
    if len(link.axis) != 3:
        return f"axis {link.axis}: must be three numbers"
    square = sum(part * part for part in link.axis)
    if not abs(square - 1) <= UNIT:
        return f"axis {link.axis}: must be of length 1"
    return None


def _plain_link(link: Link) -> Link:
    """The same in Python's own numbers."""
    axis = None
    if link.axis is not None:
        # As many as there are: how many there must be is checked with the rest.
        axis = cast("tuple[float, float, float]", tuple(float(x) for x in link.axis))
    return Link(int(link.joint), float(link.fraction), axis, bool(link.is_swing))
