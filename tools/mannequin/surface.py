"""The paint: a wood grain baked on the charts of `unwrap`.

The wood is a solid pattern evaluated at each texel's place in the body, so it runs
across chart borders without a seam. Every limb is its own piece of wood with its grain
along the bone; hollows between the pieces are darker, as on a handled lay figure.
"""

import io

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from tools.mannequin.body import Skin
from tools.mannequin.field import BodyField
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rotation import normalize
from tools.mannequin.unwrap import Charts

TEXTURE_SIZE = 256
_COLOURS = 96
_LIGHT = np.array([0.872, 0.700, 0.488])
_DARK = np.array([0.770, 0.572, 0.362])
_HOLLOW = np.array([0.560, 0.380, 0.225])

# Ball joints with a visible seam, and their radius in metres.
_BALLS = (("knee", 0.056), ("ankle", 0.040), ("elbow", 0.042), ("wrist", 0.0285))

# Pieces of wood: the nodes whose skin is cut from one blank, and its ring spacing.
_PIECES = (
    ("hips",),
    ("spine0", "spine1"),
    ("chest", "l-shoulder", "r-shoulder"),
    ("neck",),
    ("head",),
    *((f"{s}-arm", f"{s}-arm-roll") for s in "lr"),
    *((f"{s}-elbow", f"{s}-elbow-roll") for s in "lr"),
    *((f"{s}-hip", f"{s}-hip-roll") for s in "lr"),
    *((f"{s}-knee", f"{s}-knee-roll") for s in "lr"),
    *((f"{s}-ankle", f"{s}-foot", f"{s}-toe") for s in "lr"),
    *((f"{s}-wrist", f"{s}-hand") for s in "lr"),
)


def paint_wood(
    skin: Skin,
    charts: Charts,
    field: BodyField,
    nodes: NodeTable,
    joints: NDArray[np.uint16],
) -> bytes:
    """PNG of the base colour, 256 x 256; joints: (V, 4) of the skin, heaviest first."""
    from PIL import Image
    from scipy.ndimage import distance_transform_edt

    texels, points, normals, owner = _bake(skin, charts, joints[:, 0])
    grain = _grain(points, owner, nodes)
    colour = _DARK + (_LIGHT - _DARK) * grain[:, None]
    open_sky = _openness(field, points, normals) * (1.0 - _rings(points, nodes))
    colour = _HOLLOW + (colour - _HOLLOW) * open_sky[:, None]
    image = np.zeros((TEXTURE_SIZE, TEXTURE_SIZE, 3))
    is_set = np.zeros((TEXTURE_SIZE, TEXTURE_SIZE), bool)
    image[texels[:, 0], texels[:, 1]] = colour
    is_set[texels[:, 0], texels[:, 1]] = True
    rows, columns = distance_transform_edt(
        ~is_set, return_distances=False, return_indices=True
    )
    pixels = np.clip(np.rint(image[rows, columns] * 255.0), 0, 255).astype(np.uint8)
    picture = Image.fromarray(pixels).quantize(
        colors=_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
    )
    store = io.BytesIO()
    picture.save(store, "PNG", optimize=True)
    return store.getvalue()


def _bake(
    skin: Skin, charts: Charts, owners: NDArray[np.uint16]
) -> tuple[NDArray[np.intp], Doubles, Doubles, NDArray[np.intp]]:
    """Texels covered by faces: (row, column), place, normal and owning node of each."""
    corners = charts.texcoords.astype(np.float64)[charts.faces] * TEXTURE_SIZE
    texels, faces, shares = [], [], []
    for number, (a, b, c) in enumerate(corners):
        low = np.maximum(np.floor(np.minimum(np.minimum(a, b), c) - 1.0), 0.0)
        high = np.minimum(np.ceil(np.maximum(np.maximum(a, b), c)), TEXTURE_SIZE - 1)
        x, y = np.meshgrid(
            np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1)
        )
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if abs(area) < 1e-12:
            continue
        px, py = x.ravel() + 0.5, y.ravel() + 0.5
        u = ((c[1] - a[1]) * (px - a[0]) - (c[0] - a[0]) * (py - a[1])) / area
        v = ((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) / area
        inside = (u >= -0.02) & (v >= -0.02) & (u + v <= 1.02)
        share = np.stack([1.0 - u - v, u, v], axis=1)[inside]
        texels.append(np.stack([y.ravel(), x.ravel()], axis=1)[inside])
        faces.append(np.full(len(share), number))
        shares.append(share)
    face, share = np.concatenate(faces), np.concatenate(shares)
    rows = charts.source[charts.faces[face]]
    points = np.einsum("nk,nkd->nd", share, skin.positions[rows])
    normals = normalize(np.einsum("nk,nkd->nd", share, skin.normals[rows]))
    owner = owners[rows[np.arange(len(rows)), np.argmax(share, axis=1)]]
    return (
        np.concatenate(texels).astype(np.intp),
        points,
        normals,
        owner.astype(np.intp),
    )


def _grain(points: Doubles, owner: NDArray[np.intp], nodes: NodeTable) -> Doubles:
    """Wood grain (N,) in 0..1: growth rings cut by each piece, stretched along it."""
    rng = np.random.default_rng(20240)
    piece_of = np.full(len(nodes.names), -1)
    for number, names in enumerate(_PIECES):
        piece_of[nodes.indices(*names)] = number
    result = np.full(len(points), 0.62)
    for number, names in enumerate(_PIECES):
        pick = piece_of[owner] == number
        row = nodes.index(names[0])
        local = (points[pick] - nodes.positions[row]) @ nodes.frames[row]
        shift = rng.uniform(-1.0, 1.0, 6)
        pith = 0.05 + 0.10 * np.abs(shift[0])
        sway = 0.012 * np.sin(9.0 * local[:, 0] + 3.0 * shift[1])
        deep = local[:, 1] + pith * np.sign(shift[2]) + sway
        side = local[:, 2] + 0.04 * shift[3] + 0.02 * np.sin(5.0 * local[:, 0])
        radius = np.hypot(deep, side) + 0.004 * np.sin(30.0 * local[:, 2] + shift[4])
        ring = 0.5 + 0.5 * np.sin(2.0 * np.pi * radius / 0.030 + 3.0 * shift[5])
        fine = 0.5 + 0.5 * np.sin(2.0 * np.pi * radius / 0.0137 + 1.7)
        slow = 0.5 + 0.5 * np.sin(6.0 * local[:, 0] + 9.0 * local[:, 2])
        result[pick] = 0.20 + 0.42 * ring + 0.16 * fine + 0.22 * slow
    return result


def _rings(points: Doubles, nodes: NodeTable) -> Doubles:
    """Dark seams (N,), 0..1, where a ball joint meets the wood on both sides of it."""
    dark = np.zeros(len(points))
    for side in "lr":
        for name, radius in _BALLS:
            row = nodes.index(f"{side}-{name}")
            away = points - nodes.positions[row]
            along = away @ nodes.frames[nodes.parents[row], :, 0]
            near = np.linalg.norm(away, axis=1) < 1.35 * radius
            across = np.abs(along) if name in ("knee", "elbow") else -along
            ring = np.exp(-(((across - 0.80 * radius) / 0.0055) ** 2))
            dark = np.maximum(dark, np.where(near, 0.55 * ring, 0.0))
    return dark


def _openness(field: BodyField, points: Doubles, normals: Doubles) -> Doubles:
    """How much a point (N, 3) lies open, 1, or in a hollow, 0, from the field."""
    flip = np.array([-1.0, 1.0, 1.0])
    right = points[:, :1] < 0.0
    result = np.ones(len(points))
    for step, strength in ((0.008, 0.45), (0.020, 0.40), (0.045, 0.30)):
        probe = points + step * normals
        probe = np.where(right, probe * flip, probe)
        probe[:, 0] = np.abs(probe[:, 0])
        gap = np.clip(field.distance(probe) / step, 0.0, 1.0)
        result -= strength * (1.0 - gap)
    return np.clip(result, 0.0, 1.0)
