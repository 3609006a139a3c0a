"""Texts of the command line to values; each refusal says what would be right."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import typer

from flexor.errors import SettingError
from flexor.scene.finding import Finding

__all__ = [
    "VIEWS",
    "close_names",
    "parse_colour",
    "parse_size",
    "parse_view",
    "say_lost_links",
    "say_names",
]

MOST_NAMES = 20
MOST_LOST = 3

LIFT = 6  # degrees, so that the ground is more than a line
# Degrees: around the character from its front to its left, and above the horizon.
VIEWS: dict[str, tuple[float, float]] = {
    "three-quarter": (32, 12),
    "front": (0, LIFT),
    "side": (90, LIFT),
    "left": (90, LIFT),
    "right": (-90, LIFT),
    "back": (180, LIFT),
    "top": (0, 90),
}

COLOURS = {
    "transparent": (255, 255, 255, 0),
    "white": (255, 255, 255, 255),
    "grey": (128, 128, 128, 255),
    "black": (0, 0, 0, 255),
}


def parse_size(text: str) -> tuple[int, int]:
    """Width and height in pixels, such as "640x480"."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*[xX\u00d7]\s*(\d{1,6})\s*", text)
    if match is None:
        raise SettingError(f"--size: {text!r}, expected such as 640x480")
    return int(match[1]), int(match[2])


def parse_view(text: str) -> tuple[float, float]:
    """Where the camera is, radians around and above: a word, or such as "30,10"."""
    degrees = VIEWS.get(text.strip().lower())
    if degrees is None:
        try:
            around, above = (float(part) for part in text.split(","))
        except ValueError:
            around = above = math.nan
        if not (abs(around) <= 3600 and abs(above) <= 90):
            raise SettingError(
                f"--camera: {text!r}, expected one of {', '.join(VIEWS)}, or degrees "
                "around and above (up to 90) such as 30,10"
            )
        degrees = around, above
    return math.radians(degrees[0]), math.radians(degrees[1])


def parse_colour(text: str) -> tuple[int, int, int, int]:
    """Levels of red, green, blue and alpha: a word, "#rrggbb" or "#rrggbbaa"."""
    name = text.strip().lower()
    if name in COLOURS:
        return COLOURS[name]
    if re.fullmatch(r"#?([0-9a-f]{6}|[0-9a-f]{8})", name) is None:
        raise SettingError(
            f"--background: {text!r}, expected one of {', '.join(COLOURS)}, or such "
            "as #dde4ea"
        )
    levels = bytes.fromhex(name.removeprefix("#").ljust(8, "f"))
    return levels[0], levels[1], levels[2], levels[3]


def close_names(name: str, names: Iterable[str]) -> list[str]:
    """Up to three of `names` that may be meant by `name`, the closest first."""
    by_small: dict[str, str] = {}
    for one in names:
        if one:
            by_small.setdefault(one.lower(), one)
    small = name.lower()
    close = get_close_matches(small, by_small, 3, 0.5)
    # "hand" is not close to "mixamorig:LeftHand" in letters, but it is in it.
    close += [one for one in by_small if small and small in one and one not in close]
    return [by_small[one] for one in close[:3]]


def say_names(name: str, names: Sequence[str]) -> str:
    """Which of `names` may be meant by `name`; where none is close, what there is."""
    close = ", ".join(repr(one) for one in close_names(name, names))
    if close:
        return f"did you mean {close}?"
    known = [repr(one) for one in names if one]
    shown = ", ".join(known[:MOST_NAMES]) or "none"
    more = len(known) - MOST_NAMES
    return f"there are: {shown}" + (f" and {more} more" if more > 0 else "")


def say_lost_links(file: str, findings: Iterable[Finding]) -> None:
    """On standard error, which links of a file do not fit: they change every pose."""
    lost = [finding for finding in findings if finding.code == "bad-link"]
    for finding in lost[:MOST_LOST]:
        typer.echo(f"flexor: {file}: {finding}", err=True)
    if len(lost) > MOST_LOST:
        more = f"and {len(lost) - MOST_LOST} more links that do not fit"
        typer.echo(f"flexor: {file}: {more}; flexor inspect names all", err=True)
