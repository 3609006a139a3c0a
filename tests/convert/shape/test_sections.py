"""Cross-sections: ellipses that are known, offsets, bones with little around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.shape.body import Pull
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import derive_sections


def tube(
    length: float, base: Any, tip: Any, offset: Any = (0.0, 0.0), rings: int = 21
) -> Any:
    """Rings of an elliptic tube along X; base, tip: radii along Y and Z."""
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    places = []
    for t in np.linspace(0, 1, rings):
        y, z = np.asarray(base) + t * (np.asarray(tip) - base)
        ring = np.stack(
            [
                np.full(40, t * length),
                offset[0] + y * np.cos(angles),
                offset[1] + z * np.sin(angles),
            ],
            1,
        )
        places.append(ring)
    return np.concatenate(places)


def all_on(count: int, joint: int = 0) -> Pull:
    return Pull(np.full((count, 1), joint, np.int32), np.ones((count, 1), np.float32))


def along_x(*lengths: float) -> Bones:
    frames = np.tile(np.eye(3, 4), (len(lengths), 1, 1))
    return Bones(frames, np.array(lengths), np.full(len(lengths), -1, np.int32))


@pytest.mark.parametrize("offset", [(0, 0), (0.3, -0.2)])
def test_an_ellipse_is_found_again(offset: Any) -> None:
    places = tube(3, (0.5, 0.2), (0.5, 0.2), offset)
    found = derive_sections(places, all_on(len(places)), along_x(3), 3)
    np.testing.assert_allclose(found.radii[0], [[0.5, 0.2]] * 2, rtol=0.06)
    np.testing.assert_allclose(found.offsets[0], [offset] * 2, atol=0.02)
    assert found.known.all()


def test_a_taper_is_seen() -> None:
    places = tube(4, (0.8, 0.8), (0.2, 0.2))
    found = derive_sections(places, all_on(len(places)), along_x(4), 4)
    base, tip = found.thickness[0]
    assert 0.6 < base < 0.85
    assert 0.15 < tip < 0.4


def test_far_vertices_of_an_ear_do_not_widen_a_head() -> None:
    places = tube(1, (0.2, 0.2), (0.2, 0.2))
    ear = np.array([[0.5, 1.5, 0]] * 20)
    both = np.concatenate([places, ear])
    found = derive_sections(both, all_on(len(both)), along_x(1), 2)
    assert found.thickness.max() < 0.3


def test_vertices_that_hang_on_it_little_do_not_count() -> None:
    places = np.concatenate([tube(1, (0.2, 0.2), (0.2, 0.2)), np.full((100, 3), 5.0)])
    joints = np.tile(np.array([0, 1], np.int32), (len(places), 1))
    weights = np.tile(np.array([1, 0], np.float32), (len(places), 1))
    weights[-100:] = [0.2, 0.8]
    found = derive_sections(places, Pull(joints, weights), along_x(1, 1), 5)
    assert found.thickness[0].max() < 0.25


def test_bones_with_nothing_around_them_have_some_thickness() -> None:
    places = tube(1, (0.2, 0.2), (0.2, 0.2))
    bones = along_x(1, 0.4, 0)
    found = derive_sections(places, all_on(len(places)), bones, 1)
    assert found.known.tolist() == [True, False, False]
    np.testing.assert_allclose(found.radii[1], 0.1)
    np.testing.assert_allclose(found.radii[2], np.median(found.radii[0]))


@pytest.mark.parametrize("count", [0, 1, 5, 6])
def test_few_vertices_are_survived(count: int) -> None:
    places = np.zeros((count, 3))
    found = derive_sections(places, all_on(count), along_x(0.0), 2)
    assert (found.radii >= 2e-3).all()
    assert np.isfinite(found.offsets).all()
