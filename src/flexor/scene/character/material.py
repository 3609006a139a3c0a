"""How surfaces look: materials, textures, samplers, images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["AlphaMode", "Image", "Material", "Sampler", "Texture", "TextureRef"]

AlphaMode = Literal["OPAQUE", "MASK", "BLEND"]

CLAMP, MIRROR, REPEAT = 33071, 33648, 10497


@dataclass(frozen=True, slots=True)
class Image:
    """An encoded picture. data: the file's bytes, or a view of them; mime: such as
    "image/png"; uri: where the picture should have been, if it was not found and data
    is empty.
    """

    name: str
    data: bytes | memoryview
    mime: str
    uri: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        # A view of a mapped file cannot be pickled.
        return Image, (self.name, bytes(self.data), self.mime, self.uri)


@dataclass(frozen=True, slots=True)
class Sampler:
    """How a texture is read, in the constants of glTF; None: no preference."""

    name: str = ""
    mag_filter: int | None = None
    min_filter: int | None = None
    wrap_s: int = REPEAT
    wrap_t: int = REPEAT


@dataclass(frozen=True, slots=True)
class Texture:
    """An image with a sampler: rows in the scene's tables, or None."""

    name: str
    image: int | None
    sampler: int | None
    carried: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TextureRef:
    """A texture as a material uses it.

    texture: row in the scene's textures; texcoord: which set of coordinates; factor:
    normal scale or occlusion strength; offset, rotation (radians, counter-clockwise),
    scale: transform of the coordinates (KHR_texture_transform); has_transform: whether
    the file gives one.
    """

    texture: int
    texcoord: int = 0
    factor: float = 1.0
    has_transform: bool = False
    offset: tuple[float, float] = (0.0, 0.0)
    rotation: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Material:
    """A surface's look. Colours are linear, 0 to 1; the alpha of base_colour counts
    for the modes MASK (below alpha_cutoff: not drawn) and BLEND. looks: by the name of
    an extension of glTF what it says, by names of its own: numbers, texts, tuples of
    them, or a TextureRef.
    """

    name: str = ""
    base_colour: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    base_texture: TextureRef | None = None
    metallic: float = 1.0
    roughness: float = 1.0
    metallic_roughness_texture: TextureRef | None = None
    normal_texture: TextureRef | None = None
    occlusion_texture: TextureRef | None = None
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    emissive_texture: TextureRef | None = None
    alpha_mode: AlphaMode = "OPAQUE"
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    unlit: bool = False
    carried: dict[str, Any] | None = None
    looks: Mapping[str, Mapping[str, Any]] | None = None

    def texture_refs(self) -> list[TextureRef]:
        """Every texture the material uses."""
        refs = (
            self.base_texture,
            self.metallic_roughness_texture,
            self.normal_texture,
            self.occlusion_texture,
            self.emissive_texture,
            *(item for look in (self.looks or {}).values() for item in look.values()),
        )
        return [ref for ref in refs if isinstance(ref, TextureRef)]
