"""How two rests lie to each other: axes, sizes, limbs."""

from __future__ import annotations

import numpy as np
import pytest

import flexor
from flexor.maths import quaternions
from flexor.pose.clips.retarget import rest_match
from flexor.scene.character.skeleton import rest_world
from flexor.scene.human.human import find_human

Rng = np.random.Generator


def test_a_turned_shape_is_found_exactly(rng: Rng) -> None:
    points = rng.normal(size=(9, 3))
    turn = quaternions.to_matrix(quaternions.normalise(rng.normal(size=4)))
    found = rest_match.common_axes(points, 7 * points @ turn.T + [1, 2, 3])
    np.testing.assert_allclose(found, turn, atol=1e-9)


def test_a_flat_shape_is_not_mirrored(rng: Rng) -> None:
    points = rng.normal(size=(9, 3)) * [1, 1, 0]
    found = rest_match.common_axes(points, points * [1, 1, -1])
    assert np.linalg.det(found) == pytest.approx(1)
    np.testing.assert_allclose(points @ found.T, points, atol=1e-9)


@pytest.mark.parametrize("degrees", [0, 90, 180, -90])
def test_other_poses_are_taken_for_right_angles(rng: Rng, degrees: float) -> None:
    angle = np.radians(degrees)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    points = rng.normal(size=(40, 3)) * [1, 3, 0.5]
    other = points @ turn.T + rng.normal(size=(40, 3)) * 0.15
    np.testing.assert_allclose(rest_match.common_axes(points, other), turn, atol=1e-12)


def test_points_on_a_line_or_in_one_place() -> None:
    line = np.outer([0, 1, 2.0], [0, 1, 0])
    other = np.outer([0, 1, 2.0], [0, 0, 1])
    turn = rest_match.common_axes(line, other)
    np.testing.assert_allclose(turn @ [0, 1, 0], [0, 0, 1], atol=1e-9)
    np.testing.assert_array_equal(rest_match.common_axes(line * 0, other), np.eye(3))


def test_the_shortest_turn(rng: Rng) -> None:
    for a, b in rng.normal(size=(10, 2, 3)):
        turn = rest_match.turn_between(a, b)
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(
            turn @ a / np.linalg.norm(a), b / np.linalg.norm(b), atol=1e-12
        )
        axis = np.cross(a, b)
        np.testing.assert_allclose(turn @ axis, axis, atol=1e-9)
        back = rest_match.turn_between(a, -a)
        np.testing.assert_allclose(back @ a, -a, atol=1e-9)
        assert np.linalg.det(back) == pytest.approx(1)
    np.testing.assert_array_equal(rest_match.turn_between(a * 0, b), np.eye(3))


def test_the_mannequin() -> None:
    hero = flexor.samples.mannequin()
    human = find_human(hero.skeleton)
    places = rest_world(hero.skeleton)[:, :, 3]
    assert rest_match.up_axis(places, human).tolist() == [0, 1, 0]
    assert rest_match.up_axis(places[:, [0, 2, 1]], human).tolist() == [0, 0, 1]
    assert rest_match.up_axis(-places, human).tolist() == [0, -1, 0]
    assert rest_match.up_axis(places, None).tolist() == [0, 1, 0]
    leg = rest_match.leg_length(places, human)
    assert 0.7 < leg < 1
    assert rest_match.leg_length(places, None) == 0
    pairs = {n: n for n in range(len(places))}
    both = (human, human)
    assert rest_match.size_ratio((places, 3 * places), both, pairs) == pytest.approx(3)
    assert rest_match.size_ratio((places, 3 * places), None, pairs) == pytest.approx(3)
    assert rest_match.size_ratio((places, 0 * places), None, pairs) == 1


def test_limbs_of_the_same_rest_are_not_turned() -> None:
    hero = flexor.samples.mannequin()
    human = find_human(hero.skeleton)
    places = rest_world(hero.skeleton)[:, :, 3]
    same, up = (hero.skeleton, hero.skeleton), np.array([0.0, 1, 0])
    limbs = rest_match.align_limbs(
        same, (places, places), (human, human), np.eye(3), up
    )
    assert human["leftHand"] in limbs
    assert human["hips"] not in limbs
    for turn in limbs.values():
        np.testing.assert_allclose(turn, np.eye(3), atol=1e-9)


def test_feet_keep_their_soles_flat() -> None:
    hero = flexor.samples.mannequin()
    human = find_human(hero.skeleton)
    places = rest_world(hero.skeleton)[:, :, 3]
    steep, pointed = places.copy(), places.copy()
    steep[human["leftToes"], 1] -= 0.03
    pointed[human["leftToes"]] = places[human["leftFoot"]] - [0, 0.15, 0]
    same, up = (hero.skeleton, hero.skeleton), np.array([0.0, 1, 0])
    both = (human, human)
    foot = human["leftFoot"]
    flat = rest_match.align_limbs(same, (places, steep), both, np.eye(3), up)[foot]
    np.testing.assert_allclose(flat, np.eye(3), atol=1e-9)
    raised = rest_match.align_limbs(same, (places, pointed), both, np.eye(3), up)[foot]
    way = places[human["leftToes"]] - places[foot]
    np.testing.assert_allclose(
        raised @ [0, -1, 0], way / np.linalg.norm(way), atol=1e-6
    )
