"""Slices around a joint: what a twist leaves of their width, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.joint_regions import joint_regions
from flexor.convert.shape.judge_joints import judge_body, plan_judging
from flexor.convert.shape.slices import SLICES, least_width, slice_region
from tests.convert.links.test_choose_links import twisting
from tests.convert.shape.tubes import forearm_scene, turn, turned


def widths(slices: np.ndarray, places: np.ndarray) -> list[float]:
    found = []
    for label in range(SLICES):
        mine = [p for p, one in zip(places, slices, strict=True) if one == label]
        if mine:
            middle = sum(mine) / len(mine)
            squares = [float(((p - middle) ** 2).sum()) for p in mine]
            found.append((sum(squares) / len(squares)) ** 0.5)
    return found


def test_the_narrowest_slice_tells() -> None:
    """Half a twist is halfway to the axis: cos(45 degrees) for 90, none for 180."""
    scene = forearm_scene()
    own = SceneFacts(scene).bodies[0]
    shape = own.shape_by_place
    region = joint_regions(own.body, own.by_place, shape.bones, shape.sections, {})[1]
    slices = slice_region(region, own.by_place, shape.bones)
    vertices = own.by_place.vertex_of_point[region.points]
    rest = turned(scene, 1, [0, 0, 0, 1])[vertices]
    found = {}
    for degrees in (0, 60, 90, 180):
        places = turned(scene, 1, turn([1, 0, 0], degrees))[vertices]
        found[degrees] = least_width(slices, rest, places)
        plain = [
            b / a
            for a, b in zip(widths(slices, rest), widths(slices, places), strict=True)
        ]
        assert found[degrees] == pytest.approx(min(plain), rel=1e-9)
    assert found[0] == pytest.approx(1)
    assert found[60] > found[90] > found[180]
    assert found[90] == pytest.approx(np.cos(np.pi / 4), abs=0.12)
    assert found[180] < 0.5


def test_few_points_are_no_slice() -> None:
    none = np.full(4, -1, np.int32)
    assert least_width(none, np.zeros((4, 3)), np.zeros((4, 3))) == np.inf
    # All in one place: nothing can be said of their width.
    same = np.zeros(6, np.int32)
    assert least_width(same, np.zeros((6, 3)), np.ones((6, 3))) == np.inf


def test_scores_know_of_wrung_skin() -> None:
    """A bend is judged by volume alone, a twist by the slice that is left, too."""
    scores = []
    for degrees in (30, 120):
        facts = SceneFacts(forearm_scene(clips=twisting(degrees)))
        plan = plan_judging(facts, facts.bodies[0])
        judged = judge_body(facts, facts.bodies[0], plan)
        scores.append(judged.joints[0].tried)
    assert scores[0] < 0.01
    assert scores[1] > 0.03
