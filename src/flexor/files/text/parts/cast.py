"""Who plays on a stage, in a text file: [[character]]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flexor.files.text.parts.rows import Names, check_angles, find_file, rows_of
from flexor.files.text.toml_make import make_of, words_of
from flexor.files.text.toml_text import (
    Angle,
    Colour,
    TomlFile,
    say_known,
    say_value,
)
from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.moves import MoveTable
from flexor.scene.stage.plan import MOST_ACTORS, NEAREST, NOBODY, Actor, CameraRule

__all__ = ["check_followed", "read_cast"]

CHARACTER = words_of(
    Actor, name=str, heading=Angle, colour=Colour, radius=float, clips=dict, speeds=dict
)
MANNEQUIN = "mannequin"


def read_cast(
    file: TomlFile, tables: Sequence[Mapping[str, Any]], moves: MoveTable
) -> tuple[Actor, ...]:
    """Who plays, from the [[character]] tables of a file."""
    cast: list[Actor] = []
    names = Names(file)
    roles = dict.fromkeys([*ROLES, *(move.clip for move in moves.moves)])
    for keys, table in rows_of(file, tables, "character", MOST_ACTORS):
        own = file.table(table, CHARACTER, keys, check_angles)
        file.needs(own, ("name",), keys)
        for role, clip in own.get("clips", {}).items():
            place = (*keys, "clips", role)
            if not isinstance(clip, str) or not clip:
                fault = f"{say_value(clip)}, expected the name of a clip"
                raise file.refuse(place, fault)
            if role not in roles:
                fault = f"no role, and no move's clip; {say_known(role, roles)}"
                raise file.refuse(place, fault)
        if own.get("file", MANNEQUIN) != MANNEQUIN:
            own["file"] = str(find_file(file, own["file"], (*keys, "file")))
        cast.append(make_of(file, keys, Actor, own, CHARACTER))
        names.add(own["name"], keys)
    for row, actor in enumerate(cast):
        other = actor.opponent
        if other not in names.rows and other not in (NEAREST, NOBODY):
            there = say_known(other, (n for n in names.rows if n != actor.name))
            fault = f"nobody is called {say_value(other)}; {there}; or nearest, or none"
            raise file.refuse(("character", row, "opponent"), fault)
    return tuple(cast)


def check_followed(file: TomlFile, camera: CameraRule, cast: Sequence[Actor]) -> None:
    """Refuse a camera that follows nobody there is."""
    names = dict.fromkeys(actor.name for actor in cast)
    if camera.of and camera.of not in names:
        there = say_known(camera.of, names)
        fault = f"nobody is called {say_value(camera.of)}; {there}"
        raise file.refuse(("camera", "of"), fault)
