"""What is known of an extension of glTF, and which extensions are known.

An extension that is not known is carried: its JSON is kept unread and written back.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from flexor.files.gltf import extensions
from flexor.files.gltf.checked import Checked

__all__ = ["Extension", "LookForm", "known_extensions"]


class LookForm(NamedTuple):
    """How an extension of materials is read and written.

    read: gives its values, by names of its own, of its JSON and the number of textures
    in the file; values are numbers, texts, tuples of them, or a TextureRef. They stand
    in `Material.looks`. write: gives the JSON of such values.
    """

    read: Callable[[Checked, int], Mapping[str, Any]]
    write: Callable[[Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """An extension, as the `EXTENSION` of its file in `extensions` describes it.

    names: as files spell it; may_be_required: whether a file is read that cannot do
    without it; is_undone: whether reading takes it apart, so that it is neither carried
    nor written back; is_texture_source: whether it gives a texture another image, under
    "source"; look: of an extension of materials with values of its own, how it is read
    and written.
    """

    names: tuple[str, ...]
    may_be_required: bool = True
    is_undone: bool = False
    is_texture_source: bool = False
    look: LookForm | None = None


@cache
def known_extensions() -> dict[str, Extension]:
    """Every extension that has a file in `extensions`, by name."""
    files = [module.name for module in pkgutil.iter_modules(extensions.__path__)]
    found: list[Extension] = [
        import_module(f"{extensions.__name__}.{file}").EXTENSION for file in files
    ]
    return {name: extension for extension in found for name in extension.names}
