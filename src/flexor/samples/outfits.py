"""What the mannequin can wear, painted on its texture by code.

A region of the surface is a signed distance in metres at rest, above 0 inside, so that
borders are crisp at any size; the unwrap says where each texel lies on the body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from flexor.arrays import Bools, Doubles, Pixels, Rows
from flexor.errors import SettingError

RGB = tuple[float, float, float]

__all__ = ["OUTFITS", "paint_outfit"]

SIZE = 512  # texels a side
SOFT = 0.003  # metres over which a border goes from one colour to the other
BLEED = 4  # texels by which charts are painted over their borders
GRAIN = 0.35  # how much of the light and shade of the wood cloth keeps
ARM, ARM_WAY = (0.198, 1.437), 0.7071067811865476  # where an arm at rest begins
BLACK, WHITE = (0.012, 0.012, 0.014), (0.86, 0.86, 0.84)


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The mannequin's surface by texel, N of them.

    rows, columns: (N,), in the texture; x to the left, y up, z ahead: (N,), metres at
    rest; along: (N,), metres along an arm from its shoulder; is_arm: (N,), whether it
    is on one; wood: (SIZE, SIZE, 3), linear; light: (N,), of the wood, about 1.
    """

    rows: Rows
    columns: Rows
    x: Doubles
    y: Doubles
    z: Doubles
    along: Doubles
    is_arm: Bools
    wood: Doubles
    light: Doubles


class _Paint:
    """Colours (N, 3), painted over each other."""

    def __init__(self, body: Surface) -> None:
        self._wood = self.colours = body.wood[body.rows, body.columns]
        self._light = (1 - GRAIN + GRAIN * body.light)[:, None]

    def over(self, inside: Doubles, colour: Any, edge: float = 0.0) -> None:
        """Paint where a distance (N,) is above 0; edge: metres of a darker border."""
        share = np.clip(inside / SOFT + 0.5, 0.0, 1.0)[:, None]
        own = np.asarray(colour, np.float64) * self._light
        if edge:
            own = own * (0.45 + 0.55 * np.clip(inside / edge, 0.0, 1.0))[:, None]
        self.colours = self.colours + share * (own - self.colours)

    def bare(self, inside: Doubles) -> None:
        """Show the wood where a distance (N,) is above 0."""
        share = np.clip(inside / SOFT + 0.5, 0.0, 1.0)[:, None]
        self.colours = self.colours + share * (self._wood - self.colours)


def _between(value: Doubles, low: float, high: float) -> Doubles:
    return np.minimum(value - low, high - value)


def _all(*insides: Doubles) -> Doubles:
    return np.asarray(np.minimum.reduce(insides))


def _any(*insides: Doubles) -> Doubles:
    return np.asarray(np.maximum.reduce(insides))


def _where(mask: Bools) -> Doubles:
    return np.where(mask, 1.0, -1.0)


def _gi(body: Surface, paint: _Paint, tint: Doubles) -> None:
    """Jacket and trousers of one colour, a black belt; head, hands and feet bare."""
    side, limb = np.abs(body.x), _where(body.is_arm)
    cloth, dark = 0.86 * tint, 0.34 * tint
    front = body.z + 0.004
    opening = _all(0.40 * (body.y - 1.20) - side, front, body.y - 1.18)
    collar = np.hypot(side, body.z + 0.022) - 0.072
    trunk = _all(
        -limb, body.y - 0.83, 1.512 - body.y, np.maximum(collar, 1.44 - body.y)
    )
    trousers = _all(-limb, _between(body.y, 0.19, 0.84))
    sleeves = _all(limb, 0.455 - body.along)
    paint.over(trousers, 0.93 * cloth, edge=0.012)
    paint.over(_any(trunk, sleeves), cloth, edge=0.014)
    lapel = _all(_between(opening, -0.030, 0.0), _where(body.y > 1.17), front, trunk)
    overlap = _all(
        0.013 - np.abs(body.x + 0.42 * (1.205 - body.y)),
        _between(body.y, 1.05, 1.215),
        front,
    )
    paint.over(_any(lapel, overlap), dark, edge=0.006)
    paint.bare(_all(opening, -limb))
    paint.over(_all(-limb, _between(body.y, 1.010, 1.062)), BLACK)
    knot = _all(0.026 - side, _between(body.y, 0.998, 1.074), front)
    for way in (-1.0, 1.0):
        hangs = np.abs(body.x - way * (0.022 + 0.16 * (1.0 - body.y)))
        end = _all(0.017 - hangs, _between(body.y, 0.865, 1.01), front)
        paint.over(end, BLACK, edge=0.006)
    paint.over(knot, (0.03, 0.03, 0.034), edge=0.008)


def _shorts(body: Surface, paint: _Paint, tint: Doubles) -> None:
    """Boxer's shorts, gloves and boots of one colour, white bands and wraps."""
    side, limb = np.abs(body.x), _where(body.is_arm)
    cloth = 0.80 * tint
    paint.over(_all(-limb, _between(body.y, 0.60, 1.02)), cloth, edge=0.012)
    stripe = _all(0.020 - np.abs(body.z + 0.004), side - 0.10, -limb)
    paint.over(_all(stripe, _between(body.y, 0.602, 1.0)), WHITE)
    paint.over(_all(-limb, _between(body.y, 0.975, 1.03)), WHITE, edge=0.004)
    paint.over(_all(limb, _between(body.along, 0.425, 0.54)), WHITE)
    bands = np.abs((body.along - 0.425) % 0.023 - 0.0115) - 0.0095
    bands = _all(bands, limb, _between(body.along, 0.43, 0.52))
    paint.over(bands, 0.45 * np.asarray(WHITE))
    paint.over(_all(limb, body.along - 0.522), cloth, edge=0.012)
    paint.over(_all(-limb, 0.235 - body.y), 0.22 * cloth + 0.01, edge=0.010)
    paint.over(_all(-limb, _between(body.y, 0.205, 0.225)), WHITE)
    paint.over(_all(-limb, 0.016 - body.y), WHITE)
    laces = np.abs((body.y - 0.08) % 0.030 - 0.015) - 0.010
    shin = np.abs(side - 0.118)
    laces = _all(laces, 0.020 - shin, body.z + 0.02, _between(body.y, 0.085, 0.205))
    paint.over(_all(laces, -limb), WHITE)


def _armour(body: Surface, paint: _Paint, tint: Doubles) -> None:
    """Plates of one colour on a dark suit, a head guard with an open face."""
    side, limb = np.abs(body.x), _where(body.is_arm)
    suit, steel, plate = (0.022, 0.024, 0.030), (0.20, 0.21, 0.23), 0.78 * tint
    edge = 0.010
    paint.over(_any(limb, 1.545 - body.y), suit)
    front = body.z + 0.004
    trunk, leg = -limb, _all(-limb, 0.9 - body.y)
    chest = _all(trunk, _between(body.y, 1.215, 1.455), side - 0.004)
    paint.over(chest, plate, edge)
    for low in (1.045, 1.103, 1.161):
        band = _all(trunk, _between(body.y, low, low + 0.048), 0.105 - side)
        paint.over(band, 0.8 * plate, edge)
    paint.over(_all(trunk, _between(body.y, 0.985, 1.035)), steel, edge)
    paint.over(_all(trunk, _between(body.y, 0.86, 0.975), 0.055 - side), plate, edge)
    x, y = side - ARM[0], body.y - ARM[1]
    shoulder = 0.090 - np.sqrt(x**2 + (y + 0.004) ** 2 + (body.z + 0.016) ** 2)
    paint.over(_all(shoulder, side - 0.148), plate, edge)
    paint.over(_all(limb, _between(body.along, 0.345, 0.515)), plate, edge)
    elbow = _all(limb, _between(body.along, 0.255, 0.325), -body.z - 0.012)
    paint.over(elbow, steel, edge)
    paint.over(_all(limb, body.along - 0.552, 0.625 - body.along), steel, edge)
    thigh = _all(leg, _between(body.y, 0.60, 0.83), body.z + 0.015 + 0.5 * (side - 0.1))
    paint.over(thigh, plate, edge)
    paint.over(_all(leg, _between(body.y, 0.455, 0.565), front), steel, edge)
    shin = _all(leg, _between(body.y, 0.135, 0.440), body.z + 0.022)
    paint.over(shin, plate, edge)
    paint.over(_all(leg, 0.118 - body.y), 0.55 * plate, edge)
    paint.over(_all(leg, 0.016 - body.y), suit)
    face = _all(0.058 - side, _between(body.y, 1.575, 1.715), body.z - 0.02)
    guard = _all(body.y - 1.602, -face)
    paint.over(guard, plate, 0.008)
    crest = _all(0.014 - side, body.y - 1.72)
    paint.over(crest, steel)


OUTFITS: Mapping[str, Callable[[Surface, _Paint, Doubles], None]] = {
    "gi": _gi,
    "shorts": _shorts,
    "armour": _armour,
}
"""What there is to wear, by name."""


def paint_outfit(scene: Any, outfit: str, colour: RGB = (1.0, 1.0, 1.0)) -> Pixels:
    """The texture of the mannequin in an outfit: sRGB and alpha (SIZE, SIZE, 4).

    scene: the mannequin's; colour: linear, of the cloth, not of the wood.
    """
    if outfit not in OUTFITS:
        raise SettingError(f"outfit: {outfit!r}, expected one of: {', '.join(OUTFITS)}")
    body = _surface(scene)
    paint = _Paint(body)
    OUTFITS[outfit](body, paint, np.asarray(colour, np.float64))
    picture = body.wood.copy()
    picture[body.rows, body.columns] = paint.colours
    picture = _bleed(picture, body)
    pixels = np.full((SIZE, SIZE, 4), 255, np.uint8)
    pixels[..., :3] = np.rint(255.0 * _encoded(np.clip(picture, 0.0, 1.0)))
    return pixels


def _bleed(picture: Doubles, body: Surface) -> Doubles:
    """Carry the colours of charts some texels beyond their borders."""
    known = np.zeros((SIZE, SIZE), bool)
    known[body.rows, body.columns] = True
    for _ in range(BLEED):
        for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
            near = np.roll(known, step, axis) & ~known
            picture[near] = np.roll(picture, step, axis)[near]
            known |= near
    return picture


def _encoded(linear: Doubles) -> Doubles:
    low = linear <= 0.0031308
    return np.where(low, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _linear(encoded: Doubles) -> Doubles:
    low = encoded <= 0.04045
    return np.where(low, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


_made: list[tuple[Any, Surface]] = []


def _surface(scene: Any) -> Surface:
    """The surface of a scene's first primitive, kept for the last one asked for."""
    meshes = scene.meshes
    if not _made or _made[0][0] is not meshes:
        _made[:] = [(meshes, _make_surface(scene))]
    return _made[0][1]


def _make_surface(scene: Any) -> Surface:
    from PIL import Image

    primitive = scene.meshes[0].primitives[0]
    with Image.open(BytesIO(scene.images[0].data)) as picture:
        large = picture.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    wood = _linear(np.asarray(large, np.float64) / 255.0)
    faces = primitive.triangles().astype(np.intp)
    texels, face, shares = _rasterise(primitive.texcoords[0].astype(np.float64), faces)
    corners = faces[face]
    points = np.einsum("nk,nkd->nd", shares, primitive.positions[corners])
    names = np.array(scene.skeleton.names)[scene.skins[0].joints]
    heaviest = names[primitive.skin.joints[:, 0]]
    parts = np.array([name.partition("-")[2] or name for name in heaviest])
    is_arm = ~np.isin(
        parts,
        [
            *("hips", "spine0", "spine1", "chest", "neck", "head", "shoulder"),
            *("hip", "hip-roll", "knee", "knee-roll", "ankle", "foot", "toe"),
        ],
    )
    nearest = corners[np.arange(len(corners)), shares.argmax(1)]
    side = np.abs(points[:, 0])
    rows, columns = texels.T
    light = wood[rows, columns].mean(1)
    return Surface(
        rows,
        columns,
        points[:, 0],
        points[:, 1],
        points[:, 2],
        ((side - ARM[0]) + (ARM[1] - points[:, 1])) * ARM_WAY,
        is_arm[nearest],
        wood,
        light / light.mean(),
    )


def _rasterise(texcoords: Doubles, faces: Rows) -> tuple[Rows, Rows, Doubles]:
    """Texels (N, 2) that faces cover, their faces (N,) and shares of corners (N, 3)."""
    corner = texcoords[faces] * SIZE
    low = np.clip(np.floor(corner.min(1)), 0, SIZE - 1).astype(np.intp)
    high = np.clip(np.ceil(corner.max(1)), 0, SIZE - 1).astype(np.intp)
    wide = (high - low).max(1) + 1
    found: list[tuple[Any, ...]] = []
    reach = 4
    while (wide > reach // 2).any():
        # Faces of about one size at a time, all texels of a square around each.
        rows = np.nonzero((wide <= reach) & ((wide > reach // 2) | (reach == 4)))[0]
        across, down = (o.ravel() for o in np.meshgrid(*[np.arange(reach)] * 2))
        x = low[rows, 0, None] + across
        y = low[rows, 1, None] + down
        a, b, c = corner[rows].transpose(1, 0, 2)[:, :, None]
        area = (b - a)[..., 0] * (c - a)[..., 1] - (c - a)[..., 0] * (b - a)[..., 1]
        px, py = x + 0.5 - a[..., 0], y + 0.5 - a[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            u = (px * (c - a)[..., 1] - (c - a)[..., 0] * py) / area
            v = ((b - a)[..., 0] * py - px * (b - a)[..., 1]) / area
        inside = (u >= -0.05) & (v >= -0.05) & (u + v <= 1.05)
        inside &= (x < SIZE) & (y < SIZE)
        own, at = np.nonzero(inside)
        u, v = u[own, at], v[own, at]
        shares = np.stack([1 - u - v, u, v], 1)
        found.append((np.stack([y[own, at], x[own, at]], 1), rows[own], shares))
        reach *= 2
    texels, face, shares = (np.concatenate(o) for o in zip(*found, strict=True))
    return texels, face, shares
