"""Fans and rings of limits, and where joints stand in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.items.limits import (
    MARK,
    OUTSIDE,
    RADII,
    TURNS,
    JointAngles,
    LimitShapes,
    build_limits,
    make_arc,
    upload_fan,
)
from flexor.draw.record.backend import RecordBackend
from flexor.maths import quaternions
from flexor.maths.euler import from_euler
from tests.scenes import random_rotations

Rng = np.random.Generator
LOW, HIGH = np.array([-0.3, -0.4, -0.6]), np.array([1.5, 0.5, 0.7])


def shapes(rng: Rng, count: int = 4) -> LimitShapes:
    return LimitShapes(
        np.arange(count, dtype=np.int32),
        random_rotations(rng, count),
        np.tile(LOW, (count, 1)),
        np.tile(HIGH, (count, 1)),
        np.ones((count, 3), bool),
        rng.uniform(0.1, 0.4, count),
        np.ones(count),
        0,
        part=3,
    )


def stands(rng: Rng, angles: Any) -> JointAngles:
    axes = quaternions.to_matrix(random_rotations(rng, len(angles)))
    return JointAngles(
        np.asarray(angles, float), rng.normal(size=(len(angles), 3)), axes
    )


def every(count: int = 4) -> Any:
    return np.ones(count, bool)


def bones(given: LimitShapes, now: JointAngles) -> Any:
    """world_from_bone (Q, 3, 3) of the joints as they stand."""
    turned = quaternions.multiply(given.frames, from_euler(now.angles))
    return now.axes @ quaternions.to_matrix(turned)


def test_marks_are_where_the_bones_are(rng: Rng) -> None:
    given = shapes(rng)
    now = stands(rng, rng.uniform(LOW, HIGH, (4, 3)))
    frames = bones(given, now)
    # The fan about Y holds the bone itself; that about Z its turn before that about Y.
    fan = make_arc(given, now, 1, every())
    along = fan.points(1.0, fan.stands)[:, 0] - now.places
    np.testing.assert_allclose(along, given.radii[:, None] * frames[:, :, 0], atol=1e-9)
    level = JointAngles(now.angles * [1, 0, 0], now.places, now.axes)
    fan = make_arc(given, now, 0, every())
    along = fan.points(1.0, fan.stands)[:, 0] - now.places
    first = given.radii[:, None] * bones(given, level)[:, :, 0]
    np.testing.assert_allclose(along, first, atol=1e-9)
    # The ring lies across the bone, its mark where the bone's own Y is.
    ring = make_arc(given, now, 2, every())
    around = ring.points(1.0, ring.stands)[:, 0] - ring.points(0.0, ring.stands)[:, 0]
    np.testing.assert_allclose(
        around, given.radii[:, None] * frames[:, :, 1], atol=1e-9
    )


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_fans_go_from_low_to_high(rng: Rng, axis: int) -> None:
    given = shapes(rng)
    now = stands(rng, np.zeros((4, 3)))
    fan = make_arc(given, now, axis, every())
    rim = fan.points(1.0, fan.sweep)
    middle = fan.points(0.0, fan.low)
    arms = rim - middle
    radii = np.linalg.norm(arms, axis=2)
    np.testing.assert_allclose(radii, np.tile(given.radii[:, None], (1, 25)))
    units = arms / radii[..., None]
    steps = np.arccos(np.clip((units[:, 1:] * units[:, :-1]).sum(2), -1, 1)).sum(1)
    np.testing.assert_allclose(steps, HIGH[axis] - LOW[axis], atol=1e-6)


def test_what_is_drawn(rng: Rng) -> None:
    given = shapes(rng)
    given.shown[2] = False, True, False
    given.widths[3] = 0.5
    now = stands(rng, np.zeros((4, 3)))
    items, lines = build_limits(given, now, 2.0)
    assert sum(len(item.positions) for item in items) == 3 * 3 + 1
    assert all(item.layer == 1 and item.part == 3 for item in items)
    assert all(line.layer == 1 and line.part == 3 for line in lines)
    tints = np.concatenate([item.tints for item in items if item.tints is not None])
    seen = np.unique(tints[:, :3], axis=0)
    np.testing.assert_array_equal(seen, np.unique(np.float32(TURNS), axis=0))
    assert len({line.width for line in lines}) == 4  # two kinds of two sizes


def test_a_mark_outside_looks_different(rng: Rng) -> None:
    given = shapes(rng)
    angles = np.zeros((4, 3))
    angles[1, 0], angles[2, 1], angles[3, 0] = 1.6, -0.5, 1.5
    _, lines = build_limits(given, stands(rng, angles), 2.0)
    marks = lines[-3:]  # after fans and rims: about Z, Y and X
    inside, outside = np.float32(MARK), np.float32(OUTSIDE)
    for axis, wrong in ((0, 1), (1, 2), (2, None)):
        for joint in range(4):
            expected = outside if joint == wrong else inside
            np.testing.assert_allclose(marks[axis].colours[joint, :3], expected)


def test_marks_reach_over_the_rim(rng: Rng) -> None:
    given = shapes(rng)
    now = stands(rng, np.zeros((4, 3)))
    _, lines = build_limits(given, now, 2.0)
    about_z = lines[-3].points.astype(np.float64)
    np.testing.assert_allclose(about_z[:, 0], now.places, atol=1e-6)
    long = np.linalg.norm(about_z[:, 1] - about_z[:, 0], axis=1)
    assert (long > given.radii * RADII[0] * 1.05).all()


def test_the_fan_is_a_strip() -> None:
    store = RecordBackend()
    mesh = store.meshes[upload_fan(store)]
    assert mesh.faces.shape == (24, 4)
    assert mesh.vertex_count == 50
    assert np.bincount(mesh.faces.ravel()).max() == 2


def test_nothing(rng: Rng) -> None:
    given = shapes(rng, 0)
    assert build_limits(given, stands(rng, np.zeros((0, 3))), 1.0) == ((), ())
