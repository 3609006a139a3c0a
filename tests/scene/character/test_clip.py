"""Tracks and clips: refusals, duration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.character.clip import Clip, Track


def make(**changes: Any) -> Track:
    parts: dict[str, Any] = {
        "node": 0,
        "path": "translation",
        "times": [0, 1],
        "values": np.zeros((2, 3)),
    }
    return Track(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"times": [[0, 1]]}, "times: shape"),
        (
            {"times": [], "values": np.zeros((0, 3))},
            "times: a track needs at least one key",
        ),
        ({"times": [0, 0]}, "times: must rise from key to key"),
        ({"times": [1, 0]}, "times: must rise from key to key"),
        ({"times": [0, 1e-60]}, "times: must rise from key to key"),  # equal as float32
        ({"times": [0, np.nan]}, "times, values: must be finite"),
        ({"times": [0, np.inf]}, "times, values: must be finite"),
        ({"values": np.full((2, 3), np.nan)}, "times, values: must be finite"),
        ({"values": np.zeros((3, 3))}, r"values: shape \(3, 3\), expected \(2, 3\)"),
        ({"values": np.zeros((2, 4))}, "values: shape"),
        ({"path": "rotation"}, r"values: shape \(2, 3\), expected \(2, 4\)"),
        ({"path": "scale", "values": np.zeros((2, 1))}, "values: shape"),
        (
            {"interpolation": "CUBICSPLINE"},
            r"values: shape \(2, 3\), expected \(2, 3, 3\)",
        ),
        ({"path": "weights", "values": np.zeros(2)}, r"expected \(2, any\)"),
        ({"path": "colour"}, "path: 'colour'"),
        ({"interpolation": "SMOOTH"}, "interpolation: 'SMOOTH'"),
    ],
)
def test_refusals(changes: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make(**changes)


@pytest.mark.parametrize(
    ("path", "kind", "shape"),
    [
        ("translation", "LINEAR", (2, 3)),
        ("rotation", "STEP", (2, 4)),
        ("scale", "CUBICSPLINE", (2, 3, 3)),
        ("rotation", "CUBICSPLINE", (2, 3, 4)),
        ("weights", "LINEAR", (2, 7)),
        ("weights", "CUBICSPLINE", (2, 3, 7)),
    ],
)
def test_accepted(path: str, kind: str, shape: Any) -> None:
    track = make(path=path, interpolation=kind, values=np.zeros(shape))
    assert track.times.dtype == track.values.dtype == np.float32
    assert not track.times.flags.writeable
    assert not track.values.flags.writeable


def test_duration_is_the_last_key_of_all() -> None:
    late = make(times=[0.5, 3.25])
    assert Clip("walk", [make(), late, make()]).duration == 3.25  # type: ignore[arg-type]
    early = replace(make(), times=make().times - 100)
    assert Clip("early", (early,)).duration == 0
    assert Clip("empty", ()).duration == 0
    assert isinstance(Clip("walk", [make()]).tracks, tuple)  # type: ignore[arg-type]
