"""Surfaces of crowds as what a backend draws: one item for all who share a level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, first_same
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawMesh, Look, Strokes
from flexor.draw.scene.upload import SceneAssets
from flexor.errors import ShapeError

__all__ = [
    "CrowdSurface",
    "HeightAt",
    "build_field",
    "build_shadows",
    "build_surface",
    "lay_shadows",
    "upload_field",
    "upload_ground_disc",
    "upload_shadow_disc",
    "upload_surface",
]

HeightAt = Callable[[NDArray[np.floating], NDArray[np.floating]], NDArray[np.float64]]

RIM = 12  # corners of a shadow
DARK = 0.38  # of a shadow in its middle
DARKER, RING = 0.55, 0.5  # of one that lies on a ground, up to a part of its reach
LIFT = 0.004  # of a character's reach: how far its shadow is above the floor
BULGE = 0.04  # the same on ground that is not flat
FIELD = 48  # quads across
ACROSS = 0.35  # of what makes stripes differ: the part of those along x


@dataclass(frozen=True, slots=True)
class CrowdSurface:
    """A surface at one level: number of its mesh, and row of a part of the scene whose
    looks it has.
    """

    number: int
    part: int


def build_surface(
    surface: CrowdSurface,
    look: Look,
    strokes: Strokes | None,
    positions: Floats,
    normals: Floats,
    tints: Floats,
) -> DrawItem:
    """The surface of n characters: positions, normals (n, P, 3); tints (n, 4)."""
    is_flat = look.shading == "flat"
    return DrawItem(
        surface.number,
        positions,
        None if is_flat else normals,
        look,
        strokes,
        tints=tints,
    )


def upload_surface(
    assets: SceneAssets, sources: Ints, faces: Ints
) -> CrowdSurface | None:
    """Upload a surface at one level; None if it has no triangles.

    sources: int32 (P, 3), node, primitive and vertex that each place shows; faces:
    int32 (F, 3), places.
    """
    if not len(faces):
        return None
    rows_of = {
        (part.node, part.primitive): row for row, part in enumerate(assets.parts)
    }
    texcoords = np.zeros((len(sources), 2), np.float32)
    colours = np.ones((len(sources), 4), np.float32)
    welded = np.empty((len(sources), 3), np.int32)
    has_texcoords = has_colours = False
    first = -1
    for place in dict.fromkeys(map(tuple, sources[:, :2].tolist())):
        row = rows_of.get(place, -1)
        mesh = assets.parts[row].mesh if row >= 0 else None
        if mesh is None:
            node, primitive = place
            raise ShapeError(f"sources: no triangles in {primitive} at node {node}")
        first = row if first < 0 else first
        rows = np.flatnonzero((sources[:, :2] == place).all(1))
        vertices = sources[rows, 2]
        welded[rows] = sources[rows]
        if mesh.welded is not None:
            welded[rows, 2] = mesh.welded[vertices]
        if mesh.texcoords is not None:
            texcoords[rows], has_texcoords = mesh.texcoords[vertices], True
        if mesh.colours is not None:
            colours[rows], has_colours = mesh.colours[vertices], True
    number = assets.backend.upload(
        DrawMesh(
            len(sources),
            faces.copy(),
            texcoords if has_texcoords else None,
            colours if has_colours else None,
            welded=first_same(welded),
        )
    )
    return CrowdSurface(number, first)


def upload_shadow_disc(backend: Backend) -> int:
    """A soft disc, uploaded; `build_shadows` puts it under characters."""
    rim = np.arange(RIM, dtype=np.int32)
    faces = np.stack([np.zeros_like(rim), 1 + rim, 1 + (rim + 1) % RIM], 1)
    colours = np.zeros((1 + RIM, 4), np.float32)
    colours[0, 3] = DARK
    return backend.upload(DrawMesh(1 + RIM, faces, colours=colours))


def build_shadows(number: int, places: Floats, reaches: Floats) -> DrawItem:
    """Shadows of n characters: places (n, 3), on the floor; reaches (n,), metres."""
    points = places[:, None] + _disc(1.0) * reaches[:, None, None]
    points[..., 1] += LIFT * reaches[:, None]
    return DrawItem(number, points, None, Look(alpha="blend", shading="unlit"))


def upload_ground_disc(backend: Backend) -> int:
    """A disc that is dark up to a ring and soft beyond it, beside shadows that are
    cast; `lay_shadows` lays it on a ground.
    """
    rim = np.arange(RIM, dtype=np.int32)
    after = (rim + 1) % RIM
    inner, outer = 1 + rim, 1 + RIM + rim
    core = np.stack([np.zeros_like(rim), inner, 1 + after], 1)
    around = [
        np.stack([inner, outer, 1 + RIM + after], 1),
        np.stack([inner, 1 + RIM + after, 1 + after], 1),
    ]
    colours = np.zeros((1 + 2 * RIM, 4), np.float32)
    colours[: 1 + RIM, 3] = DARKER
    faces = np.concatenate([core, *around])
    return backend.upload(DrawMesh(len(colours), faces, colours=colours))


def lay_shadows(
    number: int, places: Floats, reaches: Floats, height: HeightAt
) -> DrawItem:
    """Shadows of n characters on a ground: under places (n, 3); reaches (n,), metres;
    height: how high the ground is at x and z.
    """
    disc: Floats = np.concatenate([_disc(RING), _disc(1.0)[1:]])
    points: Floats = places[:, None] + disc * reaches[:, None, None]
    points[..., 1] = height(points[..., 0], points[..., 2])
    # Between its corners a disc may be lower than ground that bulges.
    points[..., 1] += BULGE * reaches[:, None]
    return DrawItem(number, points, None, Look(alpha="blend", shading="unlit"))


def _disc(reach: float) -> Floats:
    """The middle and the rim of a disc: float32 (1 + RIM, 3)."""
    angles = np.arange(RIM) * (2 * math.pi / RIM)
    disc = np.zeros((1 + RIM, 3), np.float32)
    disc[1:, 0], disc[1:, 2] = np.sin(angles), np.cos(angles)
    return disc * np.float32(reach)


def upload_field(backend: Backend) -> int:
    """A field of quads, uploaded; `build_field` lays it out."""
    faces = np.arange(4 * FIELD * FIELD, dtype=np.int32).reshape(-1, 4)
    return backend.upload(DrawMesh(4 * FIELD * FIELD, faces))


def build_field(
    number: int,
    centre: tuple[float, float],
    reach: float,
    floor: float,
    colours: tuple[RGB, RGB],
    paper: RGB | None,
) -> DrawItem:
    """A lawn mown in stripes around a place, which fades into the paper.

    centre: x and z; reach: metres to its edge; colours: the darkest and the lightest of
    the stripes, linear; paper: linear, what it is at its edge, None for nothing at all.
    Stripes lie on multiples of their width; those along z are stronger, those along x
    show how one goes on.
    """
    width = 2 * reach / FIELD
    marks = (np.arange(FIELD + 1) - FIELD / 2) * width
    x = marks + np.round(centre[0] / (2 * width)) * 2 * width
    z = marks + np.round(centre[1] / (2 * width)) * 2 * width
    left, near = np.meshgrid(np.arange(FIELD), np.arange(FIELD))
    corners = [(0, 0), (0, 1), (1, 1), (1, 0)]  # counter-clockwise from above
    points = np.zeros((FIELD * FIELD, 4, 3), np.float32)
    points[..., 1] = floor
    for corner, (dx, dz) in enumerate(corners):
        points[:, corner, 0] = x[left.ravel() + dx]
        points[:, corner, 2] = z[near.ravel() + dz]
    away = np.hypot(points[..., 0] - centre[0], points[..., 2] - centre[1]) / reach
    fade = np.clip((1.02 - away) / 0.6, 0, 1)[..., None]
    light = (1 - ACROSS) * (left.ravel() % 2) + ACROSS * (near.ravel() % 2)
    dark, bright = np.array(colours)
    stripe = dark + (bright - dark) * light[:, None, None]
    tints = np.ones((FIELD * FIELD, 4, 4), np.float32)
    if paper is None:
        tints[..., :3], tints[..., 3:] = stripe, fade
    else:
        tints[..., :3] = np.array(paper) + (stripe - np.array(paper)) * fade
    return DrawItem(
        number,
        points.reshape(-1, 3),
        None,
        Look(alpha="blend" if paper is None else "opaque", shading="unlit"),
        colours=tints.reshape(-1, 4),
    )
