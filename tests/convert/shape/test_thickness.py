"""Thickness of points: by hand, against the oracle, at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.body import Pull, body_surface, gather_bodies, merge_same
from flexor.convert.shape.bones import Bones, derive_bones
from flexor.convert.shape.sections import Sections, derive_sections
from flexor.convert.shape.thickness import point_thickness
from flexor.maths import transforms
from tests.oracle import thickness as oracle
from tests.scenes import random_rotations


def straight(*lengths: float) -> Bones:
    """Bones in a row along X."""
    frames = np.tile(np.eye(3, 4), (len(lengths), 1, 1))
    frames[:, 0, 3] = np.cumsum([0, *lengths[:-1]])
    tips = np.arange(1, len(lengths) + 1, dtype=np.int32)
    tips[-1:] = -1
    return Bones(frames, np.array(lengths), tips)


def round_sections(*ends: tuple[float, float]) -> Sections:
    radii = np.repeat(np.array(ends).reshape(-1, 2, 1), 2, 2)
    return Sections(radii, np.zeros_like(radii), np.ones(len(radii), bool))


def pull_of(*rows: dict[int, float]) -> Pull:
    joints = np.full((len(rows), 4), -1)
    weights = np.zeros((len(rows), 4))
    for i, row in enumerate(rows):
        joints[i, : len(row)] = list(row)
        weights[i, : len(row)] = list(row.values())
    return merge_same(joints, weights)


def test_a_taper_is_followed_and_ends_hold() -> None:
    places = np.array([[-1.0, 5, 0], [0, 0, 0], [0.5, 0, 1], [2, 0, 0], [9, 0, 0]])
    pull = pull_of(*[{0: 1.0}] * 5)
    found = point_thickness(places, pull, straight(2.0), round_sections((0.4, 0.2)))
    np.testing.assert_allclose(found, [0.4, 0.4, 0.35, 0.2, 0.2], atol=1e-12)


def test_bones_count_by_their_weight() -> None:
    bones, sections = straight(1.0, 1.0), round_sections((0.3, 0.3), (0.1, 0.1))
    pull = pull_of({0: 0.75, 1: 0.25}, {1: 1.0})
    found = point_thickness(np.zeros((2, 3)), pull, bones, sections)
    np.testing.assert_allclose(found, [0.25, 0.1], rtol=1e-6)


def test_an_ellipse_is_as_thick_as_a_circle_of_its_area() -> None:
    radii = np.array([[[0.4, 0.1], [0.4, 0.1]]])
    sections = Sections(radii, np.zeros_like(radii), np.ones(1, bool))
    found = point_thickness(np.zeros((1, 3)), pull_of({0: 1}), straight(1.0), sections)
    np.testing.assert_allclose(found, [0.2])


@pytest.mark.parametrize("length", [0.0, 1e-308, 5e-324])
def test_a_bone_without_length_has_the_mean_of_its_ends(length: float) -> None:
    sections = round_sections((0.4, 0.2))
    found = point_thickness(
        np.ones((1, 3)), pull_of({0: 1}), straight(length), sections
    )
    np.testing.assert_allclose(found, [0.3])


def test_what_nothing_pulls_takes_the_median() -> None:
    bones, sections = straight(1, 1, 1), round_sections((1, 1), (2, 2), (9, 9))
    pull = Pull(np.full((2, 1), -1, np.int32), np.zeros((2, 1), np.float32))
    found = point_thickness(np.zeros((2, 3)), pull, bones, sections)
    np.testing.assert_array_equal(found, [2, 2])


def test_nothing_at_all() -> None:
    none = Pull(np.zeros((0, 4), np.int32), np.zeros((0, 4), np.float32))
    two = straight(1, 1), round_sections((1, 1), (1, 1))
    assert point_thickness(np.zeros((0, 3)), none, *two).shape == (0,)
    loose = Pull(np.full((2, 1), -1, np.int32), np.zeros((2, 1), np.float32))
    bones = Bones(np.zeros((0, 3, 4)), np.zeros(0), np.zeros(0, np.int32))
    found = point_thickness(np.zeros((2, 3)), loose, bones, round_sections())
    np.testing.assert_array_equal(found, [0, 0])


@pytest.mark.parametrize("seed", range(8))
def test_random_bones_against_the_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, points = int(rng.integers(1, 9)), int(rng.integers(1, 60))
    frames: Any = transforms.compose(
        rng.normal(size=(count, 3)), random_rotations(rng, count), np.ones((count, 3))
    )
    lengths = np.where(rng.random(count) < 0.2, 0, rng.uniform(0.1, 2, count))
    bones = Bones(frames, lengths, np.full(count, -1, np.int32))
    radii = rng.uniform(0.01, 1, (count, 2, 2))
    sections = Sections(radii, np.zeros_like(radii), np.ones(count, bool))
    names = rng.integers(-1, count, (points, 5))
    pull = merge_same(names, rng.uniform(-0.3, 1, (points, 5)))
    places = rng.normal(size=(points, 3))
    np.testing.assert_allclose(
        point_thickness(places, pull, bones, sections),
        oracle.point_thickness(places, pull, bones, sections),
        rtol=1e-9,
    )


def test_fingers_are_thinner_than_the_chest() -> None:
    body = gather_bodies(flexor.samples.mannequin().scene)[0]
    surface = body_surface(body)
    pull = body.pull.take(surface.vertex_of_point)
    bones = derive_bones(body, surface.positions, pull)
    sections = derive_sections(surface.positions, pull, bones, body.size)
    found = point_thickness(surface.positions, pull, bones, sections)
    assert found.min() > 0
    main = pull.joints[:, 0]
    chest = found[main == body.names.index("chest")].mean()
    finger = next(i for i, name in enumerate(body.names) if "index" in name)
    assert 3 * found[main == finger].mean() < chest
