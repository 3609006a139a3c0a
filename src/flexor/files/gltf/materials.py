"""Materials, textures, samplers and images, both ways."""

from __future__ import annotations

from typing import Any

from flexor.files.gltf.accessors import Accessors
from flexor.files.gltf.carried import carried_of
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.container import Container
from flexor.files.gltf.extension import known_extensions
from flexor.files.gltf.extensions import khr_materials_unlit as unlit
from flexor.files.gltf.extensions.khr_materials_pbrspecularglossiness import (
    glossy_of,
    read_glossy,
)
from flexor.files.gltf.material_looks import give_looks, take_looks
from flexor.files.gltf.texture_refs import read_ref, ref_json
from flexor.scene.character.material import (
    CLAMP,
    MIRROR,
    REPEAT,
    Image,
    Material,
    Sampler,
    Texture,
)
from flexor.scene.finding import Finding

__all__ = [
    "material_json",
    "read_image",
    "read_material",
    "read_sampler",
    "read_texture",
    "sampler_json",
]

ALPHA_MODES = ("OPAQUE", "MASK", "BLEND")
WRAPS, MAGS = (CLAMP, MIRROR, REPEAT), (9728, 9729)
MINS = (*MAGS, *range(9984, 9988))
SIGNATURES = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "image/webp"),
    (b"\xabKTX 20", "image/ktx2"),
)


def read_image(
    item: Checked, container: Container, accessors: Accessors, findings: list[Finding]
) -> Image:
    """An image from a buffer view, a data: URI or a file beside."""
    name, mime, uri = item.text("name"), item.text("mimeType"), ""
    view = item.index("bufferView", accessors.view_count, "buffer view")
    if view is not None:
        data = bytes(accessors.view_bytes(view))
    elif item.has("uri"):
        uri = item.text("uri")
        try:
            data, stated = container.read_uri(item)
            mime, uri = mime or stated, ""
        except FileNotFoundError as error:
            data = b""
            text = f"there is no file {error}; the texture stays empty"
            findings.append(Finding("warning", "image-missing", item.pointer, text))
    else:
        raise item.error("an image needs a bufferView or a uri")
    accessors.charge(item, len(data))
    for start, kind in SIGNATURES:
        if data.startswith(start):
            mime = kind
    return Image(name, data, mime, uri)


def read_sampler(item: Checked) -> Sampler:
    """How a texture is read; unknown constants count as not given."""

    def constant(key: str, allowed: tuple[int, ...]) -> int | None:
        value = item.integer(key, -1, -1)
        return value if value in allowed else None

    return Sampler(
        item.text("name"),
        constant("magFilter", MAGS),
        constant("minFilter", MINS),
        constant("wrapS", WRAPS) or REPEAT,
        constant("wrapT", WRAPS) or REPEAT,
    )


def read_texture(item: Checked, image_count: int, sampler_count: int) -> Texture:
    """A texture; the image of an extension is taken where there is no other."""
    image = item.index("source", image_count, "image")
    carried = carried_of(item, "extensions", "extras")
    extensions = item.object("extensions")
    for name, known in known_extensions().items():
        if extensions is None or not known.is_texture_source:
            continue
        other = extensions.object(name)
        if other is not None and image is None:
            image = other.index("source", image_count, "image")
    sampler = item.index("sampler", sampler_count, "sampler")
    return Texture(item.text("name"), image, sampler, carried)


def read_material(item: Checked, texture_count: int) -> Material:
    """A metallic-roughness material; specular-glossiness gives the base colour only."""
    pbr = item.object("pbrMetallicRoughness")
    extensions = item.object("extensions")
    glossy = glossy_of(extensions)
    base: dict[str, Any] = {}
    if pbr is not None:
        base = {
            "base_colour": pbr.vector("baseColorFactor", (1.0, 1.0, 1.0, 1.0)),
            "base_texture": read_ref(pbr, "baseColorTexture", texture_count),
            "metallic": pbr.number("metallicFactor", 1.0),
            "roughness": pbr.number("roughnessFactor", 1.0),
            "metallic_roughness_texture": read_ref(
                pbr, "metallicRoughnessTexture", texture_count
            ),
        }
    elif glossy is not None:
        base = read_glossy(glossy, texture_count)
    material = Material(
        name=item.text("name"),
        **base,
        normal_texture=read_ref(item, "normalTexture", texture_count),
        occlusion_texture=read_ref(item, "occlusionTexture", texture_count),
        emissive=item.vector("emissiveFactor", (0.0, 0.0, 0.0)),  # type: ignore[arg-type]
        emissive_texture=read_ref(item, "emissiveTexture", texture_count),
        alpha_mode=item.choice("alphaMode", ALPHA_MODES, "OPAQUE"),  # type: ignore[arg-type]
        alpha_cutoff=item.number("alphaCutoff", 0.5),
        double_sided=item.flag("doubleSided"),
        unlit=unlit.is_unlit(extensions),
        carried=carried_of(item, "extensions", "extras", without=(unlit.NAME,)),
    )
    return take_looks(material, extensions, texture_count)


def material_json(material: Material) -> dict[str, Any]:
    """The material as glTF JSON; what equals glTF's default is left out."""
    plain, material = Material(), give_looks(material)
    pbr: dict[str, Any] = {}
    if material.base_colour != plain.base_colour:
        pbr["baseColorFactor"] = list(material.base_colour)
    if material.base_texture is not None:
        pbr["baseColorTexture"] = ref_json(material.base_texture)
    if material.metallic != plain.metallic:
        pbr["metallicFactor"] = material.metallic
    if material.roughness != plain.roughness:
        pbr["roughnessFactor"] = material.roughness
    if material.metallic_roughness_texture is not None:
        ref = ref_json(material.metallic_roughness_texture)
        pbr["metallicRoughnessTexture"] = ref
    out: dict[str, Any] = {"name": material.name} if material.name else {}
    if pbr:
        out["pbrMetallicRoughness"] = pbr
    if material.normal_texture is not None:
        out["normalTexture"] = ref_json(material.normal_texture, "scale")
    if material.occlusion_texture is not None:
        out["occlusionTexture"] = ref_json(material.occlusion_texture, "strength")
    if material.emissive_texture is not None:
        out["emissiveTexture"] = ref_json(material.emissive_texture)
    if material.emissive != plain.emissive:
        out["emissiveFactor"] = list(material.emissive)
    if material.alpha_mode != plain.alpha_mode:
        out["alphaMode"] = material.alpha_mode
    if material.alpha_cutoff != plain.alpha_cutoff:
        out["alphaCutoff"] = material.alpha_cutoff
    if material.double_sided:
        out["doubleSided"] = True
    out.update(material.carried or {})
    if material.unlit:
        unlit.add_unlit(out)
    return out


def sampler_json(sampler: Sampler) -> dict[str, Any]:
    """The sampler as glTF JSON."""
    out: dict[str, Any] = {"name": sampler.name} if sampler.name else {}
    if sampler.mag_filter is not None:
        out["magFilter"] = sampler.mag_filter
    if sampler.min_filter is not None:
        out["minFilter"] = sampler.min_filter
    if sampler.wrap_s != REPEAT:
        out["wrapS"] = sampler.wrap_s
    if sampler.wrap_t != REPEAT:
        out["wrapT"] = sampler.wrap_t
    return out
