"""Uneven ground, and shadows that lie on it, as what a backend draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, RGBA, DrawItem, DrawMesh, Look
from flexor.errors import SettingError, ShapeError
from flexor.scene.ground import SURFACES, Ground

__all__ = [
    "GroundAssets",
    "Plain",
    "build_ground",
    "build_shadow",
    "shade_colours",
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
LEFT: RGB = (0.36, 0.39, 0.45)  # what daylight has in the shade


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
    palette = _palette(plain)
    places, triangles = ground.mesh()
    # The triangles of a cell, a c d and a d b, are the quad a c d b.
    quads = triangles.reshape(-1, 6)[:, [0, 1, 2, 5]]
    corners = quads.ravel()
    x, _, z = places[quads].mean(1).T
    odd = _squares(ground, x, z)
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


def _palette(plain: Plain) -> NDArray[np.float64]:
    """Colours by surface, of even and odd squares: (S, 2, 3)."""
    if plain not in get_args(Plain):
        known = ", ".join(get_args(Plain))
        raise SettingError(f"plain: {plain!r}, expected one of {known}")
    names = [plain if name == "plain" else name for name in SURFACES]
    return np.array([COLOURS[name] for name in names])


def _squares(
    ground: Ground, x: NDArray[np.floating], z: NDArray[np.floating]
) -> NDArray[np.int64]:
    """Whether places are on an odd square; squares are whole cells."""
    side = max(round(SQUARE / ground.step), 1) * ground.step
    across = np.floor((x - ground.corner[0]) / side)
    along = np.floor((z - ground.corner[1]) / side)
    odd: NDArray[np.int64] = (across + along).astype(np.int64) % 2
    return odd


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


def shade_colours(
    ground: Ground, places: Floats, plain: Plain = "grass", left: RGB = LEFT
) -> Floats:
    """What colours a ground has in the shade, at places (..., 3): float32 (..., 4).

    left: the light that is left there, linear. For the tints of characters, or for the
    colours of all places of one shadow.
    """
    palette = _palette(plain)
    x, z = places[..., 0], places[..., 2]
    rows, columns = ground.surfaces.shape
    across = np.floor((x - ground.corner[0]) / ground.step).astype(np.int64)
    along = np.floor((z - ground.corner[1]) / ground.step).astype(np.int64)
    across, along = across.clip(0, columns - 1), along.clip(0, rows - 1)
    colours = np.ones((*x.shape, 4), np.float32)
    own = palette[ground.surfaces[along, across], _squares(ground, x, z)]
    colours[..., :3] = own * np.array(left)
    return colours


def build_shadow(
    mesh: int,
    positions: Floats,
    *,
    tints: Floats | None = None,
    colours: Floats | None = None,
    opacity: float = OPACITY,
) -> DrawItem:
    """Shadows of n characters, flat on the ground: positions (n, P, 3).

    They must be a little above the ground. Both sides are drawn, as flattening turns
    half of the faces over. A shadow must be no darker where parts of it, or two of
    them, lie over each other, which blending would make it; so there are two ways:

    With tints (n, 4) or colours (P, 4), of `shade_colours`, it is drawn as ground that
    the sun does not reach, and nothing is seen through it: smooth, and true while it
    lies on that ground alone. Without, it is dark and seen through, over anything:
    opacity is the share of the pixels that is drawn, always the same ones.
    """
    if positions.ndim != 3:
        raise ShapeError(f"positions: shape {positions.shape}, expected (n, P, 3)")
    look = Look(colour=SHADE, cull="none", shading="unlit", opacity=opacity)
    if tints is not None or colours is not None:
        look = Look(cull="none", shading="unlit")
    return DrawItem(mesh, positions, None, look, tints=tints, colours=colours)
