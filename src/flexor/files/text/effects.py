"""Effects of a stage in its text file: leaves, snow, water, sand, afterimages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from flexor.errors import SettingError
from flexor.files.text.toml_make import make_of, words_of
from flexor.files.text.toml_text import Angle, Keys, TomlFile, Words
from flexor.scene.stage.effect_settings import (
    STAGE_CHURN,
    STAGE_LEAVES,
    STAGE_WIND,
    AfterimageSettings,
    ChurnSettings,
    EffectPlan,
    EndlessSettings,
    GustSettings,
    LeafSettings,
    SnowSettings,
    WindSettings,
)

__all__ = ["EFFECTS", "read_effects"]


def _words(made: Any, *without: str) -> Words:
    """Words of a class, without some that a text file has no way to say."""
    every = words_of(made)
    return {word: kind for word, kind in every.items() if word not in without}


# By table: what its words make, from which values on, and where that goes; and words
# of its own: their kinds and what they are called in the plan.
EFFECTS: Mapping[str, tuple[str, Any, Words, Words]] = {
    "leaves": (
        "leaf",
        STAGE_LEAVES,
        words_of(LeafSettings),
        {"count": (int, "leaves"), "area": (tuple, "leaf_area")},
    ),
    "snow": (
        "flake",
        SnowSettings(),
        _words(SnowSettings, "swirls"),
        {"count": (int, "snow"), "falls": (bool, "is_snowing")},
    ),
    "churn": (
        "drops",
        STAGE_CHURN,
        _words(ChurnSettings, "parts"),
        {"on": (bool, "churn")},
    ),
    "water": (
        "ripples",
        EndlessSettings(),
        words_of(EndlessSettings),
        {"level": (float, "water")},
    ),
    "wind": ("wind", STAGE_WIND, words_of(WindSettings), {}),
    "gusts": (
        "gusts",
        GustSettings(),
        words_of(GustSettings, heading=Angle, sway=Angle),
        {},
    ),
    "afterimages": (
        "afterimages",
        AfterimageSettings(),
        words_of(AfterimageSettings, style=str),
        {},
    ),
}


def read_effects(file: TomlFile, top: Mapping[str, Any]) -> EffectPlan:
    """The effects that the tables of a stage describe."""
    plan = EffectPlan()
    for word, (place, usual, known, more) in EFFECTS.items():
        if word not in top:
            continue
        keys: Keys = (word,)
        # Read by the names that the file has, so that faults are told by those.
        every = {key: (kind, key) for key, (kind, _) in more.items()}
        own = file.table(top[word], {**known, **every}, keys)
        direct = {more[key][1]: own.pop(key) for key in more if key in own}
        made = make_of(file, keys, partial(replace, usual), own, known)
        try:
            plan = replace(plan, **{place: made, **direct})
        except SettingError as error:
            name, _, fault = str(error).partition(": ")
            called = {inside: key for key, (_, inside) in more.items()}
            raise file.refuse((*keys, called.get(name, name)), fault) from None
    return plan
