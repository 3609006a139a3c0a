"""JSON that is kept unread and written back: extensions, extras, cameras."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flexor.files.gltf.checked import Checked

__all__ = ["carried_of", "dropped_extensions", "extensions_in"]


def carried_of(
    item: Checked, *keys: str, without: tuple[str, ...] = ()
) -> dict[str, Any] | None:
    """JSON under `keys` that is kept unread; extensions `without` are handled here.

    An extension that names buffer views or accessors is not kept: those are numbered
    anew when the file is written.
    """
    kept: dict[str, Any] = {}
    for key in keys:
        value = item.value.get(key)
        if key == "extensions":
            extensions = item.object(key)
            names = [] if extensions is None else extensions.names()
            value = {
                name: value[name]
                for name in names
                if name not in without and not _names_data(value[name])
            }
        if value is not None and value != {}:
            kept[key] = value
    return kept or None


def extensions_in(value: Any) -> Iterator[tuple[str, Any]]:
    """Every extension that stands anywhere in JSON, name and body."""
    if isinstance(value, dict):
        extensions = value.get("extensions")
        if isinstance(extensions, dict):
            yield from extensions.items()
        for inner in value.values():
            yield from extensions_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from extensions_in(inner)


def dropped_extensions(root: Checked, undone: set[str]) -> list[str]:
    """Names of extensions that `carried_of` leaves out and that are not `undone`."""
    found = extensions_in(root.value)
    return sorted({name for name, body in found if _names_data(body)} - undone)


def _names_data(value: Any) -> bool:
    """Whether JSON refers to a buffer view or an accessor anywhere."""
    if isinstance(value, dict):
        keys = {"bufferView", "accessor", "accessors", "attributes"}
        return bool(keys & value.keys()) or any(map(_names_data, value.values()))
    return isinstance(value, list) and any(map(_names_data, value))
