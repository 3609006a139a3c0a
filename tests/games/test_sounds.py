"""Sounds: nobody listens here, so their figures are looked at."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from flexor.errors import SettingError
from flexor.games.sounds import NAMES, SOUND_RATE, make_sound, mix_track

# Hz: where the middle of each sound's power is to be.
CENTRES = {
    "step_plain": (80, 600),
    "step_sand": (1500, 5000),
    "step_water": (600, 2500),
    "hit": (60, 400),
    "guard": (200, 700),
    "parry": (1200, 4000),
    "splash": (800, 3500),
    "swing": (500, 2000),
    "jump": (100, 900),
    "land": (50, 400),
    "ball": (90, 600),
    "post": (400, 1600),
    "net": (1500, 5500),
    "whistle": (2200, 3200),
    "goal": (400, 1600),
    "win": (500, 1800),
    "start": (400, 1400),
    "coin": (1800, 4500),
    "count": (250, 1000),
    "throw": (200, 1200),
    "fall": (40, 400),
}


def power(sound: NDArray[np.int16]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pitch = np.fft.rfftfreq(len(sound), 1 / SOUND_RATE)
    return pitch, np.abs(np.fft.rfft(sound[:, 0] / 32768)) ** 2


def test_every_sound_has_a_centre() -> None:
    assert set(NAMES) == set(CENTRES)


@pytest.mark.parametrize("name", NAMES)
def test_a_sound(name: str) -> None:
    sound = make_sound(name)
    assert sound.dtype == np.int16
    assert sound.shape[1] == 2
    assert 0.05 <= len(sound) / SOUND_RATE <= 1.5
    loudest = np.abs(sound.astype(int)).max() / 32768
    assert 0.15 < loudest < 0.8
    assert np.abs(sound.mean(0)).max() < 1  # of 32768
    assert not sound[[0, -1]].any()
    # No click: it is nearly still at both ends.
    assert np.abs(sound[:12].astype(int)).max() < 0.3 * loudest * 32768
    assert np.abs(sound[-200:].astype(int)).max() < 0.1 * loudest * 32768
    pitch, spectrum = power(sound)
    low, high = CENTRES[name]
    assert low < (pitch * spectrum).sum() / spectrum.sum() < high
    assert np.array_equal(sound, make_sound(name))
    assert not np.array_equal(sound[:, 0], sound[:, 1])


def test_sounds_differ() -> None:
    made = {make_sound(name).tobytes() for name in NAMES}
    assert len(made) == len(NAMES)


def test_a_whistle_is_a_tone_and_sand_is_none() -> None:
    shares = []
    for name in ("whistle", "step_sand"):
        pitch, spectrum = power(make_sound(name))
        near = np.abs(pitch - pitch[np.argmax(spectrum)]) < 200
        shares.append(spectrum[near].sum() / spectrum.sum())
    assert shares[0] > 0.75
    assert shares[1] < 0.3


@pytest.mark.parametrize("rate", [8000, 22050, 48000])
def test_other_rates(rate: int) -> None:
    sound = make_sound("parry", rate)
    assert len(sound) == round(0.85 * rate)
    assert np.abs(sound.astype(int)).max() == round(0.5 * 32767)


def test_refusals() -> None:
    with pytest.raises(SettingError, match="no sound 'boom'; there are: step_plain"):
        make_sound("boom")
    with pytest.raises(SettingError, match="rate: 100"):
        make_sound("hit", 100)
    with pytest.raises(SettingError, match="ticks: -1"):
        mix_track([], -1)


def test_a_track() -> None:
    track = mix_track([(30, "ball"), (500, "ball"), (-3, "ball")], 60)
    assert track.shape == (SOUND_RATE, 2)
    half = SOUND_RATE // 2
    assert not track[:half].any()
    sound = make_sound("ball")
    assert np.array_equal(track[half : half + len(sound)], sound)


def test_a_track_ends_softly_and_is_never_too_loud() -> None:
    track = mix_track([(0, name) for name in NAMES * 4], 10)
    assert len(track) == SOUND_RATE // 6
    assert np.abs(track.astype(int)).max() <= round(0.95 * 32767)
    assert not track[-1].any()
    assert mix_track([], 0).shape == (0, 2)
    assert not mix_track([], 6).any()
