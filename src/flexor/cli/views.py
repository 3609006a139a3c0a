"""`flexor render --show`: which views of skin and bones a picture has."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from flexor.cli.texts import say_names
from flexor.draw.scene.style import DrawStyle, View
from flexor.errors import SettingError

if TYPE_CHECKING:
    from flexor.api.character import Character

__all__ = ["Joints", "LimitsFile", "Show", "add_views", "fit_views"]

SHOWN = get_args(View)

Show = Annotated[
    str | None,
    typer.Option(
        metavar="VIEWS",
        help=f"How the skin hangs on its bones: {', '.join(SHOWN)}; several "
        "with commas between them.",
    ),
]
Joints = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Of which joints --show is: names or patterns such as 'l-*', with commas "
        "between them; all, if not said (ties: those of --heat).",
    ),
]
LimitsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A .toml file of limits for --show limits; those of a human body, if not "
        "said.",
    ),
]


def add_views(
    style: DrawStyle, show: str | None, joints: str | None, limits: Path | None
) -> DrawStyle:
    """The style with what was asked for on the command line, of no character yet."""
    views = _parse_views(show)
    if joints is not None and not views:
        raise SettingError("--joints: is for --show; give --show too")
    if limits is not None and "limits" not in views:
        raise SettingError("--limits: is for --show limits; give that too")
    patterns = None
    if joints is not None:
        patterns = tuple(word.strip() for word in joints.split(",") if word.strip())
        if not patterns:
            raise SettingError("--joints: nothing, expected names or patterns of names")
    return replace(style, show=views, joints=patterns)


def fit_views(style: DrawStyle, character: Character, limits: Path | None) -> DrawStyle:
    """The style for a character: its joints are looked for, and limits read."""
    names = character.skeleton.names
    for pattern in style.joints or ():
        if not any(name == pattern or fnmatchcase(name, pattern) for name in names):
            said = say_names(pattern, names)
            raise SettingError(f"--joints: no joint {pattern!r}; {said}")
    if limits is None:
        return style
    from flexor.api.reaching import find_limits

    return replace(style, limits=find_limits(character, limits))


def _parse_views(text: str | None) -> tuple[View, ...]:
    """Views by their names, with commas between them; each once."""
    if text is None:
        return ()
    words = [word.strip().lower() for word in text.split(",")]
    for word in words:
        if word not in SHOWN:
            raise SettingError(
                f"--show: {word!r}, expected one or more of {', '.join(SHOWN)}, such "
                f"as --show {SHOWN[0]},{SHOWN[1]}"
            )
    return tuple(view for view in SHOWN if view in words)
