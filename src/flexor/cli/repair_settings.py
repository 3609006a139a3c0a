"""Settings of a repair in a text file (TOML)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flexor.convert.links.link_weights import LinkSettings
from flexor.convert.repair.recipe import JointRule, RepairSettings
from flexor.convert.weights.smooth_weights import SmoothSettings
from flexor.errors import AssetError
from flexor.files.text.toml_text import find_line, read_table, read_toml

__all__ = ["read_settings"]

# Words of the file, and what they are called in the settings.
TOP = {
    "regenerate": (bool, "regenerate"),
    "rogues": (bool, "rogues"),
    "spare": (float, "spare"),
    "mirror": (str, "mirror"),
    "prune": (float, "prune"),
    "max_influences": (int, "most_influences"),
    "palette": (int, "most_palette"),
    "joints": (list, "joints"),
    "rigid": (list, "rigid"),
    "smooth": (dict, "smooth"),
    "links": (dict, "links"),
    "joint": (dict, "rules"),
}
SMOOTH = {
    "width": (float, "width"),
    "steps": (int, "most"),
    "enough": (float, "enough"),
}
CHAIN = {"count": (int, "count"), "length": (float, "length"), "fade": (float, "fade")}
LINKS = CHAIN | {"always": (bool, "is_forced")}


def read_settings(path: Path) -> RepairSettings:
    """The settings in a file; AssetError with line and key where it is wrong."""
    text, given = read_toml(path)
    values = read_table(path, text, given, TOP, (), RepairSettings)
    for key, known, make in (
        ("smooth", SMOOTH, SmoothSettings),
        ("links", LINKS, LinkSettings),
    ):
        if key in values:
            words = read_table(path, text, values[key], known, (key,), make)
            if "is_forced" in words:
                values["is_forced"] = words.pop("is_forced")
            values[key] = make(**words)
    rules = values.pop("rules", {})
    values["rules"] = tuple(_rule(path, text, one, rules) for one in rules)
    values |= {key: tuple(values[key]) for key in ("joints", "rigid") if key in values}
    return RepairSettings(**values)


def _rule(path: Path, text: str, pattern: str, rules: Mapping[str, Any]) -> JointRule:
    """The rule of one [joint."pattern"]."""
    keys = ("joint", pattern)
    if not isinstance(rules[pattern], dict):
        raise AssetError(
            path, find_line(text, keys), f"joint.{pattern}: expected a table"
        )
    words = read_table(path, text, rules[pattern], CHAIN, keys, LinkSettings)
    return JointRule(pattern=pattern, **words)
