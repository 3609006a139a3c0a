"""Targets: sizes, samples, buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawList
from flexor.draw.target import Target, init_target
from flexor.errors import SettingError
from flexor.scene.character.camera import Camera


@pytest.mark.parametrize(
    "size",
    [
        (0, 10),
        (10, 0),
        (-1, 5),
        (8193, 1),
        (1, 8193),
        (10.5, 10),
        (10,),
        (10, 10, 4),
        10,
        "10x10",
        (None, 3),
        (float("nan"), 3),
    ],
)
def test_wrong_sizes(size: Any) -> None:
    with pytest.raises(SettingError, match=r"size: .* expected \(width, height\)"):
        init_target(size)


def test_infinite_size() -> None:
    with pytest.raises(SettingError, match="size"):
        init_target((float("inf"), 3))  # type: ignore[arg-type]


def test_the_largest_picture() -> None:
    """As wide and as high as can be, but not both."""
    assert init_target((8192, 1)).size == (8192, 1)
    assert init_target((1, 8192)).size == (1, 8192)


@pytest.mark.parametrize("samples", [0, 2, 3, 8, -1, None, "4"])
def test_wrong_samples(samples: Any) -> None:
    with pytest.raises(SettingError, match=r"samples: .* expected 1 or 4"):
        init_target((4, 4), samples)


def test_unknown_buffers() -> None:
    with pytest.raises(
        SettingError, match=r"buffers: \['motion'\], expected some of depth, normal"
    ):
        init_target((4, 4), buffers=["depth", "motion"])  # type: ignore[list-item]


def test_what_is_made() -> None:
    target = init_target((5, 3), 4, ("depth", "normal", "part", "heat"))
    assert target.size == (5, 3)
    assert target.samples == 4
    assert target.skipped == 0
    assert target.colour.shape == (3, 5, 4)
    assert target.colour.dtype == np.uint8
    assert target.depth is not None
    assert target.depth.dtype == np.float32
    assert np.isinf(target.depth).all()
    assert target.normal is not None
    assert target.normal.shape == (3, 5, 3)
    assert target.part is not None
    assert target.part.dtype == np.int32
    assert (target.part == -1).all()
    assert target.heat is not None
    assert np.isnan(target.heat).all()


def test_nothing_else_is_made() -> None:
    target = init_target((5, 3))
    assert target.samples == 1
    assert target.depth is target.normal is target.part is target.heat is None


def test_sizes_from_arrays() -> None:
    assert init_target(np.array([4, 2])).size == (4, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("samples", [0, 2, 8, -1])
def test_samples_are_checked_again_when_drawing(
    any_backend: Backend, samples: int
) -> None:
    """A target can be changed; kernels would write beyond their rows."""
    target = init_target((8, 8), 4)
    target.samples = samples
    with pytest.raises(SettingError, match="samples"):
        any_backend.draw(DrawList(Camera()), target)


@pytest.mark.parametrize("shape", [(0, 0, 4), (4, 9000, 4), (9000, 4, 4)])
def test_sizes_are_checked_again_when_drawing(
    any_backend: Backend, shape: tuple[int, int, int]
) -> None:
    with pytest.raises(SettingError, match="size"):
        any_backend.draw(DrawList(Camera()), Target(np.zeros(shape, np.uint8)))
