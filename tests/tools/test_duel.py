"""The clips of a fight: they meet in one guard, stand firmly and do what they say."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character

FROM_GUARD = ["punch", "kick", "stance", "guard", "parry", "hit", "spin-kick"]
TO_GUARD = ["punch", "kick", "stance", "parry", "hit", "recoil", "spin-kick"]
RATE = 120


@cache
def hero() -> Character:
    return flexor.samples.mannequin()


def places(clip: str, *names: str) -> tuple[Any, ...]:
    """Times (T,) and the places (T, 3) of joints."""
    times = np.arange(0, hero().clips[clip].duration + 1e-6, 1 / RATE)
    world = hero().pose_many(clip, times).world
    return times, *(world[:, hero().skeleton.index(n), :, 3] for n in names)


def differs_from_guard(clip: str, time: float) -> tuple[float, float]:
    """Metres and degrees by which the worst joint is off the first key of punch."""
    one, other = (hero().pose(*at).world for at in (("punch", 0.0), (clip, time)))
    away = np.linalg.norm(one[..., 3] - other[..., 3], axis=-1).max()
    trace = np.einsum("jab,jab->j", one[..., :3], other[..., :3])
    angle = np.degrees(np.arccos(np.clip((trace - 1) / 2, -1, 1))).max()
    return float(away), float(angle)


@pytest.mark.parametrize(
    ("clip", "is_end"),
    [*[(clip, False) for clip in FROM_GUARD], *[(clip, True) for clip in TO_GUARD]],
)
def test_clips_meet_in_the_guard(clip: str, is_end: bool) -> None:
    away, angle = differs_from_guard(clip, hero().clips[clip].duration * is_end)
    # Knees and the right elbow of the kick point a little otherwise than the punch's.
    assert away < (0.02 if clip == "kick" else 1e-3)
    assert angle < (8 if clip == "kick" else 0.1)


@pytest.mark.parametrize(
    ("clip", "duration"),
    [
        *[("stance", 1.6), ("guard", 0.4), ("parry", 0.5), ("hit", 0.55)],
        *[("recoil", 0.7), ("sidestep", 0.6), ("spin-kick", 1.1), ("cheer", 2.0)],
    ],
)
def test_durations(clip: str, duration: float) -> None:
    assert hero().clips[clip].duration == pytest.approx(duration)


@pytest.mark.parametrize("clip", ["stance", "guard", "parry", "hit", "cheer"])
def test_feet_stay_where_they_stand(clip: str) -> None:
    _, left, right = places(clip, "l-toe", "r-toe")
    for toe in (left, right):
        assert np.abs(toe - toe[0]).max() < 1e-3


@pytest.mark.parametrize(
    ("clip", "joint", "hit", "height"),
    [
        ("punch", "r-middle0", 0.30, (1.3, 1.5)),
        ("kick", "r-toe", 0.45, (1.0, 1.2)),
        ("spin-kick", "r-ankle", 0.50, (0.95, 1.2)),
    ],
)
def test_blows_hit_when_they_say(
    clip: str, joint: str, hit: float, height: tuple[float, float]
) -> None:
    times, place = places(clip, joint)
    furthest = place[:, 2].argmax()
    assert times[furthest] == pytest.approx(hit, abs=0.02)
    assert place[furthest, 2] > 0.8
    assert abs(place[furthest, 0]) < 0.15, "in the middle before it"
    assert height[0] < place[furthest, 1] < height[1]


def test_spin_kick_goes_once_round_on_the_left_foot() -> None:
    clip = hero().clips["spin-kick"]
    (turns,) = (t for t in clip.tracks if (t.node, t.path) == (0, "rotation"))
    step = np.sum(turns.values[1:] * turns.values[:-1], axis=1)
    assert step.min() > np.cos(np.radians(8)), "no jump, no change of sign"
    np.testing.assert_allclose(turns.values[-1], -turns.values[0], atol=1e-3)
    times, left, right, ankle = places("spin-kick", "l-hip", "r-hip", "r-ankle")
    across = left - right
    yaw = np.degrees(np.unwrap(np.arctan2(-across[:, 2], across[:, 0])))
    assert yaw[-1] - yaw[0] == pytest.approx(-360, abs=0.1)
    (_, toe) = places("spin-kick", "l-toe")
    assert np.abs(toe - toe[0]).max() < 2e-3
    sweep = ankle[(times > 0.43) & (times < 0.57)]
    assert sweep[0, 0] > 0.4, "from its left"
    assert sweep[-1, 0] < -0.4, "to its right"


def test_sidestep_goes_left_and_never_crosses_the_feet() -> None:
    _, left, right = places("sidestep", "l-toe", "r-toe")
    assert (left[:, 0] - right[:, 0]).min() > 0.15
    assert (left[:, 2] > right[:, 2]).all()


def test_guard_covers_face_and_chest_and_parry_sweeps_to_the_left() -> None:
    names = ("head", "l-middle0", "r-middle0", "l-elbow", "r-elbow", "hips")
    times, head, *hands, left, right, hips = places("guard", *names)
    held = times >= 0.12
    for hand in hands:
        assert (np.abs(hand - head)[held, 1] < 0.12).all(), "before the face"
        assert (hand[held, 2] > head[held, 2] + 0.1).all()
    for elbow in (left, right):
        assert (elbow[held, 1] < head[held, 1] - 0.15).all(), "before the chest"
    assert hips[-1, 1] < hips[0, 1] - 0.03
    times, wrist = places("parry", "r-wrist")
    swept = wrist[np.searchsorted(times, 0.2)] - wrist[np.searchsorted(times, 0.07)]
    assert swept[0] > 0.15


def test_blows_throw_back_those_they_hit_and_those_that_are_parried() -> None:
    for clip, least in (("hit", 0.15), ("recoil", 0.2)):
        _, head, hips = places(clip, "head", "hips")
        assert (head[:, 2] - head[-1, 2]).min() < -least
        assert (hips[:, 2] - hips[-1, 2]).min() < -0.08
    _, wrist = places("recoil", "r-wrist")
    assert (wrist[:, 0] < -0.4).any(), "the arm is flung out"


def test_cheer_has_a_fist_above_the_head() -> None:
    _, fist, head = places("cheer", "r-wrist", "head")
    assert (fist[:, 1] > head[:, 1]).all()
    assert fist[:, 1].max() > head[:, 1].max() + 0.35
