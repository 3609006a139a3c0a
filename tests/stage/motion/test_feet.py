"""Feet that stand where they stand, and little steps."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.api.feet import contacts_of
from flexor.api.stage import Stage
from flexor.maths.records import check_record
from flexor.samples import mannequin
from flexor.scene.stage.plan import Actor, StageLook, StagePlan
from flexor.stage.motion.contacts import (
    RATE,
    ClipContacts,
    find_contacts,
    join_contacts,
)
from flexor.stage.motion.feet import no_soles
from flexor.stage.motion.kernels import feet as kernel_feet
from flexor.stage.motion.layout import (
    FOUND,
    LOCKED,
    OFF_TURN,
    STEPPING,
    Heard,
    Steps,
)
from tests.oracle import feet as oracle

Rng = np.random.Generator
DT = 1 / 60


@functools.cache
def hero() -> Character:
    return mannequin()


def random_contacts(rng: Rng, way: Any) -> ClipContacts:
    """A second in which two feet are put down and lifted."""
    plans = np.zeros((60, 2, 3), np.float32)
    for foot in range(2):
        plans[:, foot, 0] = np.sin(np.arange(60) / rng.uniform(2, 9)) > -0.5
        plans[:, foot, 1:] = rng.uniform(0, 0.5, (60, 2))
    return ClipContacts(plans, rng.uniform(0.2, 0.6, 2), np.array(way))


def test_feet_are_locked_as_by_the_twin(rng: Rng) -> None:
    """Two characters over some seconds: pushed, turned, put elsewhere, in the air."""
    limbs, nodes = 2, 6
    soles = no_soles(limbs)
    for limb in range(limbs):
        soles.nodes[limb, :4] = [2 * limb, 2 * limb, 2 * limb + 1, 2 * limb + 1]
        soles.points[limb, :4] = rng.uniform(-0.1, 0.1, (4, 3))
    ends, seen = np.array([0, 2], np.int32), {0: 0, LOCKED: 0, STEPPING: 0}
    for way in ((0.0, 0.0), (0.0, 0.0), (0.2, 1.3)):
        own = random_contacts(rng, way)
        contacts = check_record(join_contacts([own], limbs))
        voices = np.zeros((4, 5))
        voices[:, 1] = rng.uniform(0.5, 1.2)
        heard = check_record(
            Heard(
                np.zeros((4, 6), np.int32),
                voices,
                np.array([1, 0], np.int32),
                np.array([1.0, 0.5]),
                *(0, 0, 1),
            )
        )
        steps = Steps(
            np.zeros((2, limbs), np.int32),
            np.zeros((2, limbs, 4)),
            np.zeros((2, limbs, 8, 2)),
            np.zeros((2, limbs, 7)),
            np.zeros((2, 2)),
            np.zeros(2),
            np.zeros(2),
            np.zeros((limbs, FOUND)),
        )
        twins = [
            [oracle.Foot(0, np.zeros(3), 0.0, np.zeros((4, 3))) for _ in range(limbs)]
            for _ in range(2)
        ]
        paces, rests, last = np.zeros((2, 3)), np.zeros(2), np.zeros(2)
        rows = np.array([2, 0], np.int32)
        places, headings = rng.uniform(-1, 1, (3, 3)), rng.uniform(-3, 3, 3)
        sinks, stands = rng.uniform(-0.1, 0, 3), np.ones(3, bool)
        rest = rng.uniform(-0.1, 0.1, (nodes, 3)) * (1, 0.2, 1)
        for tick in range(240):
            before = places.copy()
            if tick % 90 > 30:
                places[:, [0, 2]] += rng.uniform(-0.02, 0.04, (3, 2))
                headings += rng.uniform(-0.02, 0.05, 3)
            if tick == 200:
                places[0] += 1.0
            stands[:] = not 120 < tick < 130
            voices[:, 0] = (tick / 60) % 1.0
            world = np.zeros((2, nodes, 3, 4), np.float32)
            for k, n in enumerate(rows):
                frame = oracle.turn_about_y(headings[n])
                high = 0.2 * max(math.sin(tick / 7 + k), 0.0)
                for j in range(nodes):
                    world[k, j, :, :3] = frame
                    world[k, j, :, 3] = places[n] + frame @ rest[j]
                    world[k, j, 1, 3] += sinks[n] + 0.08 + high * (j > 1)
            kernel_feet.lock_feet(
                DT, tick == 0, rows, before, places, headings, sinks, stands, ends,
                world, heard, contacts, soles, check_record(steps),
            )  # fmt: skip
            for k, n in enumerate(rows):
                gone = (places[n] - before[n]) * (1, 0, 1)
                is_put = tick == 0 or bool(np.abs(places[n] - before[n]).max() > 0.25)
                if is_put:
                    gone, paces[k] = np.zeros(3), 0.0
                paces[k] += 0.35 * (gone / DT - paces[k])
                turn = math.remainder(headings[n] - last[k], 2 * math.pi)
                last[k] = headings[n]
                clip_pace = voices[0, 1] * heard.speeds[k]
                frame = oracle.turn_about_y(headings[n])
                clip_way = frame @ (way[0], 0, way[1]) * clip_pace
                is_still = np.linalg.norm(paces[k]) < 0.05 and abs(turn) < 0.05 * DT
                is_still = is_still and not clip_way.any()
                rests[k] = rests[k] + DT if is_still else 0.0
                for m, foot in enumerate(twins[k]):
                    frames = world[k, soles.nodes[m, :4]].astype(np.float64)
                    turned = (frames[..., :3] @ soles.points[m, :4, :, None])[..., 0]
                    foot.points = turned + frames[..., 3]
                    foot.end = world[k, ends[m], :, 3].astype(np.float64)
                    foot.pivot = int(foot.points[:, 1].argmin())
                    foot.low = foot.points[foot.pivot, 1] - places[n, 1] - sinks[n]
                    plan = own.plans[min(int(voices[0, 0] * 60 + 0.5), 59), m]
                    foot.is_down = bool(plan[0])
                    foot.left, foot.gone = plan[1:] / max(clip_pace, 0.05)
                oracle.lock_feet(
                    DT, twins[k], paces[k], clip_way, clip_pace, list(own.holds),
                    turn, rests[k], is_put, bool(stands[n]),
                )  # fmt: skip
                for m, foot in enumerate(twins[k]):
                    seen[foot.phase] += 1
                    assert steps.phases[k, m] == foot.phase, (tick, k, m)
                    np.testing.assert_allclose(
                        steps.offsets[k, m, :3], foot.offset, atol=1e-6
                    )
                    turned_by = steps.offsets[k, m, OFF_TURN]
                    assert turned_by == pytest.approx(foot.turn, abs=1e-9)
    assert min(seen.values()) > 100


def walk_of_soles(speed: float) -> Any:
    """Soles (60, 2, 1, 3) of a second of a walk: half of it each stands."""
    soles = np.zeros((60, 2, 1, 3))
    for foot in range(2):
        part = (np.arange(60) / 60 + 0.5 * foot) % 1.0
        stands = part < 0.5
        soles[:, foot, 0, 2] = np.where(stands, 0.25 - part, part - 0.75) * speed
        soles[:, foot, 0, 1] = np.where(
            stands, 0.0, 0.1 * np.sin(2 * np.pi * (part - 0.5))
        )
    return soles


def test_contacts_of_a_walk() -> None:
    own = find_contacts(walk_of_soles(1.2), loops=True)
    np.testing.assert_allclose(own.way, (0, 1.2), atol=1e-9)
    planted = own.plans[..., 0] > 0
    assert 27 <= planted[:, 0].sum() <= 31
    # Halfway through what it stands.
    assert own.plans[15, 0, 1] == pytest.approx(0.25, abs=0.04)
    assert own.plans[15, 0, 2] == pytest.approx(0.25, abs=0.04)
    assert own.holds == pytest.approx(0.5, abs=0.05)
    # In the air: until it comes down, at the clip's beginning.
    assert own.plans[45, 0, 1] == pytest.approx(0.25, abs=0.04)


def test_contacts_of_one_who_stands() -> None:
    soles = np.zeros((30, 2, 1, 3))
    soles[10:20, 1, 0, 1] = 0.2  # a kick
    own = find_contacts(soles, loops=False)
    assert not own.way.any()
    assert own.plans[:, 0, 0].all()
    assert own.plans[:, 0, 1].min() > 1
    np.testing.assert_array_equal(own.plans[:, 1, 0] == 0, soles[:, 1, 0, 1] > 0)
    assert own.plans[5, 1, 1] == pytest.approx(5 / RATE)


def alone(**look: Any) -> Stage:
    """A mannequin that does what its place and its asked speed are told."""
    own = Actor(name="one", control="none", opponent="none")
    plan = StagePlan(cast=(own,), look=StageLook(**look))
    return Stage(plan, characters={"mannequin": hero()})


class Watch:
    """Feet of a stage's one character, tick by tick: the lowest of each sole."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.body = stage, stage.state.bodies[0]
        self.feet = [self.body.goals.columns[f"{s}Foot"] for s in ("left", "right")]
        self.before, self.jumps, self.slides = self.see(), [0.0], 0

    def see(self) -> list[Any]:
        world, soles = self.body.world.matrices[0], self.body.footwork.soles
        found = []
        for foot in self.feet:
            own = soles.nodes[foot] >= 0
            frames = world[soles.nodes[foot][own]].astype(np.float64)
            turned = (frames[..., :3] @ soles.points[foot][own][..., None])[..., 0]
            found.append(turned + frames[..., 3])
        return found

    def look(self) -> None:
        now = self.see()
        ways = [after - last for after, last in zip(now, self.before, strict=True)]
        self.jumps.append(max(float(np.abs(way).max()) for way in ways))
        speeds = [
            float(
                np.hypot(way[:, 0], way[:, 2])[
                    foot[:, 1] < foot[:, 1].min() + 0.015
                ].min()
            )
            for way, foot in zip(ways, now, strict=True)
        ]
        self.slides += min(speeds) > 0.15 * DT
        self.before = now


def play(stage: Stage, ticks: int, way: Any = (0, 0)) -> Watch:
    watch = Watch(stage)
    for _ in range(ticks):
        stage.places[0, [0, 2]] += way
        stage.step()
        watch.look()
    return watch


@pytest.mark.slow
def test_a_push_makes_steps() -> None:
    stage = alone()
    play(stage, 30)
    began = Watch(stage).before
    watch = Watch(stage)
    stepped: set[int] = set()
    for tick in range(90):
        if tick < 16:  # 0.4 m, at 1.5 m/s
            stage.places[0, 0] += 0.025
        stage.step()
        watch.look()
        phases = watch.body.footwork.phases[0, watch.feet]
        assert (phases == STEPPING).sum() <= 1, "one foot at a time"
        stepped |= set(np.flatnonzero(phases == STEPPING).tolist())
    assert stepped == {0, 1}
    assert watch.slides <= 2
    assert max(watch.jumps) < 0.12
    for last, first in zip(watch.before, began, strict=True):
        np.testing.assert_allclose(
            (last - first)[:, [0, 2]].mean(0), (0.4, 0), atol=0.06
        )
    assert not (watch.body.footwork.phases[0, watch.feet] != LOCKED).any()


@pytest.mark.slow
def test_without_feet_a_push_slides() -> None:
    """As it was asked for: what is measured above can fail."""
    stage = alone(feet=False)
    body = stage.state.bodies[0]
    before = body.world.matrices.copy()
    stage.places[0, 0] += 0.05
    stage.step()
    moved = (body.world.matrices - before)[0, body.ends[[1, 3]], 0, 3]
    np.testing.assert_allclose(moved, 0.05, atol=1e-3)


@pytest.mark.slow
def test_turning_on_the_spot_makes_steps() -> None:
    stage = alone()
    play(stage, 10)
    watch = Watch(stage)
    for _ in range(60):
        stage.headings[0] += 0.03
        stage.step()
        watch.look()
    assert watch.slides <= 1
    turns = watch.body.footwork.offsets[0, watch.feet, OFF_TURN]
    assert np.abs(turns).max() < 0.9
    assert max(watch.jumps) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("way", [(1.35, 0.0), (1.0, 0.9), (0.6, 0.0), (-0.8, 0.3)])
def test_a_walk_does_not_slide(way: tuple[float, float]) -> None:
    stage = alone()
    stage.asked[0] = way
    play(stage, 30)
    watch = play(stage, 120)
    assert watch.slides <= 2
    assert max(watch.jumps) < 0.17


def test_contacts_are_those_of_the_clip_not_of_its_name() -> None:
    stage = alone()
    soles = stage.cast[0].plan.soles
    assert soles is not None
    clips = hero().clips
    walk = contacts_of(hero(), {"any": clips["walk"]}, ["any"], soles)["any"]
    run = contacts_of(hero(), {"any": clips["run"]}, ["any"], soles)["any"]
    assert walk.way[1] == pytest.approx(1.36, abs=0.05)
    assert run.way[1] > 2
    again = contacts_of(hero(), {"any": clips["run"]}, ["any"], soles)["any"]
    assert again is run
