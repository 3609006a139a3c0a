"""Sand, water and snow in the arena: every move through them is seen, as played."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor import samples
from flexor.api.stage import Stage
from flexor.files.text.stage import read_stage
from flexor.scene.character.camera import Camera
from flexor.scene.stage.effect_settings import EffectPlan
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.stage.effects.layout import CHECKED, PRINT, RING
from flexor.stage.effects.marks import live_marks

SAND, FAR = (-3.2, 0.0, -1.6), (3.0, 0.0, 2.0)
RIGHT = math.pi / 2
pytestmark = pytest.mark.slow


def arena(place: Any, other: Any = FAR, **effects: Any) -> Stage:
    """The arena, with red at a place, looking right; both have stood for a while."""
    plan = read_stage(samples.arena())
    stage = Stage(replace(plan, effects=replace(plan.effects, **effects)))
    stage.places[:] = place, other
    stage.headings[:] = RIGHT, -RIGHT
    for _ in range(40):
        stage.step()
    return stage


def thrown(stage: Stage, buttons: str, ticks: int, hold: int = 3) -> tuple[int, Any]:
    """Drops that are thrown; the most that there are at a time of water and sand."""
    churn = stage.state.scenery.churn
    assert churn is not None
    begin, most = int(churn._serial[0]), np.zeros(2, int)
    for tick in range(ticks):
        stage.step([buttons if tick < hold else "", ""])
        used = churn.ages >= 0
        own = (used & churn.is_water).sum(), (used & ~churn.is_water).sum()
        most = np.maximum(most, own)
    return int(churn._serial[0]) - begin, most


def test_kicks_and_runs_on_sand_throw_it_and_nothing_on_stone() -> None:
    counts = {
        name: thrown(arena(SAND), buttons, 40, hold)
        for name, buttons, hold in (
            ("kick", "C", 3),
            ("spin", "B+C", 3),
            ("run", "right+R", 40),
            ("stand", "", 0),
        )
    }
    assert counts["kick"][0] > 15
    assert counts["spin"][0] > counts["kick"][0], "it is faster"
    assert counts["run"][0] > 60
    assert counts["stand"][0] == 0
    assert all(most[0] == 0 for _, most in counts.values()), "sand, no water"
    assert thrown(arena((0.0, 0.0, 1.5)), "C", 40)[0] == 0


def test_who_goes_down_on_sand_throws_it() -> None:
    stage = arena(SAND)
    churn = stage.state.scenery.churn
    assert churn is not None
    stage.energy[0] = 0.0
    found = set()
    for _ in range(150):
        stage.step()
        own = (churn.states[0] > 0) & (churn.left[0, :, 0] > 0)
        found |= {CHECKED[part] for part in np.flatnonzero(own)}
    assert "hips" in found
    assert found & {"leftHand", "rightHand", "head"}


def test_a_run_through_the_pool_leaves_rings_and_drops() -> None:
    stage = arena((-2.3, 0.0, -3.4), (3.0, 0.0, -3.4))
    marks, churn = stage.state.scenery.marks, stage.state.scenery.churn
    assert marks is not None
    assert churn is not None
    count, most = thrown(stage, "right+R", 45, 45)
    assert count > 150
    assert most[0] > 60
    rows, _ = live_marks(marks, RING)
    assert 3 <= len(rows) <= 30
    assert (np.abs(marks.places[rows, 1] + 0.05) < 1e-6).all(), "on the water"
    # Drops are all on ways of their own.
    speeds = churn.speeds[churn.ages >= 0].astype(np.float64)
    ways = speeds[np.abs(speeds).max(1) > 1e-4, ::2]
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    assert np.linalg.norm(ways.mean(0)) < 0.9
    assert len(np.unique(ways.round(4), axis=0)) > 0.95 * len(ways)


def test_footprints_stay_for_a_while_and_are_where_feet_stood() -> None:
    stage = arena((-4.4, 0.0, -1.6), (3.0, 0.0, -1.6))
    marks = stage.state.scenery.marks
    assert marks is not None
    for _ in range(75):
        stage.step("right")
    rows, _ = live_marks(marks, PRINT)
    assert len(rows) >= 4
    along = marks.places[rows, 0]
    assert np.ptp(along) > 0.8
    sides = marks.places[rows, 2] + 1.6
    assert (np.abs(sides) < 0.4).all()
    assert (marks.ways[rows, 0] > 0.5).mean() > 0.7, "they point along the way"
    stage.places[0] = FAR[0], 0.0, -2.0
    old = int(marks._serial[0])
    for _ in range(1210):
        stage.step()
    assert (marks.ages[rows % len(marks.ages)] < 0).any()
    assert int(marks._serial[0]) - old < 20
    assert len(live_marks(marks, PRINT)[0]) < 20


def test_snow_is_stirred_by_a_runner_alone() -> None:
    found = []
    for buttons in ("right+R", ""):
        stage = arena((-2.0, 0.0, 0.5))
        stage.state.scenery.is_snowing = True
        for _ in range(40):
            stage.step(buttons)
        snow = stage.state.scenery.snow
        assert snow is not None
        found.append(snow)
    runner, _ = found
    speeds = [np.linalg.norm(snow.drifts, axis=1) for snow in found]
    assert (speeds[1] < 0.001).all()
    rows = np.flatnonzero(speeds[0] > 0.001)
    assert 5 < len(rows) < 300
    assert (np.abs(runner.places[rows, 2] - 0.5) < 2.0).all()
    assert 0.01 < speeds[0].max() < 0.3, "metres a tick"


def test_what_is_drawn_changes_nothing() -> None:
    hashes = []
    for is_drawn in (True, False):
        stage = arena((-4.0, 0.0, -2.6), is_snowing=True)
        for tick in range(60):
            stage.step("right+R")
            if is_drawn and tick % 7 == 0:
                stage.draw((80, 60))
        hashes.append(stage.hash())
    assert hashes[0] == hashes[1]


def test_sand_in_the_air_and_prints_are_seen_on_sand() -> None:
    stage = arena(SAND)
    scenery = stage.state.scenery
    churn, marks = scenery.churn, scenery.marks
    assert churn is not None
    assert marks is not None
    for tick in range(12):
        stage.step("C" if tick < 3 else "")
    view = Camera(eye=(-2.9, 1.0, 0.9), target=(-3.2, 0.3, -1.6))
    whole = stage.draw((320, 240), view)[..., :3].astype(int)
    for effect, part in ((churn, 0.004), (marks, 0.004)):
        own, count = effect.ages.copy(), effect.live_count
        assert count > 0
        effect.ages[:], effect.live_count = -1, 0
        bare = stage.draw((320, 240), view)[..., :3].astype(int)
        effect.ages[:], effect.live_count = own, count
        apart = np.abs(whole - bare).max(-1)
        assert (apart > 15).mean() > part


def test_each_patch_of_a_lake_shows_the_frame_of_its_distance() -> None:
    lake = Patch(area=(-9, -45, 9, 45), height=-0.5, surface="water")
    plan = StagePlan(
        cast=(Actor(name="one", control="free", opponent="none"),),
        ground=shape_ground((20, 100), 0.5, [lake]),
        effects=EffectPlan(water=-0.1),
    )
    stage = Stage(plan)
    for _ in range(35):  # frame 17 of the near ones, 15 of the far ones
        stage.step()
    frame, painter = stage.frame, stage.painter

    def shown(z: float) -> dict[int, list[float]]:
        """Pictures of water, and how far away the patches are that show each."""
        view = Camera(eye=(0, 2, z), target=(0, 0, z - 10))
        items = painter._scenery.items(
            frame.scenery, view, frame.tick, painter._lights, None
        )
        found: dict[int, list[float]] = {}
        for item in items:
            away = float(np.linalg.norm(item.positions.mean(0) - view.eye))
            found.setdefault(item.look.texture, []).append(away)
        return found

    near, far = shown(45.0), shown(300.0)
    assert len(near) > 1, "some of it is far away"
    assert len(far) == 1, "all of it is"
    own = min(near, key=lambda texture: min(near[texture]))
    assert max(near[own]) > min(near[own]) > 0
    assert own not in far
    assert set(far) <= set(near), "which near ones showed a little before"
