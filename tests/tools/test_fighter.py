"""The clips of a fight's second file: on the floor, on their feet, where they say."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character

NEW = {
    "advance": 0.5,
    "retreat": 0.5,
    "crouch": 0.4,
    "low-kick": 0.95,
    "hit-low": 0.65,
    "throw": 1.7,
    "thrown": 1.7,
    "down-back": 1.15,
    "down-front": 1.1,
    "lie-back": 2.0,
    "lie-front": 2.0,
    "rise-back": 1.5,
    "rise-front": 1.5,
    "collapse-back": 1.6,
    "collapse-front": 1.7,
    "collapse-left": 1.6,
}
RATE = 60


@cache
def hero() -> Character:
    return flexor.samples.fighter()


@cache
def skin(clip: str) -> Any:
    """Vertices (T, V, 3) of a clip, 60 times a second."""
    times = np.arange(0, NEW[clip] + 1e-6, 1 / RATE)
    (part,) = hero().deform_many(hero().pose_many(clip, times))
    return part.positions.astype(np.float64)


def world(clip: str, time: float) -> Any:
    return hero().pose(clip, time).world[:64].astype(np.float64)


def on_spot(world: Any) -> Any:
    """World matrices with the hips over the origin."""
    moved = world.copy()
    moved[:, [0, 2], 3] -= world[0, [0, 2], 3]
    return moved


def test_the_fighter_is_the_mannequin_with_more_clips() -> None:
    mannequin = flexor.samples.mannequin()
    assert hero().skeleton.names == mannequin.skeleton.names
    assert list(hero().clips) == [*mannequin.clips, *NEW]
    for name, length in NEW.items():
        assert hero().clips[name].duration == pytest.approx(length)
    carried = {name: (hero().clips[name].carried or {})["extras"] for name in NEW}
    assert carried["advance"]["velocity"] == [0, 0, 1.2]
    assert carried["retreat"]["velocity"] == [0, 0, -1.2]
    loops = {name for name in NEW if carried[name]["loop"]}
    assert loops == {"advance", "retreat", "lie-back", "lie-front"}


@pytest.mark.parametrize("clip", NEW)
def test_nothing_is_under_the_floor(clip: str) -> None:
    low = skin(clip)[:, :, 1].min(1)
    assert low.min() > -0.01
    if clip != "thrown":
        is_down = low < 0.02
        assert is_down.mean() > 0.8, "somebody who does not jump touches the floor"


@pytest.mark.parametrize(
    ("clip", "is_end", "other"),
    [
        *[(c, False, "stance") for c in ("crouch", "low-kick", "hit-low", "throw")],
        *[(c, False, "stance") for c in ("thrown", "down-back", "down-front")],
        *[(f"collapse-{way}", False, "stance") for way in ("back", "front", "left")],
        *[(c, True, "stance") for c in ("low-kick", "hit-low", "throw")],
        *[(c, True, "stance") for c in ("rise-back", "rise-front")],
        *[(c, True, "lie-back") for c in ("down-back", "thrown")],
        ("down-front", True, "lie-front"),
        ("rise-back", False, "lie-back"),
        ("rise-front", False, "lie-front"),
    ],
)
def test_clips_meet_where_one_follows_the_other(
    clip: str, is_end: bool, other: str
) -> None:
    own = on_spot(world(clip, NEW[clip] * is_end))
    met = on_spot(world(other, 0.0))
    assert np.linalg.norm(own[:, :, 3] - met[:, :, 3], axis=-1).max() < 2e-3
    trace = np.einsum("jab,jab->j", own[:, :, :3], met[:, :, :3])
    assert np.degrees(np.arccos(np.clip((trace - 1) / 2, -1, 1))).max() < 1
