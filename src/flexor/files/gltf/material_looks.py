"""Extensions of materials with values of their own: out of JSON, and back into it.

A file carries the JSON of an extension; where the extension is known, its values stand
in `Material.looks` instead while the material is in memory. That is the same for glTF
and for packages, so neither knows any such extension by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flexor.errors import SettingError
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extension import LookForm, known_extensions
from flexor.scene.character.material import Material

__all__ = ["give_looks", "take_looks"]


def take_looks(
    material: Material, extensions: Checked | None, texture_count: int
) -> Material:
    """The material with the looks that its extensions give it, and without their JSON
    in what it carries.
    """
    if extensions is None:
        return material
    forms = _forms()
    looks = {}
    for name, form in forms.items():
        body = extensions.object(name)
        if body is not None:
            looks[name] = form.read(body, texture_count)
    if not looks:
        return material
    carried = dict(material.carried or {})
    kept = carried.pop("extensions", {})
    kept = {name: body for name, body in kept.items() if name not in looks}
    if kept:
        carried["extensions"] = kept
    return replace(material, looks=looks, carried=carried or None)


def give_looks(material: Material) -> Material:
    """The material with its looks as JSON in what it carries, as files have it."""
    if material.looks is None:
        return material
    forms = _forms()
    carried: dict[str, Any] = dict(material.carried or {})
    extensions = dict(carried.get("extensions", {}))
    for name, values in material.looks.items():
        if name not in forms:
            raise SettingError(f"looks: {name!r} is no extension that can be written")
        extensions[name] = forms[name].write(values)
    if extensions:
        carried["extensions"] = extensions
    return replace(material, looks=None, carried=carried or None)


def _forms() -> dict[str, LookForm]:
    found = known_extensions().items()
    return {name: known.look for name, known in found if known.look is not None}
