"""Which nodes a character can do without, and who takes over their vertices.

One node after the other is dropped, each time the one whose loss moves the skin least.
Its vertices go to its carrier: the nearest node above that is still there, so that what
hung on a finger hangs on the hand. Displacements are always those from the full skin,
so that what many small steps add up to is seen.

A slot is a node together with the bind matrix of one mesh space. A carrier without a
slot in the space of a vertex is given one that moves nothing at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, Rows, Words, freeze
from flexor.convert.levels.drop_choice import (
    Choice,
    DropState,
    choose_carrier,
    drop_node,
    find_misled,
    init_drops,
)
from flexor.convert.levels.poses import LevelPoses
from flexor.errors import SettingError, ShapeError
from flexor.scene.runtime.node_table import NodeTable

__all__ = [
    "DropPlan",
    "fewer_influences",
    "plan_drops",
    "used_nodes",
    "weights_after",
]

MOST_SLOTS = 1 << 16  # weights name them in uint16
OFF_ONE = 1e-3  # what a sum of weights may differ from 1 by


@dataclass(frozen=True, slots=True, eq=False)
class DropPlan:
    """Nodes in the order in which they go, and the weights after each step.

    order: int32 (D,), numbers of the table; costs: float64 (D, 2), how far the skin is
    from the full one after each step, metres, root mean square over vertices and poses
    and at worst; slots: int32 (S,), the skeleton's row of the node that each slot
    follows, binds: float32 (S, 3, 4), node_from_mesh, and spaces: int32 (S,): those
    given first, then those made for carriers; becomes: int32 (D + 1, S), the slot that
    each has become after so many steps; joints: uint16 (V, K) and weights: float32
    (V, K), of the full skin. Takes ownership of the arrays.
    """

    order: Ints
    costs: NDArray[np.float64]
    slots: Ints
    binds: Floats
    spaces: Ints
    becomes: Ints
    joints: Words
    weights: Floats

    def __post_init__(self) -> None:
        put = object.__setattr__
        steps, slots = len(self.order), len(self.slots)
        shapes: dict[str, tuple[Any, tuple[int | None, ...]]] = {
            "order": (np.int32, (steps,)),
            "costs": (np.float64, (steps, 2)),
            "slots": (np.int32, (slots,)),
            "binds": (np.float32, (slots, 3, 4)),
            "spaces": (np.int32, (slots,)),
            "becomes": (np.int32, (steps + 1, slots)),
            "joints": (np.uint16, (None, None)),
            "weights": (np.float32, np.shape(self.joints)),
        }
        for name, (kind, shape) in shapes.items():
            put(self, name, freeze(getattr(self, name), kind, shape, name))

    def __len__(self) -> int:
        return len(self.order)


def used_nodes(
    table: NodeTable, slots: Ints, joints: Words, weights: Floats
) -> NDArray[np.bool_]:
    """Which numbers of the table pull something: bool (T,).

    slots: int32 (S,), nodes of the skeleton; joints: uint16 (V, K), rows of slots;
    weights: float32 (V, K).
    """
    numbers = _numbers(table, slots)
    _check_weights(joints, weights, len(numbers))
    used = np.zeros(len(table), bool)
    used[numbers[np.unique(joints[weights > 0])]] = True
    return used


def plan_drops(
    table: NodeTable,
    slots: Ints,
    binds: Floats,
    spaces: Ints,
    positions: Floats,
    joints: Words,
    weights: Floats,
    poses: LevelPoses,
    rest: Floats,
) -> DropPlan:
    """Drop one node after the other, down to the last.

    slots: int32 (S,), nodes of the skeleton; binds: float32 (S, 3, 4), node_from_mesh;
    spaces: int32 (S,), equal for slots of one mesh space; positions: float32 (V, 3), in
    the space of the vertex; joints: uint16 (V, K), rows of slots, of one space in each
    row; weights: float32 (V, K), rows sum to 1; rest: float32 (J, 3, 4),
    world_from_node at rest. Nodes that pull nothing are no part of the plan.
    """
    numbers = _numbers(table, slots)
    _check(table, slots, binds, spaces, positions, joints, weights, poses, rest)
    state = init_drops(
        table, numbers, binds, spaces, positions, joints, weights, poses, rest
    )
    order: list[int] = []
    costs: list[tuple[float, float]] = []
    moves: list[list[tuple[int, int]]] = []
    choices: dict[int, Choice] = {}
    stale = set(np.flatnonzero(state.is_kept).tolist())
    while np.count_nonzero(state.is_kept) > 1:
        for number in stale:
            choices.pop(number, None)
            choice = choose_carrier(state, number)
            if choice is not None:
                choices[number] = choice
        if not choices:
            break
        number = min(choices, key=lambda n: choices[n].score)
        carrier = choices.pop(number).carrier
        moved, touched = drop_node(state, number, carrier)
        if len(state.numbers) > MOST_SLOTS:
            raise ShapeError(f"slots: carriers need more than {MOST_SLOTS}")
        stale = touched | find_misled(state, choices, number, carrier)
        order.append(number)
        costs.append(_error(state))
        moves.append(moved)
    return DropPlan(
        np.array(order, np.int32),
        np.array(costs, np.float64).reshape(-1, 2),
        table.nodes[state.numbers],
        np.array(state.binds, np.float32).reshape(-1, 3, 4),
        np.array(state.spaces, np.int32),
        _becomes(len(state.numbers), moves),
        joints.copy(),
        weights.copy(),
    )


def weights_after(plan: DropPlan, steps: int) -> tuple[Words, Floats]:
    """Joints uint16 (V, K'), rows of `plan.slots`, and weights float32 (V, K').

    Slots that became the same are one; the heaviest stand first, of equal ones the
    lower; K' is what the vertex with most of them needs.
    """
    if not 0 <= steps <= len(plan):
        raise SettingError(f"steps: {steps}, expected 0 to {len(plan)}")
    if not len(plan.slots):
        return _merged(plan.joints, plan.weights)
    return _merged(plan.becomes[steps][plan.joints], plan.weights)


def fewer_influences(joints: Words, weights: Floats, most: int) -> tuple[Words, Floats]:
    """Keep the `most` largest weights of each vertex, scaled to sum to 1.

    joints: uint16 (V, K); weights: float32 (V, K). Of equal weights the one of the
    lower slot is kept. Gives both as weights_after does.
    """
    if most < 1:
        raise SettingError(f"most: {most}, expected at least 1 weight a vertex")
    _check_weights(joints, weights, MOST_SLOTS)
    names, kept = _merged(joints, weights)
    names, kept = names[:, :most].copy(), kept[:, :most].copy()
    return names, kept / kept.sum(1, keepdims=True, dtype=np.float32)


def _error(state: DropState) -> tuple[float, float]:
    """Displacement of all vertices: root mean square and largest, metres."""
    mean = state.squares[:, 0].mean(dtype=np.float64)
    return float(np.sqrt(mean)), float(np.sqrt(state.squares[:, 1].max()))


def _merged(joints: NDArray[Any], weights: Floats) -> tuple[Words, Floats]:
    """Weights with each slot once a row, the heaviest first, of equal ones the lower.

    As many columns as the fullest row needs, at least one; 0 where there is none.
    """
    count, wide = weights.shape
    names = np.where(weights > 0, joints.astype(np.int64), MOST_SLOTS)
    columns = np.argsort(names, 1, kind="stable")
    names = np.take_along_axis(names, columns, 1)
    pulls = np.take_along_axis(weights, columns, 1)
    group = np.zeros((count, wide), np.int64)
    group[:, 1:] = np.cumsum(names[:, 1:] != names[:, :-1], 1)
    group += np.arange(count)[:, None] * wide
    flat = np.bincount(group.ravel(), pulls.ravel(), count * wide)
    sums = flat.reshape(count, wide).astype(np.float32)
    slots = np.full(count * wide, MOST_SLOTS)
    slots[group.ravel()] = names.ravel()
    slots = np.where(sums > 0, slots.reshape(count, wide), 0)
    order = np.argsort(-sums, 1, kind="stable")
    need = max(1, int(np.count_nonzero(sums > 0, 1).max(initial=1)))
    slots = np.take_along_axis(slots, order, 1)[:, :need]
    sums = np.take_along_axis(sums, order, 1)[:, :need]
    return np.ascontiguousarray(slots, np.uint16), np.ascontiguousarray(sums)


def _becomes(count: int, moves: list[list[tuple[int, int]]]) -> Ints:
    """The slot that each of `count` has become after each step: (D + 1, S)."""
    table = np.tile(np.arange(count, dtype=np.int32), (len(moves) + 1, 1))
    for step, moved in enumerate(moves):
        table[step + 1] = table[step]
        for slot, target in moved:
            table[step + 1][table[step] == slot] = target
    return table


def _numbers(table: NodeTable, slots: Ints) -> Rows:
    """The number in the table of each slot's node: (S,)."""
    number = {node: row for row, node in enumerate(table.nodes.tolist())}
    missing = [node for node in slots.tolist() if node not in number]
    if missing:
        raise ShapeError(f"slots: node {missing[0]} is not in the table")
    return np.array([number[node] for node in slots.tolist()], np.intp)


def _check_weights(joints: Words, weights: Floats, count: int) -> None:
    """Refuse weights that do not sum to 1 or that name a slot that does not exist."""
    if joints.ndim != 2 or joints.shape != weights.shape:
        raise ShapeError(
            f"weights: shape {weights.shape}, joints {joints.shape}, expected (V, K)"
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ShapeError("weights: must be finite and not negative")
    if (np.abs(weights.sum(1, dtype=np.float64) - 1) > OFF_ONE).any():
        raise ShapeError("weights: rows must sum to 1")
    if int(joints[weights > 0].max(initial=0)) >= max(count, 1):
        raise ShapeError(f"joints: must lie in 0..{count - 1}")


def _check(
    table: NodeTable,
    slots: Ints,
    binds: Floats,
    spaces: Ints,
    positions: Floats,
    joints: Words,
    weights: Floats,
    poses: LevelPoses,
    rest: Floats,
) -> None:
    """Refuse arrays that do not fit together."""
    nodes = poses.clips.shape[1]
    wanted = {
        "binds": (binds, (len(slots), 3, 4)),
        "spaces": (spaces, (len(slots),)),
        "positions": (positions, (len(joints), 3)),
        "rest": (rest, (nodes, 3, 4)),
    }
    for name, (array, shape) in wanted.items():
        if array.shape != shape:
            raise ShapeError(f"{name}: shape {array.shape}, expected {shape}")
        if not np.isfinite(array).all():
            raise ShapeError(f"{name}: must be finite")
    if len(table) and int(table.nodes.max()) >= nodes:
        raise ShapeError(f"table: node {table.nodes.max()}, poses have {nodes}")
    if not len(poses.clips) + len(poses.swings):
        raise ShapeError("poses: at least one, of clips or swings")
    _check_weights(joints, weights, len(slots))
    if not len(slots):
        return
    space = spaces[np.where(weights > 0, joints, 0)]
    low = np.where(weights > 0, space, np.iinfo(np.int32).max).min(1)
    high = np.where(weights > 0, space, np.iinfo(np.int32).min).max(1)
    if (low < high).any():
        vertex = int(np.argmax(low < high))
        raise ShapeError(f"joints: vertex {vertex} has slots of two mesh spaces")
