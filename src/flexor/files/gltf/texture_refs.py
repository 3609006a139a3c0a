"""Textures as materials and their extensions name them, both ways."""

from __future__ import annotations

from typing import Any

from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extensions.khr_texture_transform import (
    add_transform,
    read_transform,
)
from flexor.scene.character.material import TextureRef

__all__ = ["read_ref", "ref_json"]


def read_ref(item: Checked, key: str, texture_count: int) -> TextureRef | None:
    """The texture under `key`, or None; factor: its "scale" or "strength"."""
    ref = item.object(key)
    if ref is None:
        return None
    texture = ref.child("index").as_index(texture_count, "texture")
    texcoord = ref.integer("texCoord", 0)
    factor = ref.number("scale", ref.number("strength", 1.0))
    return read_transform(ref, TextureRef(texture, texcoord, factor))


def ref_json(ref: TextureRef, factor_key: str | None = None) -> dict[str, Any]:
    """The reference as glTF JSON; factor_key: where its factor stands, or None."""
    out: dict[str, Any] = {"index": ref.texture}
    if ref.texcoord:
        out["texCoord"] = ref.texcoord
    if factor_key is not None and ref.factor != 1.0:
        out[factor_key] = ref.factor
    add_transform(out, ref)
    return out
