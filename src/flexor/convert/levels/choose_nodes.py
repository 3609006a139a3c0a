"""Which nodes a level of detail has: what was measured, and what its author says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from flexor.arrays import Bools, Floats, Ints
from flexor.convert.levels.drop_nodes import DropPlan
from flexor.errors import SettingError, ShapeError
from flexor.maths import transforms
from flexor.scene.runtime.level_settings import LevelChoice
from flexor.scene.runtime.node_table import NodeTable

__all__ = ["NodeWords", "SlotTable", "choose_slots", "read_words"]

MOST_SLOTS = 0xFFFF


@dataclass(frozen=True, slots=True, eq=False)
class NodeWords:
    """What an author says about the nodes of a level.

    keep, drop: bool (T,), numbers of the table, none in both; carriers: who takes over
    the vertices of a number.
    """

    keep: Bools
    drop: Bools
    carriers: Mapping[int, int]

    def __bool__(self) -> bool:
        return bool(self.keep.any() or self.drop.any())


def read_words(
    table: NodeTable, choice: LevelChoice, before: NodeWords | None, level: int
) -> NodeWords:
    """The words of a level; what was dropped before stays so unless it is kept here."""
    keep = _matching(table.names, choice.keep, f"level {level}: keep")
    drop = _matching(table.names, choice.drop, f"level {level}: drop")
    carriers = {} if before is None else dict(before.carriers)
    for gone, kept in choice.carriers.items():
        where = f"level {level}: carriers"
        from_numbers = np.flatnonzero(
            _matching(table.names, (gone,), where, exact=True)
        )
        to_numbers = np.flatnonzero(_matching(table.names, (kept,), where, exact=True))
        drop[from_numbers] = True
        carriers.update(dict.fromkeys(from_numbers.tolist(), int(to_numbers[0])))
    if before is not None:
        drop |= before.drop
    return NodeWords(keep, drop & ~keep, carriers)


def _matching(
    names: Sequence[str], patterns: Sequence[str], where: str, *, exact: bool = False
) -> Bools:
    """Which names match any of some patterns: bool (T,); each must match one."""
    found = np.zeros(len(names), bool)
    for pattern in patterns:
        own = [
            name == pattern or (not exact and fnmatchcase(name, pattern))
            for name in names
        ]
        if not any(own):
            some = ", ".join(repr(name) for name in names[:8])
            more = ", ..." if len(names) > 8 else ""
            raise SettingError(f"{where}: no node {pattern!r}; there are {some}{more}")
        found |= own
    return found


class SlotTable:
    """Slots that can grow: nodes with the bind matrix of a mesh space.

    slots, binds, spaces: as in `DropPlan`, in lists.
    """

    def __init__(self, plan: DropPlan) -> None:
        self.slots: list[int] = plan.slots.tolist()
        self.binds: list[Floats] = list(plan.binds)
        self.spaces: list[int] = plan.spaces.tolist()

    def __len__(self) -> int:
        return len(self.slots)

    def carry(self, slot: int, node: int, rest: Floats) -> int:
        """The slot of a node that takes over the vertices of another slot.

        rest: (J, 3, 4), world_from_node. A new slot moves nothing at rest.
        """
        space = self.spaces[slot]
        for row, (own, other) in enumerate(zip(self.slots, self.spaces, strict=True)):
            if own == node and other == space:
                return row
        world = rest.astype(np.float64)
        if not abs(np.linalg.det(world[node, :, :3])) > 0:
            raise ShapeError(f"node {node} is flat at rest and can carry nothing")
        at_rest = transforms.multiply(world[self.slots[slot]], self.binds[slot])
        bind = transforms.multiply(transforms.invert(world[node]), at_rest)
        self.slots.append(node)
        self.binds.append(bind.astype(np.float32))
        self.spaces.append(space)
        if len(self) > MOST_SLOTS:
            raise ShapeError(f"slots: more than {MOST_SLOTS} would be needed")
        return len(self) - 1


def choose_slots(
    plan: DropPlan,
    table: NodeTable,
    used: Bools,
    steps: int,
    words: NodeWords,
    slots: SlotTable,
    rest: Floats,
) -> Ints:
    """The slot that each slot of the whole character becomes: int32 (S,).

    used: bool (T,), numbers that pull something at level 0; steps: how many of the plan
    are taken; slots: grows where a carrier needs a slot. Without words it is the plan.
    """
    planned: Ints = plan.becomes[steps]
    if not words:
        return planned
    kept = used.copy()
    kept[plan.order[:steps]] = False
    kept = (kept | (words.keep & used)) & ~words.drop
    if not kept.any():
        raise SettingError("drop: no node is left that anything could hang on")
    number = {node: row for row, node in enumerate(table.nodes.tolist())}
    chosen = np.arange(len(planned), dtype=np.int32)
    for slot in range(len(planned)):
        own = number[slots.slots[slot]]
        if kept[own] or not used[own]:
            continue
        to = int(planned[slot])
        heir = number[slots.slots[to]]
        near = _heir(table, own, kept, words.carriers)
        # What the author keeps takes what hangs on it, also where the plan would have
        # dropped it first.
        if own in words.carriers or not kept[heir] or words.keep[near]:
            to = slots.carry(slot, int(table.nodes[near]), rest)
        chosen[slot] = to
    return chosen


def _heir(table: NodeTable, number: int, kept: Bools, said: Mapping[int, int]) -> int:
    """Who takes over: who the author says, else the nearest kept above, else below."""
    seen = set()
    node = number
    while node >= 0 and not kept[node]:
        if node in seen:
            raise SettingError(
                f"carriers: {table.names[number]!r} is handed round in a circle"
            )
        seen.add(node)
        node = said.get(node, int(table.parents[node]))
    if node >= 0:
        return node
    below = np.zeros(len(table), bool)
    below[number] = True
    for row in range(number + 1, len(table)):  # parents come first
        below[row] = bool(table.parents[row] >= 0 and below[table.parents[row]])
    near = np.flatnonzero(below & kept)
    return int(near[0] if len(near) else np.flatnonzero(kept)[0])
