"""Packed clips: what they hold, as numbers and as tracks, and what is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.character.clip import Clip, Track
from flexor.scene.runtime.packed_clip import PackedClip, track_bytes, unpacked
from tests.oracle import packed as oracle
from tests.packed_clips import packed_clip


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 5, 6, 9, 64])
def test_numbers_are_those_of_the_twin(rng: Any, frames: int) -> None:
    clip = packed_clip(rng, frames)
    np.testing.assert_array_equal(clip.numbers(), oracle.read_numbers(clip))


def test_tracks_have_a_key_for_every_frame(rng: Any) -> None:
    clip = packed_clip(rng)
    tracks = {(track.node, track.path): track for track in clip.tracks}
    assert len(tracks) == 5
    for (node, path), track in tracks.items():
        at = {"translation": 0, "rotation": 3, "scale": 7}[path]
        for frame in (0, 7, 22):
            time = clip.start + frame / clip.rate
            skeleton = _skeleton()
            parts = oracle.local_parts(skeleton, clip, time)[node]
            value = track.values[frame]
            if path == "rotation" and value @ parts[3:7] < 0:
                value = -value
            np.testing.assert_allclose(value, parts[at : at + len(value)], atol=2e-6)
        assert len(track.times) == clip.frames
    assert clip.nodes == {0, 1, 2}


def _skeleton() -> Any:
    from tests.packed_clips import arm

    return arm(3)


def test_unpacked_lasts_as_long(rng: Any) -> None:
    still = Track(5, "scale", np.zeros(1), np.ones((1, 3)))
    clip = dataclasses.replace(packed_clip(rng, keyed=(still,)), duration=4.0)
    plain = unpacked(clip)
    assert plain.duration == 4.0
    assert plain.name == "packed"
    assert unpacked(plain) is plain


def test_bytes_count_everything(rng: Any) -> None:
    still = Track(5, "scale", np.zeros(1), np.ones((1, 3)))
    clip = packed_clip(rng, keyed=(still,))
    arrays = sum(
        getattr(clip, name).nbytes
        for name in (
            *("rotation_nodes", "turns", "vector_nodes", "vector_paths", "bases"),
            *("slots", "steps", "widths", "words"),
        )
    )
    assert clip.nbytes == arrays + 20 + track_bytes((still,)) == arrays + 20 + 16


def test_shared_times_are_counted_once() -> None:
    times = np.arange(3.0)
    tracks = [Track(n, "scale", times.copy(), np.ones((3, 3))) for n in (0, 1)]
    assert track_bytes(tuple(tracks)) == 12 + 2 * 36
    assert Clip("a", tuple(tracks)).nodes == {0, 1}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"frames": 0}, "frames"),
    ({"frames": 400}, "widths|words"),
    ({"segment": 3}, "power of two"),
    ({"segment": 0}, "segment"),
    ({"segment": 128}, "segment"),
    ({"frames": 1 << 23}, "frames"),
    (
        {
            "frames": 1 << 20,
            "slots": np.zeros(0),
            "steps": np.zeros(0),
            "widths": np.zeros((4097, 3, 0)),
            "segment": 64,
        },
        "too many for what they hold",
    ),
    ({"rate": 0.0}, "rate"),
    ({"rate": float("nan")}, "rate: must be finite"),
    ({"start": float("inf")}, "start: must be finite"),
    ({"duration": -1.0}, "duration"),
    ({"turns": np.zeros((3, 8))}, "without direction"),
    ({"turns": np.zeros((2, 8))}, "turns: shape"),
    ({"vector_paths": np.array([0, 2])}, "vector_paths"),
    ({"vector_nodes": np.array([1, 1]), "vector_paths": np.zeros(2)}, "same property"),
    ({"words": np.zeros(3)}, "words"),
    ({"bases": np.full((2, 3), np.nan)}, "must be finite"),
]


@pytest.mark.parametrize(("change", "match"), WRONG)
def test_refused(rng: Any, change: dict[str, Any], match: str) -> None:
    with pytest.raises(ShapeError, match=match):
        dataclasses.replace(packed_clip(rng), **change)


def test_columns_must_rise_and_exist(rng: Any) -> None:
    clip = packed_clip(rng)
    for slots in (
        clip.slots[::-1],
        clip.slots + 15,
        np.repeat(clip.slots[:1], len(clip.slots)),
    ):
        with pytest.raises(ShapeError, match="slots"):
            dataclasses.replace(clip, slots=slots.copy())
    with pytest.raises(ShapeError, match="steps"):
        dataclasses.replace(clip, steps=-clip.steps)


def test_arrays_are_locked(rng: Any) -> None:
    clip = packed_clip(rng)
    with pytest.raises(ValueError, match="read-only"):
        clip.words[0] = 1
    assert isinstance(clip, PackedClip)
