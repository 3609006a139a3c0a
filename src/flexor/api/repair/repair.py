"""A character with better weights and joints, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from flexor.api.character import Character
from flexor.errors import SettingError

if TYPE_CHECKING:
    from flexor.convert.repair.report import RepairReport

__all__ = ["repair"]


def repair(
    character: Character,
    *,
    regenerate: bool = False,
    rogues: bool = False,
    smooth: bool | int = False,
    mirror: Literal["left", "right"] | None = None,
    links: int = 0,
    always: bool = False,
    prune: float = 0.0,
    max_influences: int | None = None,
    palette: int = 0,
    joints: str | Sequence[str] = (),
    rigid: str | Sequence[str] = (),
    weights_from: Character | None = None,
    has_measures: bool = True,
) -> tuple[Character, RepairReport]:
    """A new character with better weights and joints, and what was changed.

    regenerate: make weights from shape and joints alone; rogues: free patches that are
    cut off from their bone; smooth: soften weights that change too fast, a number for
    the most steps; mirror: give the other side the weights of this one; links: small
    joints at each joint, so that it keeps its volume when it turns far (3 do), but not
    where that would be worse, unless always; prune: drop weights below this;
    max_influences: joints a vertex, 0 for any number, None for as many as there are,
    but at least 4; palette: joints a surface, 0 for any number; joints: patterns of
    names, only these are changed; rigid: patterns of names of meshes that are not
    smoothed or linked; weights_from: take the weights of this character first;
    has_measures: bend joints before and after for the report.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> better, report = flexor.repair(hero, rogues=True, links=3, joints=["*-elbow"])
    >>> len(better.skeleton.links)
    6
    """
    from flexor.convert.links.link_weights import LinkSettings
    from flexor.convert.repair.recipe import RepairSettings, repair_scene
    from flexor.convert.weights.smooth_weights import SmoothSettings

    given = {"character": character}
    if weights_from is not None:
        given["weights_from"] = weights_from
    for name, value in given.items():
        if not isinstance(value, Character):
            raise SettingError(f"{name}: {value!r}, expected a character; see load")
    softly = None
    if smooth is not False:
        steps = SmoothSettings().most if smooth is True else _whole("smooth", smooth, 1)
        softly = SmoothSettings(most=steps)
    most = None
    if max_influences is not None:
        most = _whole("max_influences", max_influences, 0)
    settings = RepairSettings(
        regenerate=bool(regenerate),
        rogues=bool(rogues),
        smooth=softly,
        mirror=mirror,
        links=LinkSettings(count=_whole("links", links, 0)),
        is_forced=bool(always),
        prune=prune,
        most_influences=most,
        most_palette=_whole("palette", palette, 0),
        joints=_patterns("joints", joints),
        rigid=_patterns("rigid", rigid),
    )
    source = None if weights_from is None else weights_from.scene
    scene, report = repair_scene(
        character.scene, settings, source=source, has_measures=has_measures
    )
    return Character(scene), report


def _whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`, of any kind that is one."""
    is_number = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_number or value < least:
        raise SettingError(f"{name}: {value!r}, expected a whole number from {least}")
    return int(value)


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    """Patterns of names; a text is one."""
    if isinstance(value, str):
        return (value,)
    try:
        return tuple(value)
    except TypeError:
        raise SettingError(f"{name}: {value!r}, expected a list of texts") from None
