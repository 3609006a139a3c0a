"""The ground of a stage in a text file: [ground], [[ground.patch]]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexor.files.text.toml_make import make_of, words_of
from flexor.files.text.toml_text import Tables, TomlFile, Words
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground

__all__ = ["read_ground"]

GROUND: Words = {
    "size": (tuple, "size"),
    "step": (float, "step"),
    "rough": (float, "rough"),
    "patch": (Tables, "patches"),
}
PATCH = words_of(Patch, area=tuple, middle=tuple, radius=float, height=float)


def read_ground(file: TomlFile, table: Mapping[str, Any], seed: int) -> Ground:
    """The ground of a file, from its [ground] table and the patches on it."""
    own = file.table(table, GROUND, ("ground",))
    patches = []
    for row, one in enumerate(own.get("patches", ())):
        keys = ("ground", "patch", row)
        patches.append(make_of(file, keys, Patch, file.table(one, PATCH, keys), PATCH))
    own |= {"patches": patches, "seed": seed}
    ground: Ground = make_of(file, ("ground",), shape_ground, own, GROUND)
    return ground
