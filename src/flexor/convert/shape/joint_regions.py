"""The skin around a joint as a closed solid, to see how much of it a bend keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.shape.body import Body
from flexor.convert.shape.bones import Bones, ties
from flexor.convert.shape.sections import Sections
from flexor.convert.shape.surface import Surface
from flexor.maths import quaternions
from flexor.scene.character.skeleton import Link
from flexor.scene.character.tree import ancestors

__all__ = ["Region", "joint_regions", "region_volume"]

LEAST_FACES = 8  # fewer are no tube
WIDE = 1.5  # of the larger radius: what is further from the axis is another part
# 36 pi V^2 / A^3, which is 1 for a ball and 0.67 for a tube as long as it is wide: less
# is a sheet and not a solid.
LEAST_FULL = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A part of the surface around a joint, closed by a fan over each open rim.

    joint: its row; points: int32 (R,), of the surface; faces: int32 (F, 3), rows among
    these points, those that close it among them: the middle of rim i is point R + i;
    rims: int32 (E,), rows among the points, and rim_of: int32 (E,), the rim each is
    on; open_faces: how many of the faces are the surface's own, the first ones.
    """

    joint: int
    points: Ints
    faces: Ints
    rims: Ints
    rim_of: Ints
    open_faces: int

    def closed(self, places: NDArray[np.floating]) -> NDArray[np.float64]:
        """Places (N, R, 3) with the middles of the rims after them: (N, R + C, 3)."""
        count = int(self.rim_of.max(initial=-1)) + 1
        middles = np.zeros((len(places), count, 3))
        for rim in range(count):
            middles[:, rim] = places[:, self.rims[self.rim_of == rim]].mean(1)
        return np.concatenate([places.astype(np.float64), middles], 1)


def region_volume(region: Region, places: NDArray[np.floating]) -> NDArray[np.float64]:
    """The volume (N,) of a region whose points are at `places` (N, R, 3).

    Cubic metres; negative where the surface is inside out.
    """
    # Near the origin, so that large coordinates cost no digits.
    near = places - places.mean(1, keepdims=True, dtype=np.float64)
    corners = region.closed(near)[:, region.faces]
    across = quaternions.cross(corners[:, :, 0], corners[:, :, 1])
    volume: NDArray[np.float64] = (across * corners[:, :, 2]).sum((1, 2)) / 6
    return volume


def joint_regions(
    body: Body,
    surface: Surface,
    bones: Bones,
    sections: Sections,
    links: Mapping[int, Link],
) -> dict[int, Region]:
    """The region of every joint that has one, by its row.

    surface: the body's, by place; links: of the skeleton, by node. Joints are left out
    that have no joint above them, are links themselves, or move nothing; and those
    around which the skin is no solid: no open rim, few faces, or a mere sheet.

    A region is what lies within half the length of the joint's links and its radius,
    along the bone and from its axis, and hangs on the joint, on the one above it, on
    links of both or on anything below: of that, the connected part nearest the joint.
    """
    tied = ties(body.pull, len(body.joints))
    faces = surface.point_of_vertex[body.faces]
    below = _below(body.parents)
    found = {}
    for row, node in enumerate(body.joints.tolist()):
        above = int(body.parents[row])
        if above < 0 or node in links:
            continue
        follow = _links_of(body, links, {node})
        moved = [*below[row], *follow]
        if not any(len(tied[other]) for other in moved):
            continue
        around = {*moved, above, *_links_of(body, links, {int(body.joints[above])})}
        vertices = np.concatenate([tied[other] for other in sorted(around)])
        is_near = np.zeros(len(surface), bool)
        is_near[surface.point_of_vertex[vertices]] = True
        candidates = np.flatnonzero(is_near)
        local = bones.local(row, surface.positions[candidates])
        is_near[candidates[~_is_close(local, bones, sections, row)]] = False
        region = _region(row, surface, faces[is_near[faces].all(1)], bones.bases[row])
        if region is not None:
            found[row] = region
    return found


def _below(parents: Ints) -> list[list[int]]:
    """For each joint itself and all below it."""
    below = [[row] for row in range(len(parents))]
    for row in range(len(parents)):
        for above in ancestors(parents, row):
            below[above].append(row)
    return below


def _links_of(body: Body, links: Mapping[int, Link], joints: set[int]) -> list[int]:
    """Rows of the links that follow some nodes."""
    return [
        row
        for row, node in enumerate(body.joints.tolist())
        if node in links and links[node].joint in joints
    ]


def _is_close(
    local: NDArray[np.float64], bones: Bones, sections: Sections, row: int
) -> NDArray[np.bool_]:
    """Which places (P, 3) of a bone's frame are around its base."""
    radius = float(sections.thickness[row, 0])
    reach = (0.3 * bones.lengths[row] + 1.5 * radius) / 2 + radius
    widest = float(
        sections.radii[row, 0].max() + np.abs(sections.offsets[row, 0]).max()
    )
    away = np.hypot(local[:, 1], local[:, 2])
    close = (away <= max(reach, WIDE * widest)) & (np.abs(local[:, 0]) <= reach)
    return np.asarray(close)


def _region(
    row: int, surface: Surface, faces: Ints, pivot: NDArray[np.float64]
) -> Region | None:
    """The part of some faces (F, 3) of the surface that is nearest, closed."""
    flat = (
        (faces[:, 0] == faces[:, 1])
        | (faces[:, 1] == faces[:, 2])
        | (faces[:, 2] == faces[:, 0])
    )
    points, corners = np.unique(faces[~flat], return_inverse=True)
    mine = _nearest_part(
        corners.reshape(-1, 3), np.asarray(surface.positions[points], float), pivot
    )
    if len(mine) < LEAST_FACES:
        return None
    kept, rows = np.unique(points[mine], return_inverse=True)
    own = rows.reshape(-1, 3)
    begin, end = _rim(own)
    if not len(begin):
        return None
    labels = _labels(begin, end, len(kept))[begin]
    rim_of = np.unique(labels, return_inverse=True)[1]
    # Each open side is closed the other way round, with the middle of its rim.
    caps = np.stack([end, begin, len(kept) + rim_of], 1)
    region = Region(
        row,
        kept.astype(np.int32),
        np.concatenate([own, caps]).astype(np.int32),
        begin.astype(np.int32),
        rim_of.astype(np.int32),
        len(own),
    )
    return region if _is_solid(region, surface) else None


def _is_solid(region: Region, surface: Surface) -> bool:
    places = surface.positions[region.points].astype(np.float64)[None]
    volume = abs(float(region_volume(region, places)[0]))
    corners = region.closed(places)[0][region.faces]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = float(np.linalg.norm(np.cross(first, second), axis=1).sum()) / 2
    # Of a body so small that the products vanish, nothing can be said.
    return 36 * np.pi * volume**2 > max(LEAST_FULL * area**3, 1e-300)


def _nearest_part(
    faces: NDArray[np.intp], places: NDArray[np.float64], pivot: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Of the connected parts with enough faces the one nearest the pivot: (F', 3)."""
    if not len(faces):
        return faces
    labels = _labels(faces.ravel(), np.roll(faces, 1, 1).ravel(), len(places))
    counts = np.bincount(labels[faces[:, 0]], minlength=len(places))
    away = np.linalg.norm(places - pivot, axis=1)
    away[counts[labels] < LEAST_FACES] = np.inf
    mine: NDArray[np.intp] = faces[labels[faces[:, 0]] == labels[np.argmin(away)]]
    return mine


def _labels(
    first: NDArray[np.intp], second: NDArray[np.intp], count: int
) -> NDArray[np.int32]:
    """The connected part of each of `count` points, joined by pairs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(len(first), np.int8), (first, second)), (count, count))
    labels: NDArray[np.int32] = connected_components(joined.tocsr(), directed=False)[1]
    return labels


def _rim(faces: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Begin and end (E,) of the sides that no other face closes.

    A side that several faces have in one direction more than in the other is open that
    many times: so what closes the rims closes any surface.
    """
    begin = faces.ravel()
    end = np.roll(faces, -1, 1).ravel()
    count = int(faces.max()) + 1
    low, high = np.minimum(begin, end), np.maximum(begin, end)
    keys, group = np.unique(low * count + high, return_inverse=True)
    net = np.bincount(group, np.where(begin < end, 1.0, -1.0), len(keys)).astype(int)
    lows, highs = keys // count, keys % count
    times = np.abs(net)
    begin = np.repeat(np.where(net > 0, lows, highs), times)
    end = np.repeat(np.where(net > 0, highs, lows), times)
    return begin.astype(np.intp), end.astype(np.intp)
