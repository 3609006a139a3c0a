"""The settings of a repair: a value for every setting of the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from flexor.convert.repair.passes import TABLE, RepairWords
from flexor.convert.repair.rows import Pass, Stage, Values

__all__ = [
    "AUTOMATIC",
    "RepairSettings",
    "asked_or_automatic",
    "changing_nothing",
    "make_settings",
    "take_words",
]

# What is done when nothing is asked for: each is kept only where it looks better.
AUTOMATIC = {"rogues": True, "ease": True, "links": 3, "twists": 6}


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """Which passes are done, and how; `make_settings` makes and checks them.

    given: names of the settings that were said, the others are at their defaults;
    is_automatic: whether the automatic recipe is done, as no pass was asked for.
    """

    values: Values
    given: frozenset[str] = field(default=frozenset(), compare=False)
    is_automatic: bool = False

    def passes(self) -> tuple[str, ...]:
        """Names of what is asked for, in the order of the table."""
        return tuple(
            row.name
            for keyword, row in TABLE.passes.items()
            if TABLE.is_on(keyword, self.values)
        )

    def due(self, stage: Stage) -> Iterator[Pass]:
        """The passes of a stage that are done, in the order of the table."""
        for keyword, row in TABLE.passes.items():
            if row.stage == stage:
                if row.is_usual or TABLE.is_on(keyword, self.values):
                    yield row


def make_settings(given: Mapping[str, Any]) -> RepairSettings:
    """Settings by name, the others at their defaults; SettingError for no good ones."""
    values = {name: setting.default for name, setting in TABLE.settings.items()}
    for name, value in given.items():
        TABLE.settings[name].check(value)
        values[name] = tuple(value) if isinstance(value, list) else value
    return RepairSettings(MappingProxyType(values), frozenset(given))


def take_words(words: RepairWords) -> RepairSettings:
    """Settings by the keywords of `flexor.repair`, which takes more kinds of values."""
    given = {name: TABLE.settings[name].take(value) for name, value in words.items()}
    return make_settings(given)


def asked_or_automatic(settings: RepairSettings) -> RepairSettings:
    """The settings, with the automatic recipe if they ask for no pass.

    What was said to be off stays off.
    """
    if settings.passes():
        return settings
    added = {
        name: value for name, value in AUTOMATIC.items() if name not in settings.given
    }
    values = MappingProxyType({**settings.values, **added})
    return RepairSettings(values, settings.given, is_automatic=True)


def changing_nothing(settings: RepairSettings) -> RepairSettings:
    """The settings without the passes that change weights and put in links."""
    off = {
        keyword: False
        for keyword, row in TABLE.passes.items()
        if row.stage in ("weights", "links")
    }
    values = MappingProxyType({**settings.values, **off, "twists": 0})
    return RepairSettings(values, settings.given, settings.is_automatic)
