"""The levels of detail at which characters of stages and worlds are drawn."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from flexor.api.character import Character
from flexor.errors import BackendMissing

if TYPE_CHECKING:
    from flexor.scene.runtime.levels import Levels
    from flexor.scene.scene import Scene
    from flexor.stage.figures import FigureKind

__all__ = ["MANY", "kind_of", "levels_of"]

MANY = 8  # of one body, for which it pays to make levels
KEPT = 16  # characters whose levels are kept for the process

# By the scene's id, which is its own as long as it is kept here.
_levels: OrderedDict[tuple[int, bool], tuple[Scene, Levels]] = OrderedDict()
_kinds: OrderedDict[int, tuple[Levels, FigureKind]] = OrderedDict()


def levels_of(hero: Character, *, make: bool = False) -> Levels:
    """The levels that a character has, or brings with its package.

    make: where it has none, they are made, once in a process, in some seconds; without
    the extra "codecs", or with make=False, it has one: the whole character.
    """
    from flexor.convert.levels.make import make_levels
    from flexor.scene.runtime.level_settings import LevelSettings

    if hero.given_levels is not None:
        return hero.given_levels
    scene = hero.scene
    key = id(scene), make
    if key not in _levels:
        if make:
            try:
                found = hero.levels
            except BackendMissing:
                found = levels_of(hero)
        else:
            found = make_levels(scene, LevelSettings(heights=()))[0]
        _levels[key] = scene, found
        if len(_levels) > KEPT:
            _levels.popitem(last=False)
    return _levels[key][1]


def kind_of(hero: Character, count: int) -> FigureKind:
    """A character of which there are `count`, ready to be seen at its levels."""
    from flexor.stage.figures import make_figure_kind

    levels = levels_of(hero, make=count >= MANY)
    kept = _kinds.get(id(levels))
    if kept is None:
        kept = _kinds[id(levels)] = levels, make_figure_kind(hero.scene, levels)
        if len(_kinds) > KEPT:
            _kinds.popitem(last=False)
    return kept[1]
