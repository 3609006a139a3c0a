"""Materials, textures, samplers, images, findings and root sets out of a package."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from flexor.errors import AssetError
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.material_looks import take_looks
from flexor.files.package.records import (
    Checks,
    carried,
    choice,
    flag,
    number,
    read_records,
    row,
    text,
    vector,
    whole,
)
from flexor.files.package.tensors import TensorFile
from flexor.scene.character.material import (
    AlphaMode,
    Image,
    Material,
    Sampler,
    Texture,
    TextureRef,
)
from flexor.scene.finding import Finding, Level
from flexor.scene.scene import RootSet

__all__ = [
    "read_findings",
    "read_images",
    "read_materials",
    "read_root_sets",
    "read_samplers",
    "read_textures",
]

IMAGE: Checks = {"name": text, "mime": text, "uri": text, "size": whole}
SAMPLER: Checks = {
    "name": text,
    "mag_filter": whole,
    "min_filter": whole,
    "wrap_s": whole,
    "wrap_t": whole,
}
FINDING: Checks = {
    "level": choice(get_args(Level)),
    "code": text,
    "where": text,
    "text": text,
}
REF: Checks = {
    "texcoord": whole,
    "factor": number,
    "has_transform": flag,
    "offset": vector(2),
    "rotation": number,
    "scale": vector(2),
}
MATERIAL: Checks = {
    "name": text,
    "base_colour": vector(4),
    "metallic": number,
    "roughness": number,
    "emissive": vector(3),
    "alpha_mode": choice(get_args(AlphaMode)),
    "alpha_cutoff": number,
    "double_sided": flag,
    "unlit": flag,
    "carried": carried,
}
TEXTURES = (
    "base_texture",
    "metallic_roughness_texture",
    "normal_texture",
    "occlusion_texture",
    "emissive_texture",
)


def read_images(file: TensorFile, json: dict[str, Any]) -> tuple[Image, ...]:
    """Images; their bytes follow each other in one array and stay in the file."""
    if "images" not in json:
        return ()
    path = file.path
    at, last = file.span("images")
    view = memoryview(file.buffer)
    images = []
    for item in read_records(path, json, "images", IMAGE):
        end = at + item.get("size", 0)
        if end > last:
            raise AssetError(path, "/images", f"{end - last} bytes too many")
        texts = item.get("mime", ""), item.get("uri", "")
        images.append(Image(item.get("name", ""), view[at:end], *texts))
        at = end
    return tuple(images)


def read_samplers(path: Path, json: dict[str, Any]) -> tuple[Sampler, ...]:
    """Samplers: constants of glTF, or other whole numbers."""
    items = read_records(path, json, "samplers", SAMPLER)
    return tuple([Sampler(**item) for item in items])


def read_textures(
    path: Path, json: dict[str, Any], images: int, samplers: int
) -> tuple[Texture, ...]:
    """Textures of so many images and samplers."""
    checks: Checks = {
        "name": text,
        "image": row(images),
        "sampler": row(samplers),
        "carried": carried,
    }
    return tuple(
        [
            Texture(
                item.get("name", ""),
                item.get("image"),
                item.get("sampler"),
                item.get("carried"),
            )
            for item in read_records(path, json, "textures", checks)
        ]
    )


def read_materials(
    path: Path, json: dict[str, Any], textures: int
) -> tuple[Material, ...]:
    """Materials of so many textures."""
    if "materials" not in json:
        return ()
    checks = {**REF, "texture": row(textures)}

    def ref(value: Any) -> TextureRef:
        if type(value) is not dict or "texture" not in value:
            raise ValueError("expected an object with a texture")
        known = {key: checks[key](item) for key, item in value.items() if key in checks}
        return TextureRef(**known)

    every = {**MATERIAL, **dict.fromkeys(TEXTURES, ref)}
    items = read_records(path, json, "materials", every)
    made = [Material(**item) for item in items]
    for at, material in enumerate(made):
        if material.carried is not None and "extensions" in material.carried:
            place = Checked(json, path).child("materials").member(at)
            extensions = place.child("carried").child("extensions")
            made[at] = take_looks(material, extensions, textures)
    return tuple(made)


def read_root_sets(
    path: Path, json: dict[str, Any], nodes: int
) -> tuple[tuple[RootSet, ...], int | None]:
    """Root sets, and the one that is shown."""

    def rows(value: Any) -> tuple[int, ...]:
        if type(value) is not list or not set(map(type, value)) <= {int}:
            raise ValueError("expected an array of whole numbers")
        if value and not (min(value) >= 0 and max(value) < nodes):
            raise ValueError("a node that does not exist")
        return tuple(value)

    checks: Checks = {"name": text, "nodes": rows, "carried": carried}
    sets = tuple(
        [
            RootSet(item.get("name", ""), item.get("nodes", ()), item.get("carried"))
            for item in read_records(path, json, "root_sets", checks)
        ]
    )
    shown = json.get("default_set")
    if shown is not None and not (type(shown) is int and 0 <= shown < len(sets)):
        raise AssetError(path, "/default_set", f"expected one of {len(sets)} rows")
    return sets, shown


def read_findings(path: Path, json: dict[str, Any]) -> tuple[Finding, ...]:
    """What was found when the scene was read from its first file."""
    return tuple(
        [
            Finding(
                item.get("level", "info"),
                item.get("code", ""),
                item.get("where", ""),
                item.get("text", ""),
            )
            for item in read_records(path, json, "findings", FINDING)
        ]
    )
