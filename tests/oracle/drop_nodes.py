"""Nodes dropped one by one, everything computed anew for every try at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SWING, GAP, TOP, SMALLEST, HEIRS = 0.2, 2.0, 2.0, 0.05, 4


@dataclass
class Body:
    """What `plan_drops` takes, the world by table number: lists of 4 x 4 matrices."""

    parents: list[int]
    rest: list[Any]
    clips: list[list[Any]]
    swings: list[list[Any]]
    slots: list[tuple[int, int, Any]]  # number, space, bind
    positions: Any
    pulls: list[dict[int, float]]  # of each vertex, by slot


def square(matrix: Any) -> Any:
    """(3, 4) as (4, 4), double."""
    return np.concatenate([np.asarray(matrix, float), [[0.0, 0, 0, 1]]])


def make_body(
    table: Any,
    slots: Any,
    binds: Any,
    spaces: Any,
    positions: Any,
    joints: Any,
    weights: Any,
    poses: Any,
    rest: Any,
) -> Body:
    """The arrays of `plan_drops` as plain values."""
    nodes = table.nodes.tolist()
    pulls: list[dict[int, float]] = []
    for names, shares in zip(joints.tolist(), weights.tolist(), strict=True):
        own: dict[int, float] = {}
        for slot, share in zip(names, shares, strict=True):
            if share > 0:
                own[slot] = own.get(slot, 0.0) + share
        pulls.append(own)
    return Body(
        table.parents.tolist(),
        [square(rest[node]) for node in nodes],
        [[square(pose[node]) for node in nodes] for pose in poses.clips],
        [[square(pose[node]) for node in nodes] for pose in poses.swings],
        [
            (nodes.index(node), int(space), square(bind))
            for node, space, bind in zip(slots.tolist(), spaces, binds, strict=True)
        ],
        np.asarray(positions, float),
        pulls,
    )


def skin(body: Body, world: list[Any], pulls: list[dict[int, float]]) -> Any:
    """Vertices (V, 3) in one pose."""
    out = np.zeros((len(pulls), 3))
    for vertex, own in enumerate(pulls):
        place = np.append(body.positions[vertex], 1.0)
        for slot, share in own.items():
            number, _, bind = body.slots[slot]
            out[vertex] += share * (world[number] @ bind @ place)[:3]
    return out


def pullers(body: Body, pulls: list[dict[int, float]]) -> set[int]:
    """Numbers that pull something."""
    return {body.slots[slot][0] for own in pulls for slot in own}


def is_flat(matrix: Any) -> bool:
    longest = max(np.linalg.norm(row) for row in matrix[:3, :3])
    return bool(abs(np.linalg.det(matrix[:3, :3])) <= 1e-6 * longest**3)


def first_below(body: Body, number: int, wanted: set[int]) -> list[int]:
    """In each branch the first of the wanted."""
    found = []
    for child, parent in enumerate(body.parents):
        if parent == number:
            found += [child] if child in wanted else first_below(body, child, wanted)
    return found


def carriers(
    body: Body, pulls: list[dict[int, float]], heirs: dict[int, int], number: int
) -> tuple[list[int], bool]:
    """Who may take over, and whether there is none above."""
    slots = {slot for own in pulls for slot in own}
    spaces = {body.slots[s][1] for s in slots if body.slots[s][0] == number}
    has = {(n, space) for n, space, _ in body.slots}
    able = {
        n
        for n in pullers(body, pulls) - {number}
        if not is_flat(body.rest[n]) or all((n, space) in has for space in spaces)
    }
    above = body.parents[number]
    while above >= 0:
        heir = above
        while heir in heirs:
            heir = heirs[heir]
        if heir in able:
            return [heir], False
        above = body.parents[above]

    def distance(n: int) -> tuple[float, int]:
        apart = body.rest[n][:3, 3] - body.rest[number][:3, 3]
        return float(np.sqrt(apart @ apart)), n

    below = first_below(body, number, able)
    if below:
        return sorted(below, key=distance)[:HEIRS], True
    return sorted(able, key=distance)[:1], True


def hand_over(
    body: Body, pulls: list[dict[int, float]], number: int, carrier: int
) -> tuple[Body, list[dict[int, float]]]:
    """The body with the slots that are needed, and the weights afterwards."""
    slots = list(body.slots)
    target: dict[int, int] = {}
    used = {slot for own in pulls for slot in own}
    # In the order in which slots came to pull for this node: see `drop_node`.
    for slot in sorted(used):
        n, space, bind = slots[slot]
        if n != number:
            continue
        same = [s for s, (m, p, _) in enumerate(slots) if (m, p) == (carrier, space)]
        if not same:
            back = np.linalg.inv(body.rest[carrier])
            made = (back @ body.rest[number] @ bind)[:3].astype(np.float32)
            same = [len(slots)]
            slots.append((carrier, space, square(made)))
        target[slot] = same[0]
    after = []
    for own in pulls:
        merged: dict[int, float] = {}
        for slot, share in own.items():
            to = target.get(slot, slot)
            merged[to] = merged.get(to, 0.0) + share
        after.append(merged)
    parts = (body.parents, body.rest, body.clips, body.swings)
    return Body(*parts, slots, body.positions, body.pulls), after


def spread(points: Any, shares: Any) -> float:
    middle = (points * shares[:, None]).sum(0) / shares.sum()
    return float(
        np.sqrt((((points - middle) ** 2).sum(1) * shares).sum() / sum(shares))
    )


def gap(
    body: Body, kept: set[int], number: int, carrier: int, world: list[Any]
) -> float:
    """How far joints below lose their place in one pose."""
    worst = 0.0
    for below in first_below(body, number, kept):
        parent = body.parents[below]
        if is_flat(body.rest[parent]) or is_flat(body.rest[carrier]):
            continue
        place = body.rest[below][:, 3]
        right = world[parent] @ np.linalg.inv(body.rest[parent]) @ place
        wrong = world[carrier] @ np.linalg.inv(body.rest[carrier]) @ place
        worst = max(worst, float(np.linalg.norm(right - wrong)))
    return worst


def cost_of(
    body: Body,
    pulls: list[dict[int, float]],
    number: int,
    carrier: int,
    is_top: bool,
) -> tuple[float, int]:
    """What the loss costs, and how many vertices it moves."""
    kept = pullers(body, pulls)
    other, after = hand_over(body, pulls, number, carrier)
    shares = np.array(
        [
            sum(w for slot, w in own.items() if body.slots[slot][0] == number)
            for own in pulls
        ]
    )
    mine = shares > 0

    def seen(poses: list[list[Any]]) -> float:
        moved = [
            np.linalg.norm(
                skin(other, world, after) - skin(body, world, body.pulls), axis=1
            )[mine].max()
            for world in poses
        ]
        gaps = [gap(body, kept, number, carrier, world) for world in poses]
        return float(max(moved, default=0)) + GAP * max(gaps, default=0.0)

    cost = seen(body.clips) + (SWING if body.clips else 1) * seen(body.swings)
    places = skin(body, body.rest, body.pulls)
    whole = spread(places, np.ones(len(places)))
    if whole > 0:
        cost *= np.sqrt(max(spread(places[mine], shares[mine]) / whole, SMALLEST))
    return cost * (TOP if is_top else 1), int(mine.sum())


def plan_drops(
    body: Body,
) -> tuple[list[int], list[tuple[float, float]], list[tuple[Body, Any]]]:
    """Order, costs, and body and weights after each step."""
    order: list[int] = []
    costs: list[tuple[float, float]] = []
    steps: list[tuple[Body, Any]] = []
    heirs: dict[int, int] = {}
    pulls = body.pulls
    while len(pullers(body, pulls)) > 1:
        tries = []
        for number in pullers(body, pulls):
            able, is_top = carriers(body, pulls, heirs, number)
            for rank, carrier in enumerate(able):
                cost, count = cost_of(body, pulls, number, carrier, is_top)
                tries.append((cost, count, -number, rank, carrier))
        if not tries:
            break
        _, _, minus, _, carrier = min(tries)
        body, pulls = hand_over(body, pulls, -minus, carrier)
        heirs[-minus] = carrier
        order.append(-minus)
        apart = [
            np.linalg.norm(
                skin(body, world, pulls) - skin(body, world, body.pulls), axis=1
            )
            for world in (body.clips or body.swings)
        ]
        costs.append((float(np.sqrt(np.mean(np.square(apart)))), float(np.max(apart))))
        steps.append((body, pulls))
    return order, costs, steps
