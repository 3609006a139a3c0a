"""Deformed vertices as what a backend draws.

`upload_scene` (upload.py) is called once for a scene, `dress_scene` once for a style of
it, `build_items` once for a frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.draw.drawlist import DrawItem, DrawLines, DrawMesh, Look, Shading, Strokes
from flexor.draw.scene.areas import (
    CLAY,
    DARK_CLAY,
    area_colours,
    chosen_joints,
    colour_bones,
)
from flexor.draw.scene.heat import colour_ramp, joint_weights
from flexor.draw.scene.style import DrawStyle
from flexor.draw.scene.upload import Part, SceneAssets
from flexor.errors import SettingError, ShapeError
from flexor.scene.scene import Scene

__all__ = [
    "Dress",
    "DressedPart",
    "build_items",
    "dress_scene",
    "part_names",
    "turned_parts",
]

LINE_PIXELS, POINT_PIXELS = 1.5, 3.0
SHADINGS: dict[str, Shading] = {
    "gouraud": "vertex",
    "flat": "flat",
    "unlit": "unlit",
    "lines": "unlit",
    "cel": "cel",
}


@dataclass(frozen=True, slots=True, eq=False)
class DressedPart:
    """A part in a style.

    number, mesh: in the backend, with the style's smooth faces; heat: float32 (V,), or
    None; colours: float32 (V, 4) in place of those of the mesh, or None.
    """

    part: Part
    number: int
    mesh: DrawMesh | None
    look: Look
    strokes: Strokes | None
    heat: Floats | None = None
    colours: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Dress:
    """A scene in a style. guides: (P,), node that says for each part whether it is
    mirrored; mirrors: (P,), 1, or -1 where its bind matrix already mirrors.
    """

    assets: SceneAssets
    parts: tuple[DressedPart, ...]
    guides: NDArray[np.intp]
    mirrors: NDArray[np.float64]


def dress_scene(assets: SceneAssets, style: DrawStyle) -> Dress:
    """Looks and strokes of every part for a style."""
    scene = assets.scene
    joint = None if style.heat is None else scene.skeleton.index(style.heat)
    if style.smooth is not None:
        _check_names(scene, style.smooth)
    chosen = chosen_joints(scene, style.joints)
    bones = colour_bones(scene) if "areas" in style.show else None
    dressed = []
    for part in assets.parts:
        number, mesh, is_flat = part.number, part.mesh, not part.has_normals
        if mesh is not None and style.smooth is not None:
            smooth = _smooth_faces(scene, part, mesh, style.smooth)
            is_flat = is_flat or not smooth.any()
            if not is_flat and not smooth.all():
                mesh = replace(mesh, smooth=smooth)
                number = assets.backend.upload(mesh)
        look, strokes = _dress(part.look, style, is_flat)
        heat = colours = None
        if joint is not None:
            heat = joint_weights(scene, part.node, part.primitive, (joint,))
            colours = colour_ramp(heat) if style.style == "heat" else None
        if bones is not None:
            place = part.node, part.primitive
            colours = area_colours(scene, *place, bones, chosen)
        elif style.show and style.style not in ("lines", "heat"):
            count = 0 if part.mesh is None else part.mesh.vertex_count
            clay = DARK_CLAY if "ties" in style.show else CLAY
            colours = np.tile(np.array((*clay, 1), np.float32), (count, 1))
        dressed.append(DressedPart(part, number, mesh, look, strokes, heat, colours))
    return Dress(
        assets,
        tuple(dressed),
        np.array([part.guide for part in assets.parts], np.intp),
        np.array([-1.0 if part.is_mirrored else 1.0 for part in assets.parts]),
    )


def build_items(
    dress: Dress,
    positions: Sequence[Floats],
    normals: Sequence[Floats],
    world: Floats,
) -> tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]:
    """Surfaces and lines of a character where its vertices are now.

    positions, normals: float32 (V, 3) of each part, in world space; world: (J, 3, 4),
    world_from_node, which says what is mirrored: its faces are turned around, so that
    their fronts stay outside. The number of a part is its place in the list.
    """
    if not len(positions) == len(normals) == len(dress.parts):
        have, wanted = len(positions), len(dress.parts)
        raise ShapeError(f"positions: {have} parts, expected {wanted}")
    items, lines = [], []
    is_turned = turned_parts(dress, world)
    for row, dressed in enumerate(dress.parts):
        part = dressed.part
        if part.ends is not None and part.end_colours is not None:
            is_point = bool((part.ends[:, 0] == part.ends[:, 1]).all())
            width = POINT_PIXELS if is_point else LINE_PIXELS
            points = positions[row][part.ends]
            lines.append(DrawLines(points, part.end_colours, width, part=row))
        if dressed.mesh is None:
            continue
        number = dressed.number
        if is_turned[row]:
            number = dress.assets.turned(number, dressed.mesh)
        items.append(
            DrawItem(
                number,
                positions[row],
                None if dressed.look.shading == "flat" else normals[row],
                dressed.look,
                dressed.strokes,
                heat=dressed.heat,
                part=row,
                colours=dressed.colours,
            )
        )
    return tuple(items), tuple(lines)


def turned_parts(dress: Dress, world: Floats) -> NDArray[np.bool_]:
    """Parts (P,) that a mirroring transform turns inside out."""
    a, b, c, _, d, e, f, _, g, h, i, _ = (
        world.reshape(-1, 12)[dress.guides].astype(np.float64).T
    )
    with np.errstate(all="ignore"):  # what is not finite is not drawn anyway
        volume = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
        turned: NDArray[np.bool_] = volume * dress.mirrors < 0
    return turned


def _dress(look: Look, style: DrawStyle, is_flat: bool) -> tuple[Look, Strokes | None]:
    """The look and the strokes of a part whose material looks like `look`."""
    strokes, width = None, style.line_width or LINE_PIXELS
    shading = SHADINGS.get(style.style, "pixel")
    if shading == "flat" and style.smooth is not None:
        shading = "pixel"  # of those that are smooth
    is_plain = style.style in ("lines", "heat") or bool(style.show)
    if look.shading == "unlit" and style.style != "heat" and not style.show:
        shading = "unlit"
    elif is_flat and shading in ("pixel", "vertex"):
        shading = "flat"
    look = replace(look, shading=shading, cel_bands=style.cel_bands)
    if is_plain:  # the shape, not what it is made of
        look = Look(cull=look.cull, shading=shading, cel_bands=style.cel_bands)
    if style.style == "ghost":
        look = replace(look, opacity=style.opacity)
    if style.style == "wire":
        strokes = Strokes(width * 0.4, style.line_colour, wire=True)
    elif style.style in ("cel", "lines"):
        strokes = Strokes(
            width,
            style.line_colour,
            silhouette=True,
            border=True,
            crease=style.crease,
        )
    return look, strokes


def part_names(scene: Scene) -> set[str]:
    """Names by which a style can say what is smooth: nodes, meshes and materials."""
    known = {*scene.skeleton.names}
    known.update(material.name for material in scene.materials)
    known.update(mesh.name for mesh in scene.meshes)
    return known


def _check_names(scene: Scene, names: tuple[str, ...]) -> None:
    known = part_names(scene)
    for name in names:
        if name not in known:
            raise SettingError(f"smooth: no node, mesh or material is called {name!r}")


def _smooth_faces(
    scene: Scene, part: Part, mesh: DrawMesh, names: tuple[str, ...]
) -> NDArray[np.bool_]:
    """The faces (F,) that belong to one of `names`: nodes, meshes, materials whole, and
    what joints pull by more than half.
    """
    surface = scene.meshes[scene.node_mesh[part.node]]
    material = surface.primitives[part.primitive].material
    own = {scene.skeleton.names[part.node], surface.name}
    if material is not None:
        own.add(scene.materials[material].name)
    if own.intersection(names):
        return np.ones(len(mesh.faces), bool)
    joints = [row for row, name in enumerate(scene.skeleton.names) if name in names]
    pull = joint_weights(scene, part.node, part.primitive, joints)
    smooth: NDArray[np.bool_] = pull[mesh.faces].mean(1) > 0.5
    return smooth
