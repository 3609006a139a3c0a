"""Uneven ground, and shadows that lie on it, as what a backend draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from flexor.arrays import Floats, Ints, check_input, freeze
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, RGBA, DrawItem, DrawMesh, Look
from flexor.errors import SettingError, ShapeError
from flexor.scene.ground import SURFACES, Ground

__all__ = [
    "GroundAssets",
    "Plain",
    "build_ground",
    "build_shadow",
    "upload_cast_shadow",
    "upload_ground",
]

Plain = Literal["grass", "stone"]
# Linear colours by surface, of even and odd squares: slopes are seen by them.
COLOURS: dict[str, tuple[RGB, RGB]] = {
    "grass": ((0.115, 0.235, 0.075), (0.135, 0.27, 0.085)),
    "stone": ((0.27, 0.26, 0.25), (0.31, 0.3, 0.285)),
    "sand": ((0.56, 0.44, 0.26), (0.6, 0.475, 0.285)),
    "water": ((0.05, 0.16, 0.24), (0.055, 0.175, 0.26)),
}
SQUARE = 0.5  # metres, of the squares
SHADE: RGBA = (0.012, 0.014, 0.02, 1.0)
OPACITY = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class GroundAssets:
    """A ground in a backend.

    mesh: its number; positions, normals: float32 (V, 3), four vertices a cell.
    """

    mesh: int
    positions: Floats
    normals: Floats

    def __post_init__(self) -> None:
        for name in ("positions", "normals"):
            value = freeze(getattr(self, name), np.float32, (None, 3), name)
            object.__setattr__(self, name, value)


def upload_ground(
    backend: Backend, ground: Ground, plain: Plain = "grass"
) -> GroundAssets:
    """Upload a ground; plain: what its plain cells look like."""
    if plain not in get_args(Plain):
        known = ", ".join(get_args(Plain))
        raise SettingError(f"plain: {plain!r}, expected one of {known}")
    places, triangles = ground.mesh()
    # The triangles of a cell, a c d and a d b, are the quad a c d b.
    quads = triangles.reshape(-1, 6)[:, [0, 1, 2, 5]]
    corners = quads.ravel()
    names = [plain if name == "plain" else name for name in SURFACES]
    palette = np.array([COLOURS[name] for name in names])
    middles = places[quads].mean(1)[:, [0, 2]]
    odd = np.floor(middles / max(SQUARE, ground.step)).sum(1).astype(np.int64) % 2
    colours = np.ones((len(quads), 4, 4), np.float32)
    colours[..., :3] = palette[ground.surfaces.ravel(), odd][:, None]
    mesh = DrawMesh(
        corners.size,
        np.arange(corners.size, dtype=np.int32).reshape(-1, 4),
        colours=colours.reshape(-1, 4),
    )
    return GroundAssets(
        backend.upload(mesh),
        places[corners].astype(np.float32),
        _normals(ground)[corners].astype(np.float32),
    )


def _normals(ground: Ground) -> Floats:
    """Normals (R * C, 3) of the points of a ground, of the slopes around them."""
    along, across = np.gradient(ground.heights, ground.step)
    normals = np.stack([-across, np.ones_like(across), -along], -1).reshape(-1, 3)
    unit: Floats = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    return unit


def build_ground(assets: GroundAssets, *, smooth: bool = False) -> DrawItem:
    """The ground, lit; smooth: as if it were round, otherwise by its triangles."""
    if smooth:
        return DrawItem(assets.mesh, assets.positions, assets.normals, Look())
    return DrawItem(assets.mesh, assets.positions, None, Look(shading="flat"))


def upload_cast_shadow(backend: Backend, faces: Ints, count: int) -> int:
    """Upload the faces (F, 3) of a shadow of `count` vertices; gives its number."""
    return backend.upload(DrawMesh(count, np.array(faces, np.int32)))


def build_shadow(
    mesh: int,
    positions: Floats,
    *,
    colour: RGBA = SHADE,
    opacity: float = OPACITY,
) -> DrawItem:
    """Shadows of n characters, flat on the ground: positions (n, P, 3).

    They must be a little above the ground. Both sides are drawn, as flattening turns
    half of the faces over. opacity: the share of the pixels that is drawn, always the
    same ones: so a shadow is no darker where parts of it, or two of them, lie over each
    other, which blending would make it.
    """
    if positions.ndim != 3:
        raise ShapeError(f"positions: shape {positions.shape}, expected (n, P, 3)")
    check_input(positions, np.float32, positions.shape, "positions")
    look = Look(colour=colour, cull="none", shading="unlit", opacity=opacity)
    return DrawItem(mesh, positions, None, look)
