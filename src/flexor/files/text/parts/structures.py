"""Structures of a stage in a text file: [[structure]]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flexor.files.text.parts.rows import Names, rows_of
from flexor.files.text.toml_make import make_of, words_of
from flexor.files.text.toml_text import Colour, Points, TomlFile
from flexor.scene.stage.layout import FARTHEST
from flexor.scene.stage.plan import MOST_STRUCTURES
from flexor.scene.stage.structure import Structure

__all__ = ["read_structures"]

STRUCTURE = words_of(
    Structure,
    name=str,
    middle=tuple,
    radius=float,
    ends=Points,
    thickness=float,
    corners=Points,
    fit=str,
    colour=Colour,
)
# The work of searching circles in footprints, of all of a file: 1,000 take about a
# second.
MOST_WORK = 10_000
THINNEST = 35.0  # how much longer at most; 1 for a circle


def read_structures(
    file: TomlFile, tables: Sequence[Mapping[str, Any]]
) -> tuple[Structure, ...]:
    """The structures of a file, from its [[structure]] tables."""
    structures = []
    names, work = Names(file), 0.0
    for keys, table in rows_of(file, tables, "structure", MOST_STRUCTURES):
        own = file.table(table, STRUCTURE, keys)
        file.needs(own, ("name",), keys)
        if "corners" in own:
            work += _find_work(own["corners"], own.get("fit"))
            if work > MOST_WORK:
                fault = "too many corners of structures up to here, or these too thin,"
                fault += " expected fewer; or middle and radius, or ends and thickness"
                raise file.refuse((*keys, "corners"), fault)
            for word in ("middle", "radius", "ends", "thickness"):
                if word in own:
                    fault = f"stands beside corners, expected corners or {word}"
                    raise file.refuse((*keys, word), fault)
        elif "fit" in own:
            fault = "stands alone, expected corners that it is for"
            raise file.refuse((*keys, "fit"), fault)
        prefix = f"structure {own['name']!r}: "
        structures.append(make_of(file, keys, Structure, own, STRUCTURE, prefix))
        names.add(own["name"], keys)
    return tuple(structures)


def _find_work(corners: Sequence[tuple[float, float]], fit: str | None) -> float:
    """How long what stands for corners is searched: longer in what is thin."""
    points = np.array(corners).reshape(-1, 2)
    if fit == "circumscribed" or not (np.abs(points) <= FARTHEST).all():
        return float(len(points))
    after = np.roll(points, -1, 0)
    around = float(np.hypot(*(after - points).T).sum())
    area = abs(float((points[:, 0] * after[:, 1] - points[:, 1] * after[:, 0]).sum()))
    thin = around**2 / (2 * math.pi * area) if area > around**2 / 1000 else THINNEST
    return len(points) * min(thin, THINNEST)
