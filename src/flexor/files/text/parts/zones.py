"""Zones of a stage in a text file: [[zone]]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flexor.errors import AssetError, SettingError, ShapeError
from flexor.files.text.parts.rows import Names, rows_of
from flexor.files.text.toml_make import words_of
from flexor.files.text.toml_text import Keys, Points, TomlFile
from flexor.scene.stage.plan import MOST_ZONES
from flexor.scene.stage.zone import Zone

__all__ = ["read_zones"]

ZONE = words_of(Zone, corners=Points)
# Pairs of corners, which are compared, of all zones of a file.
MOST_PAIRS = 40_000_000


def read_zones(file: TomlFile, tables: Sequence[Mapping[str, Any]]) -> tuple[Zone, ...]:
    """The zones of a file, from its [[zone]] tables."""
    zones: list[Zone] = []
    names, pairs = Names(file), 0
    for keys, table in rows_of(file, tables, "zone", MOST_ZONES):
        own = file.table(table, ZONE, keys)
        file.needs(own, ("corners",), keys)
        corners = own["corners"]
        pairs += min(len(corners), 2000) ** 2  # of more, the zone refuses all
        if pairs > MOST_PAIRS:
            fault = f"{len(corners)} corners, expected fewer: zones up to here have "
            raise file.refuse((*keys, "corners"), f"{fault}too many corners together")
        if own.get("name"):
            names.add(own["name"], keys)
        own["corners"] = np.array(corners, np.float64).reshape(-1, 2)
        try:
            zones.append(Zone(**own))
        except (SettingError, ShapeError) as error:
            prefix = f"zone {own.get('name')!r}: "
            raise _zone_fault(file, keys, str(error).removeprefix(prefix)) from None
    return tuple(zones)


def _zone_fault(file: TomlFile, keys: Keys, fault: str) -> AssetError:
    """The error of a zone: sides and corners are counted from 1, as all in a file."""
    if fault.startswith("keeps: "):
        return file.refuse((*keys, "keeps"), fault.removeprefix("keeps: "))
    found = re.match(r"(?:sides?|corner) ([0-9]+)", fault)
    place = (*keys, "corners", int(found[1])) if found else (*keys, "corners")
    fault = re.sub(
        r"\b(sides|side|corner) ([0-9]+)(?: and ([0-9]+))?",
        lambda m: f"{m[1]} {int(m[2]) + 1}" + (f" and {int(m[3]) + 1}" if m[3] else ""),
        fault,
    )
    return file.refuse(place, fault)
