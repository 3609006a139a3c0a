"""Materials of a scene as looks that can be drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from flexor.draw.drawlist import RGB, RGBA, Alpha, Look
from flexor.scene.character.material import Material, TextureRef
from flexor.scene.character.mesh import Primitive
from flexor.scene.finding import Finding

__all__ = ["look_of", "texture_transform"]

# By the name of an extension, what its values in `Material.looks` make of a look; an
# extension that is not here is not seen.
EXTENSION_LOOKS: dict[str, Callable[[Look, Mapping[str, Any]], Look]] = {}
ALPHAS: dict[str, Alpha] = {"OPAQUE": "opaque", "MASK": "mask", "BLEND": "blend"}


def look_of(
    material: Material,
    primitive: Primitive,
    where: str,
    upload_texture: Callable[[int], int],
) -> tuple[Look, int, list[Finding]]:
    """How a primitive with a material looks; its set of texture coordinates; findings.

    upload_texture: gives a number for a row of the scene's textures; where: the
    primitive's place in the file. A look has one set of coordinates and one transform:
    those of the base texture, or of the emissive one where there is no other.
    """
    findings: list[Finding] = []
    base = _usable(material.base_texture, primitive, where, findings)
    glow = None
    if any(material.emissive):
        glow = _usable(material.emissive_texture, primitive, where, findings)
    lead = base or glow
    emissive = material.emissive
    if base is not None and glow is not None and not _same_place(base, glow):
        text = "the emissive texture lies otherwise than the base texture; left out"
        findings.append(Finding("warning", "texture-left-out", where, text))
        glow, emissive = None, (0.0, 0.0, 0.0)
    look = Look(
        colour=_colour(material.base_colour),
        texture=-1 if base is None else upload_texture(base.texture),
        texture_transform=texture_transform(lead),
        alpha=ALPHAS[material.alpha_mode],
        cutoff=material.alpha_cutoff,
        cull="none" if material.double_sided else "back",
        shading="unlit" if material.unlit else "pixel",
        emissive=emissive,
        emissive_texture=-1 if glow is None else upload_texture(glow.texture),
    )
    for name, values in (material.looks or {}).items():
        if name in EXTENSION_LOOKS:
            look = EXTENSION_LOOKS[name](look, values)
    return look, 0 if lead is None else lead.texcoord, findings


def texture_transform(ref: TextureRef | None) -> tuple[RGB, RGB]:
    """The rows (2, 3) of KHR_texture_transform: scaled, then turned, then moved."""
    if ref is None or not ref.has_transform:
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    cos, sin = math.cos(ref.rotation), math.sin(ref.rotation)
    # Counter-clockwise with v pointing down: the sines are where they are for
    # clockwise with v pointing up.
    return (
        (cos * ref.scale[0], sin * ref.scale[1], ref.offset[0]),
        (-sin * ref.scale[0], cos * ref.scale[1], ref.offset[1]),
    )


def _usable(
    ref: TextureRef | None, primitive: Primitive, where: str, findings: list[Finding]
) -> TextureRef | None:
    """The reference, or None where the primitive has no such coordinates."""
    if ref is None or ref.texcoord < len(primitive.texcoords):
        return ref
    text = f"no texture coordinates {ref.texcoord}; drawn without the texture"
    findings.append(Finding("warning", "texture-left-out", where, text))
    return None


def _same_place(one: TextureRef, other: TextureRef) -> bool:
    same = texture_transform(one) == texture_transform(other)
    return same and one.texcoord == other.texcoord


def _colour(base: RGBA) -> RGBA:
    red, green, blue, alpha = (max(0.0, float(level)) for level in base)
    return red, green, blue, min(alpha, 1.0)
