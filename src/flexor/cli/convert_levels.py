"""The levels of detail that `flexor convert` puts into a package."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from flexor.cli.tables.levels import report_stored
from flexor.errors import BackendMissing
from flexor.files.text.levels import read_levels
from flexor.files.text.toml_text import read_toml
from flexor.scene.finding import Finding
from flexor.scene.runtime.level_settings import LevelSettings

if TYPE_CHECKING:
    from flexor.api.character import Character
    from flexor.convert.levels.report import LevelReport
    from flexor.scene.runtime.levels import Levels
    from flexor.scene.scene import Scene

__all__ = ["NONE", "check_wanted", "levels_of"]

NONE = "none"  # the word for no levels
Bar = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
Made = tuple["Levels | None", "list[LevelReport]", list[Finding]]


def check_wanted(wanted: str) -> None:
    """Refuse a file that cannot be read, before any work is done."""
    if wanted not in ("", NONE):
        read_toml(Path(wanted))


def levels_of(character: Character, scene: Scene, wanted: str, bar: Bar) -> Made:
    """Levels, their numbers, and what was odd; all empty where there are to be none.

    scene: the character's, with the motion that is written; wanted: "none", a text file
    that says how they are to be, or "" for those that the character brings, and where
    it brings none, for those that are made without any word from an author; bar: shows
    progress.
    """
    if wanted == NONE or not any(mesh.primitives for mesh in scene.meshes):
        return None, [], []
    given = character.given_levels
    if not wanted and given is not None:
        return given, report_stored(given), []
    from flexor.convert.levels.make import make_levels

    settings = LevelSettings()
    if wanted:
        settings = read_levels(wanted, scene.skeleton.names)
    try:
        with bar("levels", 1 + len(settings.levels())) as advance:
            return make_levels(scene, settings, each=advance)
    except BackendMissing as error:
        if wanted:
            raise
        return None, [], [Finding("warning", "no-levels", "scene", str(error))]
