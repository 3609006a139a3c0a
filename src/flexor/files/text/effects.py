"""Effects of a stage in its text file: leaves, snow, water, sand, marks, afterimages.

    [churn]                  # sand and water that are thrown up
    on = true
    base = 700               # drops for each metre that a part moves in a tick
    most = 96                # of one landing or kick
    scale = 9                # how many times as fast as parts they are thrown
    spread = 0.6             # radians that each flies beside the way of all
    reach = 0.3              # metres above the surface in which a kick still throws
    plough = 0.1             # of `base`, in each tick in which a part goes along in it
    wet = 1.2                # how many times as fast as sand water is thrown
    size = 0.34              # metres; also ticks, touch, jump, gravity, life

    [marks]                  # what is left behind
    prints = 20              # seconds in which footprints in sand fade, 0: none
    rings = 1.5              # seconds in which rings on water do
    most = 192               # at a time; the oldest give way

    [snow]
    count = 4000
    falls = true
    stir = 0.8               # what flakes take on of the speed of who moves among them
    drag = 0.95              # what they keep of it in each tick
    sizes = [0.025, 0.08]    # metres; also low, high, top, fall

    [water]
    level = -0.05            # metres: the surface where the ground is water
    near = 10                # metres from the camera up to which all frames are seen
    far = 40                 # metres from which every far_step-th is, patch by patch
    far_step = 5
    rate = 30                # frames a second

`[leaves]`, `[wind]`, `[gusts]` and `[afterimages]`: the words of `LeafSettings`,
`WindSettings`, `GustSettings` and `AfterimageSettings`; leaves have a `count` and an
`area` too.
"""

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
    MarkSettings,
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
    "marks": ("marks", MarkSettings(), words_of(MarkSettings), {}),
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
