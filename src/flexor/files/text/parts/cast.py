"""Who plays on a stage, in a text file: [[character]]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flexor.errors import AssetError
from flexor.files.text.moves import MoveFile, named_by, open_moves
from flexor.files.text.parts.rows import Names, check_angles, find_file, rows_of
from flexor.files.text.toml_make import make_of, words_of
from flexor.files.text.toml_text import (
    Angle,
    Colour,
    Either,
    Keys,
    TomlFile,
    say_known,
    say_value,
)
from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.moves import MoveTable
from flexor.scene.stage.plan import (
    MANNEQUIN,
    MOST_ACTORS,
    NEAREST,
    NOBODY,
    Actor,
    CameraRule,
)

__all__ = ["MoveFiles", "check_followed", "read_cast"]

CHARACTER = words_of(
    Actor,
    name=str,
    heading=Angle,
    colour=Colour,
    radius=float,
    moves=str,
    clips=dict,
    speeds=dict,
    player=Either,
)


class MoveFiles:
    """Files of moves that a stage's file names, each read once.

    files: by their path.
    """

    def __init__(self, file: TomlFile) -> None:
        self.file = file
        self.files: dict[Path, MoveFile] = {}

    def read(self, name: str, keys: Keys) -> MoveFile:
        """The file of moves that is named at some keys."""
        path = find_file(self.file, name, keys)
        if path not in self.files:
            try:
                self.files[path] = open_moves(path)
            except AssetError as error:
                raise named_by(error, self.file, keys) from None
        return self.files[path]


def read_cast(
    file: TomlFile,
    tables: Sequence[Mapping[str, Any]],
    moves: MoveTable,
    others: MoveFiles,
) -> tuple[tuple[Actor, ...], dict[int, MoveFile]]:
    """Who plays, from the [[character]] tables of a file; and by row the files of
    moves of those who have one of their own.

    moves: of all others.
    """
    cast: list[Actor] = []
    names = Names(file)
    own_files: dict[int, MoveFile] = {}
    known: dict[int, dict[str, None]] = {}  # of tables, by identity
    for keys, table in rows_of(file, tables, "character", MOST_ACTORS):
        own = file.table(table, CHARACTER, keys, check_angles)
        file.needs(own, ("name",), keys)
        if "moves" in own:
            place = (*keys, "moves")
            own_files[len(cast)] = others.read(own["moves"], place)
            own["moves"] = own_files[len(cast)].table
        mine = own.get("moves", moves)
        if id(mine) not in known:
            clips = [move.clip for move in mine.moves]
            known[id(mine)] = dict.fromkeys([*ROLES, *clips])
        roles = known[id(mine)]
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
        _check_pad(file, keys, cast)
    for row, actor in enumerate(cast):
        other = actor.opponent
        if other not in names.rows and other not in (NEAREST, NOBODY):
            there = say_known(other, (n for n in names.rows if n != actor.name))
            fault = f"nobody is called {say_value(other)}; {there}; or nearest, or none"
            raise file.refuse(("character", row, "opponent"), fault)
    return tuple(cast), own_files


def _check_pad(file: TomlFile, keys: Keys, cast: Sequence[Actor]) -> None:
    """Refuse a second character for the pad of one player."""
    *others, last = cast
    for other in others:
        if last.player in (1, 2) and last.player == other.player:
            fault = f"{last.player} plays {other.name!r}, expected another"
            raise file.refuse((*keys, "player"), fault)


def check_followed(file: TomlFile, camera: CameraRule, cast: Sequence[Actor]) -> None:
    """Refuse a camera that follows nobody there is."""
    names = dict.fromkeys(actor.name for actor in cast)
    if camera.of and camera.of not in names:
        there = say_known(camera.of, names)
        fault = f"nobody is called {say_value(camera.of)}; {there}"
        raise file.refuse(("camera", "of"), fault)
