"""Links laid out for the kernel: joints in columns, links in blocks of eight.

The lanes of links stand together: first the first link of each joint, then the second
of those that have two, and so on. So eight neighbouring lanes follow eight neighbouring
columns, and a joint is looked at once however many links it has. Twist links come after
the others in the same way, with columns of their own, and swing links after them: a
block is of one kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints
from flexor.maths import exact, quaternions
from flexor.pose.kernels.layout import AXIS_ROWS, BEND, DEGREES, LANES, SWING, TWIST
from flexor.scene.character.skeleton import Link, Skeleton

__all__ = ["LinkTables", "order_lanes", "pack_links"]

# For each group of lanes: its joints, those with the most links first, each with its
# links, the smallest fraction first; all of one kind.
Groups = list[dict[int, list[int]]]
Axis = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class LinkTables:
    """The links of a skeleton; shapes as in the kernel `follow_links`.

    joints: int32 (C,); blocks: int32 (B, 5); rest, curves, axes: float32, flat.
    """

    joints: Ints
    blocks: Ints
    rest: Floats
    curves: Floats
    axes: Floats


def order_lanes(skeleton: Skeleton) -> tuple[Ints, Groups]:
    """The node of each lane, parents first and links together, and their groups.

    Links hang below no other link in most skeletons, and are one group of each kind
    then.
    """
    if not skeleton.links:
        return skeleton.order, []
    parents, links = skeleton.parents.tolist(), skeleton.links
    above = [0] * len(parents)  # links above each node
    plain: list[list[int]] = [[]]
    levels: list[Groups] = [[{}, {}, {}]]
    for node in skeleton.order.tolist():
        parent = parents[node]
        if parent >= 0:
            above[node] = above[parent] + (parent in links)
        if above[node] == len(plain):
            plain.append([])
            levels.append([{}, {}, {}])
        if node in links:
            kind = levels[above[node]][kind_of(links[node])]
            kind.setdefault(links[node].joint, []).append(node)
        else:
            plain[above[node]].append(node)
    order: list[int] = []
    groups: Groups = []
    for nodes, kinds in zip(plain, levels, strict=True):
        order += nodes
        for group in filter(None, kinds):
            for mine in group.values():
                mine.sort(key=lambda node: links[node].fraction)
            most_first = sorted(group.items(), key=lambda item: -len(item[1]))
            groups.append(dict(most_first))
            for turn in _turns(groups[-1]):
                order += turn
    return np.array(order, np.int32), groups


def _turns(group: dict[int, list[int]]) -> list[list[int]]:
    """The first links of all joints, the second links, and so on."""
    most = max((len(mine) for mine in group.values()), default=0)
    return [
        [mine[turn] for mine in group.values() if len(mine) > turn]
        for turn in range(most)
    ]


def pack_links(skeleton: Skeleton, lane_of_node: Ints, groups: Groups) -> LinkTables:
    """Lay the links out for lanes of that order."""
    joints: list[int] = []
    blocks: list[tuple[int, int, int, int, int]] = []
    fractions: list[float] = []
    twisted: list[tuple[int, Axis]] = []  # joint and axis, eight a block
    for group in groups:
        first = len(joints)
        joints += group
        # Columns that are read but belong to no link repeat a joint.
        joints += list(group)[:1] * (-len(group) % LANES)
        turns = _turns(group)
        end = int(lane_of_node[turns[-1][-1]]) + 1
        for turn in turns:
            lane = int(lane_of_node[turn[0]])
            for i in range(0, len(turn), LANES):
                # What is written beyond a turn is written again by the next one.
                width = min(LANES, end - lane - i)
                own = [skeleton.links[n] for n in turn[i : i + LANES]]
                own += own[-1:] * (LANES - len(own))
                kind = kind_of(own[0])
                blocks.append((first + i, lane + i, width, kind, len(twisted)))
                # A twist link gives back what it does not take.
                fractions += [
                    1 - k.fraction if kind == TWIST else k.fraction for k in own
                ]
                twisted += [(k.joint, k.axis) for k in own if k.axis is not None]
    rows = np.array(joints, np.int32)
    parts = (
        skeleton.translations[rows],
        _unit_rests(skeleton, rows),
        skeleton.scales[rows],
    )
    return LinkTables(
        lane_of_node[rows],
        np.array(blocks, np.int32).reshape(-1, 5),
        np.concatenate(parts, 1).T.astype(np.float32).ravel(),
        _curves(np.array(fractions)).astype(np.float32).ravel(),
        _axes(skeleton, twisted),
    )


def kind_of(link: Link) -> int:
    """BEND, TWIST or SWING."""
    if link.axis is None:
        return BEND
    return SWING if link.is_swing else TWIST


_NO_TURN = np.array([0.0, 0, 0, 1])


def _unit_rests(skeleton: Skeleton, nodes: Ints) -> Doubles:
    """Rest rotations of nodes (n, 4), of unit length."""
    rotations = skeleton.rotations[nodes].astype(np.float64)
    lengths = np.linalg.norm(rotations, axis=1, keepdims=True)
    unit: Doubles = np.where(
        lengths > 0, rotations / np.where(lengths > 0, lengths, 1), _NO_TURN
    )
    return unit


def _axes(skeleton: Skeleton, twisted: list[tuple[int, Axis]]) -> Floats:
    """Rows of every block of links with axes (B, 7, 8), flat: axis, and rest * axis.

    The part of a rotation q about the axis, seen from the rest, is q's product with the
    latter: the four numbers of conj(rest) * q along those of the axis.
    """
    if not twisted:
        return np.zeros(0, np.float32)
    rests = _unit_rests(skeleton, np.array([joint for joint, _ in twisted], np.int32))
    axes = np.array([axis for _, axis in twisted])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turned = quaternions.multiply(rests, np.pad(axes, ((0, 0), (0, 1))))
    rows = np.concatenate([axes, turned], 1).reshape(-1, LANES, AXIS_ROWS)
    flat: Floats = rows.swapaxes(1, 2).astype(np.float32).ravel()
    return flat


def _curves(fractions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of every block (B, 1 + 2 * DEGREES, 8) for fractions (B * 8,)."""
    nodes = (1 - exact.cos_each(np.pi * (np.arange(DEGREES) + 0.5) / DEGREES)) / 2
    angles = exact.acos_each(1 - nodes)
    powers = np.vander(nodes)

    def fitted(part: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = exact.sin_each(part[:, None] * angles) / exact.sin_each(angles)
        return exact.solve(powers, weights.T).astype(np.float64)

    rows = (fractions[None], fitted(fractions), fitted(1 - fractions))
    return (
        np.concatenate(rows).reshape(-1, len(fractions) // LANES, LANES).swapaxes(0, 1)
    )
