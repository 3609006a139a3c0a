"""A character with better weights and joints, in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from flexor.api.character import Character
from flexor.api.repair.signed import with_keywords
from flexor.convert.repair.passes import TABLE, RepairWords
from flexor.convert.repair.settings import (
    RepairSettings,
    asked_or_automatic,
    take_words,
)
from flexor.errors import SettingError

if TYPE_CHECKING:
    from flexor.convert.repair.report import RepairReport

__all__ = ["repair", "run_repair"]


@with_keywords
def repair(
    character: Character,
    *,
    weights_from: Character | None = None,
    has_measures: bool = True,
    **settings: Unpack[RepairWords],
) -> tuple[Character, RepairReport]:
    """A new character with better weights and joints, and what was changed.

    Without settings it does what helps this character and nothing else: skin is freed
    of wrong bones, weights are eased and links put in, each only where it looks better.

    {settings}
    weights_from: Take the weights of this character on the same skeleton, first.
    has_measures: Bend joints before and after for the report.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> better, report = flexor.repair(hero, rogues=True, links=3, joints=["*-elbow"])
    >>> len(better.skeleton.links)
    6
    """
    for name in settings:
        if name not in TABLE.types:
            raise TypeError(f"repair() got an unexpected keyword argument {name!r}")
    given = {"character": character}
    if weights_from is not None:
        given["weights_from"] = weights_from
    for name, value in given.items():
        if not isinstance(value, Character):
            raise SettingError(f"{name}: {value!r}, expected a character; see load")
    chosen = take_words(settings)
    if weights_from is None:
        chosen = asked_or_automatic(chosen)
    return run_repair(
        character,
        chosen,
        weights_from=weights_from,
        has_measures=has_measures,
    )


def run_repair(
    character: Character,
    settings: RepairSettings,
    *,
    weights_from: Character | None = None,
    has_measures: bool = True,
    note: Callable[[str], None] = lambda text: None,
) -> tuple[Character, RepairReport]:
    """As `repair`, by settings that are made already, with those of a settings file.

    note: called with a few words before each part of the work.
    """
    from flexor.convert.repair.recipe import repair_scene

    source = None if weights_from is None else weights_from.scene
    scene, report = repair_scene(
        character.scene,
        settings,
        source=source,
        has_measures=has_measures,
        note=note,
    )
    return Character(scene), report
