"""A stage in play: fights, grounds, walls, replays, pictures and refusals."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.errors import FlexorError, SettingError, ShapeError
from flexor.samples import mannequin
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import (
    Actor,
    CameraRule,
    StageLook,
    StagePlan,
    WalkSettings,
)
from flexor.scene.stage.settings import FightSettings, FrictionSettings, ParrySettings
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone
from flexor.stage.camera import CLEAR
from flexor.stage.movement.ground import find_footing, init_footing
from flexor.stage.movement.layout import GUARDED, NOTHING, PARRIED
from tests.gltf_builder import mini, write_glb

DT = 1 / 60
MOVES = MoveTable(
    (
        Move("punch", 14, 6, 20, parts=("rightHand",), damage=12, push=0.3),
        Move("kick", 20, 8, 30, parts=("rightFoot",), damage=20, push=0.4),
        Move("guard", 2, 10, 6, kind="guard"),
        Move("parry", 2, 20, 10, kind="parry"),
        Move("jump", 4, 30, 10, kind="jump"),
        Move("slam", 14, 6, 20, clip="punch", parts=("rightHand",), damage=150),
    ),
    singles={
        "B": "punch",
        "C": "kick",
        "A": "guard",
        "X": "parry",
        "Y": "jump",
        "Z": "slam",
    },
)
PUNCH_LANDS = 14  # ticks before its hand can hit
RING = Zone(np.array([[-4.0, -3], [4, -3], [4, 3], [-4, 3]]), "in", "ring")


@functools.cache
def hero() -> Character:
    return mannequin()


def fighters(apart: float = 1.0, **more: Any) -> StagePlan:
    """Red and blue, face to face along x, and what they can do."""
    cast = (
        Actor(name="red", place=(-apart / 2, 0), heading=math.pi / 2),
        Actor(name="blue", place=(apart / 2, 0), heading=-math.pi / 2),
    )
    return StagePlan(**{"cast": cast, "moves": MOVES, **more})


def walker(ground: Ground, **more: Any) -> Stage:
    """One alone who looks along +x, seen by a camera that stays."""
    own = Actor(name="one", heading=math.pi / 2, control="free", opponent="none")
    camera = CameraRule(rule="fixed")
    return play(StagePlan(cast=(own,), ground=ground, camera=camera, **more))


def play(plan: StagePlan) -> Stage:
    return Stage(plan, characters={"mannequin": hero()})


def run(
    stage: Stage,
    ticks: int,
    script: Mapping[int, Sequence[str]] | Sequence[str] = (),
) -> list[list[str]]:
    """Some ticks; script: buttons by tick, or those of all ticks. Gives what each one
    did in each.
    """
    done = []
    for tick in range(ticks):
        stage.step(script.get(tick) if isinstance(script, Mapping) else script)
        done.append([stage.doing(row) for row in range(len(stage))])
    return done


def node(stage: Stage, row: int, name: str) -> Any:
    """Where a node of one of the first body is, (3,)."""
    body = stage.state.bodies[0]
    index = hero().skeleton.index(name)
    return body.world.matrices[row, index, :, 3].astype(np.float64)


# Fights.


@pytest.mark.slow
def test_a_punch_hits_and_hurts() -> None:
    stage = play(fighters())
    done = run(stage, 60, {0: ["B", ""]})
    assert stage.energy.tolist() == [100, 88]
    assert [red for red, _ in done].count("punch") == 40
    first = [blue for _, blue in done].index("hit")
    assert PUNCH_LANDS <= first <= PUNCH_LANDS + 6, "while the hand can hit"
    stun = stage.plan.fight.stun
    assert [blue for _, blue in done][first : first + stun] == ["hit"] * stun
    assert done[-1] == ["stance", "stance"]
    assert stage.places[:, 0].tolist() == [-0.5, pytest.approx(0.8)], "and pushes"


@pytest.mark.slow
def test_a_punch_from_afar_misses() -> None:
    stage = play(fighters(apart=2.0))
    run(stage, 60, {0: ["B"]})
    assert stage.energy.tolist() == [100, 100]


@pytest.mark.slow
def test_a_guard_lets_a_part_through() -> None:
    stage = play(fighters())
    outcomes = []
    for tick in range(40):
        stage.step(["B" if tick == 0 else "", "A"])
        outcomes.append(int(stage.state.fight.outcomes[0]))
    assert outcomes.count(GUARDED) == 1
    assert outcomes.count(NOTHING) == 39
    assert stage.energy.tolist() == [100, pytest.approx(100 - 12 * 0.1)]
    assert stage.doing("blue") == "guard", "still held"
    stage = play(fighters())
    run(stage, 40, {0: ["B", "A"]})
    assert stage.energy[1] == 88, "a guard that was let go is none"


@pytest.mark.slow
@pytest.mark.parametrize("amount", [0.6, 0.25])
def test_a_parry_throws_the_attacker_back_in_slow_motion(amount: float) -> None:
    """Its own time runs at half the speed; nothing of the defender changes."""
    parry = ParrySettings(amount=amount, ticks=40)
    plan = fighters(fight=FightSettings(parry=parry))
    stage, quiet = play(plan), play(plan)
    script = {0: ["B", ""], PUNCH_LANDS - 6: ["", "X"]}
    places, clocks, outcomes, rates = [], [], [], []
    for tick in range(90):
        stage.step(script.get(tick))
        quiet.step(["", script[tick][1]] if tick in script else None)
        places.append(stage.places.copy())
        clocks.append(stage.state.clocks.tolist())
        outcomes.append(int(stage.state.fight.outcomes[0]))
        rates.append(float(stage.state.bodies[0].player.speeds[0]))
        mine, theirs = stage.state.bodies[0].player, quiet.state.bodies[0].player
        np.testing.assert_array_equal(mine.local[1], theirs.local[1])
        assert stage.doing("blue") == quiet.doing("blue")
    assert outcomes.count(PARRIED) == 1
    assert stage.energy.tolist() == [100, 100]
    met = outcomes.index(PARRIED)
    assert clocks == [
        [0.5 if met <= tick < met + 40 else 1.0, 1.0] for tick in range(90)
    ]
    assert rates[met : met + 40] == [0.5] * 40
    red = np.array(places)[:, 0]
    steps = np.diff(red[met : met + 41], axis=0)
    np.testing.assert_allclose(steps, [[-amount / 40, 0, 0]] * 40, atol=1e-12)
    np.testing.assert_allclose(red[-1] - red[0], [-amount, 0, 0], atol=1e-12)
    np.testing.assert_array_equal(np.array(places)[:, 1], [places[0][1]] * 90)
    assert stage.doing("red") == "stance"


@pytest.mark.slow
def test_who_recoils_does_nothing_else() -> None:
    stage = play(fighters())
    done = run(
        stage,
        70,
        {0: ["B", ""], 8: ["", "X"], **{tick: ["C+left"] for tick in range(20, 50)}},
    )
    red = [red for red, _ in done]
    assert red.count("recoil") == 40
    assert "kick" not in red, "held while it could not"


@pytest.mark.slow
def test_who_is_beaten_lies_and_the_other_has_won() -> None:
    stage = play(fighters())
    standing = node(stage, 1, "head")[1]
    run(stage, 30, {0: ["Z"]})
    assert stage.energy.tolist() == [100, 0]
    done = run(stage, 150, {tick: ["", "B+right"] for tick in range(0, 150, 3)})
    assert {blue for _, blue in done} == {"beaten"}, "and does not get up"
    assert done[-1][0] == "won"
    assert node(stage, 1, "head")[1] < standing / 3
    assert not stage.asked[1].any()


@pytest.mark.slow
def test_who_has_no_pad_walks_if_told_to_and_not_if_beaten() -> None:
    cast = fighters().cast
    stage = play(fighters(cast=(cast[0], replace(cast[1], control="none"))))
    stage.asked[1] = -1.2, 0.0
    run(stage, 10)
    assert stage.places[1, 0] == pytest.approx(0.5 + 10 * 1.2 * DT)
    assert stage.doing("blue") == "back"
    stage.asked[1] = 0
    run(stage, 60, {0: ["Z"]})
    assert stage.energy[1] == 0
    before = stage.places[1].copy()
    stage.asked[1] = -1.2, 0.0
    run(stage, 10)
    np.testing.assert_array_equal(stage.places[1], before)


@pytest.mark.slow
def test_the_next_opponent_is_the_nearest_who_can_fight() -> None:
    cast = (
        Actor(name="red", heading=0.0),
        Actor(name="blue", place=(0, 1), heading=math.pi),
        Actor(name="far", place=(0, -6), control="none"),
        Actor(name="near", place=(0, -1.2), control="none"),
    )
    stage = play(fighters(cast=cast))
    names = [actor.name for actor in cast]
    assert names[stage.opponents[0]] == "blue"
    run(stage, 60, {0: ["Z"]})
    assert stage.energy.tolist() == [100, 0, 100, 100]
    assert names[stage.opponents[0]] == "near"
    assert stage.doing("red") == "stance", "it has not won yet"
    assert abs(math.remainder(stage.headings[0] - math.pi, 2 * math.pi)) < 1e-6
    for _ in range(2):
        run(stage, 60, {0: ["Z"]})
        stage.places[2] = stage.places[0] + (0, 0, -1.1)  # brought near
    run(stage, 60)
    assert stage.energy.tolist() == [100, 0, 0, 0]
    assert stage.doing("red") == "won"


@pytest.mark.slow
def test_named_opponents_and_none() -> None:
    cast = (
        Actor(name="red", opponent="far"),
        Actor(name="blue", place=(1, 0), opponent="none"),
        Actor(name="far", place=(0, 9)),
    )
    stage = play(fighters(cast=cast))
    assert stage.opponents.tolist() == [2, -1, 0]


@pytest.mark.slow
def test_turning_is_no_faster_than_it_may_be() -> None:
    """Also when what is left is little: circling turns it the rest of the way."""
    turn = 4.0
    cast = (
        Actor(name="red", heading=-2.0),
        Actor(name="blue", place=(0, 2), control="none"),
    )
    stage = play(fighters(cast=cast, walking=WalkSettings(turn=turn)))
    before, steps = float(stage.headings[0]), []
    for _ in range(60):
        stage.step(["left"])
        steps.append(float(stage.headings[0]) - before)
        before = float(stage.headings[0])
    around = WalkSettings().side / 2 * DT * 1.1  # of who goes around
    assert max(map(abs, steps)) <= turn * DT + around
    assert sum(steps) > 1.5


# Level difference.


def strike(
    high: float, button: str, part: str, *, drop: float = 0.0
) -> tuple[Any, Any, Stage]:
    """An attack on one who stands higher: where the hand or foot is in each tick, seen
    from the attacker's place, and metres that it could not reach.
    """
    ground = shape_ground((10, 10), 0.1, [Patch(area=(0.1, -5, 5, 5), height=high)])
    stage = play(fighters(1.1, ground=ground))
    stage.places[1, 1] += drop
    body = stage.state.bodies[0]
    assert body.limbs is not None
    column = list(body.plan.limbs).index(part)
    seen, off = [], []
    for tick in range(62):
        stage.step([button if tick == 0 else ""])
        end = body.world.matrices[0, body.ends[column], :, 3]
        seen.append(end - stage.places[0])
        off.append(float(body.limbs.off[0, column]))
    return np.array(seen), np.array(off), stage


@pytest.mark.slow
@pytest.mark.parametrize(
    ("button", "part", "hit", "end"),
    [("B", "rightHand", 14, 40), ("C", "rightFoot", 20, 58)],
)
def test_attacks_reach_up_and_down(button: str, part: str, hit: int, end: int) -> None:
    level, _, _ = strike(0.0, button, part)
    for high, most in ((0.1, 0.1), (-0.1, -0.1), (0.6, 0.15), (-0.6, -0.15)):
        seen, off, stage = strike(high, button, part)
        assert stage.places[:, 1].tolist() == [0, pytest.approx(high)]
        lift = seen - level
        ticks = np.arange(62)
        wanted = np.where(
            ticks < hit, most * ticks / hit, most * (end - ticks) / (end - hit)
        )
        wanted[end:] = 0
        # A straight arm cannot be lifted as far: the rest is told.
        is_near = np.linalg.norm(lift - wanted[:, None] * (0, 1, 0), axis=1)
        assert (is_near <= np.where(wanted == 0, 0, off) + 1e-5).all()
        assert abs(lift[hit, 1] - most) < 0.01
        np.testing.assert_array_equal(seen[end:], level[end:])


@pytest.mark.slow
def test_nothing_is_lifted_while_one_is_in_the_air() -> None:
    level, _, _ = strike(0.0, "B", "rightHand")
    seen, _, stage = strike(0.0, "B", "rightHand", drop=40.0)
    assert not stage.state.standing.grounded[1]
    np.testing.assert_array_equal(seen, level)


# Ground, walls.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("surface", "pace"), [("plain", 1.0), ("sand", 0.8), ("water", 0.6)]
)
def test_sand_and_water_slow_down(surface: str, pace: float) -> None:
    stage = walker(make_ground(np.zeros((2, 2)), (-50, -50), 100, surface))
    run(stage, 60, ["right"])
    speed = stage.plan.walking.walk
    np.testing.assert_allclose(stage.places[0], [speed * pace, 0, 0], atol=1e-9)
    run(stage, 60, ["right+R"])
    run_speed = stage.plan.walking.run
    assert stage.places[0, 0] == pytest.approx((speed + run_speed) * pace)
    assert stage.doing(0) == "run"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("surface", "factor"), [("plain", 1), ("sand", 2), ("water", 3)]
)
def test_friction_is_that_of_the_surface(surface: str, factor: float) -> None:
    settings = FrictionSettings()
    for off, is_still in ((-0.02, True), (0.02, False)):
        angle = math.atan(settings.still * factor) + off
        rise = 500 * math.tan(angle)
        ground = make_ground(np.array([[-rise, rise]] * 2), (-500, -500), 1000, surface)
        stage = walker(ground)
        run(stage, 60)
        if is_still:
            assert stage.places[0].tolist() == [0, 0, 0]
            continue
        pull, hold = math.sin(angle), settings.moving * factor * math.cos(angle)
        speed = (pull - hold) * settings.gravity
        assert stage.state.slides[0, 0] == pytest.approx(-speed, rel=1e-6)
        assert stage.places[0, 1] == pytest.approx(stage.places[0, 0] * math.tan(angle))


@pytest.mark.slow
def test_who_walks_over_an_edge_falls_and_lands() -> None:
    ground = shape_ground((20, 20), 0.1, [Patch(area=(-10, -10, 1, 10), height=2)])
    stage = walker(ground)
    done = run(stage, 120, ["right"])
    heights = stage.places[0, 1]
    assert heights == 0
    roles = [one for (one,) in done]
    assert "air" in roles
    assert roles[-1] == "walk"


@pytest.mark.slow
def test_a_jump_is_held_in_the_air_and_lands() -> None:
    stage = play(fighters(apart=3))
    grounded, landed = [], []
    for tick in range(60):
        stage.step(["Y" if tick == 0 else ""])
        grounded.append(bool(stage.state.standing.grounded[0]))
        landed.append(bool(stage.state.standing.landed[0]))
    assert grounded == [not 4 <= tick < 34 for tick in range(60)]
    assert landed.index(True) == 34
    assert landed.count(True) == 1


@pytest.mark.slow
def test_bodies_never_stand_in_each_other() -> None:
    stage = play(fighters(apart=0.1))
    script = ["right", "left"]
    run(stage, 90, script)
    away = math.dist(stage.places[0], stage.places[1])
    assert away == pytest.approx(stage.state.radii.sum(), abs=0.03)
    assert stage.places.mean(0)[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_walls_hold_for_recoil_too() -> None:
    wall = Zone(np.array([[-1.0, -3], [1.1, -3], [1.1, 3], [-1, 3]]), "in")
    stage = play(fighters(zones=(wall,)))
    radius = stage.state.radii[0]
    for tick in range(80):
        stage.step({0: ["B"], 8: ["", "X"]}.get(tick))
        assert stage.places[0, 0] >= -1 + radius - 1e-9
    assert stage.places[0, 0] == pytest.approx(-1 + radius), "up to the wall"
    assert stage.energy.tolist() == [100, 100]
    stage = play(fighters(zones=(wall,)))
    for tick in range(60):
        stage.step({0: ["B"]}.get(tick))
        assert stage.places[1, 0] <= 1.1 - radius + 1e-9
    assert stage.places[1, 0] == pytest.approx(1.1 - radius), "and who is pushed"


@pytest.mark.slow
def test_solid_structures_are_walls() -> None:
    for is_solid in (True, False):
        pillar = Structure(name="pillar", middle=(1, 0), radius=0.3, solid=is_solid)
        stage = walker(flat_ground(), structures=(pillar,))
        run(stage, 120, ["right"])
        assert (stage.places[0, 0] < 0.7) == is_solid


@pytest.mark.slow
def test_the_camera_is_never_in_a_hill() -> None:
    hill = shape_ground(
        (30, 30), 0.25, [Patch(middle=(0, 5), radius=2, height=6, edge=0.5)]
    )
    stage = play(fighters(2.0, ground=hill))
    below = init_footing(1)
    for tick in range(200):
        find_footing(hill, stage.state.camera.eye[None], FrictionSettings(), out=below)
        assert stage.camera.eye[1] >= below.heights[0] + CLEAR - 1e-9, tick
        stage.step(["up", "down"])


@pytest.mark.slow
def test_a_tick_is_a_tick_of_the_clip() -> None:
    stage = walker(flat_ground())
    for tick in range(5):
        world = hero().pose("stance", tick * DT).world
        turned = stage.state.bodies[0].world.matrices[0]
        np.testing.assert_allclose(turned[:, 1, 3], world[:, 1, 3], atol=1e-5)
        np.testing.assert_allclose(turned[:, 0, 3], world[:, 2, 3], atol=1e-5)
        stage.step()


# Replays.


def busy() -> StagePlan:
    """Three fighters of one kind on rough ground with a wall around, and a pillar."""
    cast = (
        *fighters().cast,
        Actor(name="green", place=(0, 1.5), heading=3.0, control="free"),
    )
    return fighters(
        cast=cast,
        ground=shape_ground((12, 12), 0.25, rough=0.1, seed=3),
        zones=(RING,),
        structures=(Structure(name="pillar", middle=(1.5, 1), radius=0.3),),
        seed=5,
    )


def presses(ticks: int, count: int, seed: int = 0) -> list[list[str]]:
    """Buttons at random, each held for some ticks."""
    chance = np.random.default_rng(seed)
    words = ["", "", "left", "right", "up", "down", "B", "C", "A", "X", "Y", "right+R"]
    held = [""] * count
    found = []
    for _ in range(ticks):
        for row in range(count):
            if chance.random() < 0.1:
                held[row] = str(chance.choice(words))
        found.append(list(held))
    return found


@pytest.mark.slow
def test_the_same_input_gives_the_same_play(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = []
    buttons = presses(400, 3)
    for threads in ("1", "2", "1"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        stage = play(busy())
        own = []
        for tick, held in enumerate(buttons):
            stage.step(held)
            if tick % 50 == 49:
                own.append(stage.hash())
        hashes.append(own)
        assert len(set(own)) == len(own)
    assert hashes[0] == hashes[1] == hashes[2]
    assert stage.energy.min() < 100, "something has happened"


@pytest.mark.slow
def test_many_are_the_same_on_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = np.random.default_rng(1)
    cast = [
        Actor(name=f"n{row}", place=tuple(chance.uniform(-5, 5, 2)))
        for row in range(35)
    ]
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        stage = play(replace(busy(), cast=tuple(cast)))
        for held in presses(60, 35, 4):
            stage.step(held)
        frame = stage.frame
        found.append((stage.hash(), frame.bodies[0].positions[0].copy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.slow
def test_a_log_plays_the_same_again() -> None:
    stage, again, third = play(busy()), play(busy()), play(busy())
    for held in presses(250, 3, 7):
        stage.step(held)
    log = stage.log
    assert log.length == 250
    again.replay(log)
    assert again.hash() == stage.hash()
    assert again.tick == 250
    third.replay(again.log)
    assert third.hash() == stage.hash()
    for mine, theirs in zip(
        (log.ticks, log.who, log.states),
        (third.log.ticks, third.log.who, third.log.states),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.slow
def test_other_input_or_another_plan_gives_another_hash() -> None:
    plan = fighters()
    still, moved = play(plan), play(plan)
    assert still.hash() == moved.hash()
    moved.step(["right"])
    still.step()
    assert still.hash() != moved.hash()
    assert play(replace(plan, seed=1)).hash() != play(plan).hash()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("places", "headings", "clocks", "asked", "slides", "sinks", "held"),
        *("opponents", "has_won", "roles", "circling"),
        *("fight.energy", "fight.stun", "fight.struck", "fight.has_met"),
        *("fight.recoil.amounts", "fight.recoil.given", "fight.recoil.left"),
        *("fight.recoil.ticks", "standing.falls", "standing.grounded"),
        *("moves.move", "moves.at", "moves.buffered", "moves._marks"),
        *("camera.eye", "camera.target", "view.shown", "view.parts"),
        *("bodies.0.player.local", "bodies.0.player._voices"),
        *("bodies.0.player._marks", "bodies.0.player._targets"),
        *("bodies.0.player._fades", "bodies.0.player.weights"),
        "bodies.0.world.matrices",
    ],
)
def test_the_hash_is_of_all_that_a_later_tick_depends_on(name: str) -> None:
    stage = hashed()
    array: Any = stage.state
    for word in name.split("."):
        array = array[int(word)] if word.isdecimal() else getattr(array, word)
    if not array.size:
        return  # a mannequin has no morphs
    before, kept = stage.hash(), array.copy()
    first = array.reshape(-1)[:1]
    first[0] = not first[0] if array.dtype == bool else first[0] + 1
    assert stage.hash() != before
    array[...] = kept
    assert stage.hash() == before


@functools.cache
def hashed() -> Stage:
    stage = play(busy())
    run(stage, 3, {0: ["B", "right"]})
    return stage


@pytest.mark.slow
def test_advance_in_parts_of_ticks() -> None:
    stage, whole = play(fighters()), play(fighters())
    counts = [stage.advance(0.004, ["right"]) for _ in range(250)]
    assert sum(counts) == stage.tick == 60
    assert set(counts) == {0, 1}
    run(whole, 60, ["right"])
    assert stage.hash() == whole.hash()
    assert stage.advance(0) == 0
    assert stage.advance(1.0) == 60
    assert stage.advance(DT / 2) + stage.advance(DT / 2) == 1


# Who and what.


@pytest.mark.slow
def test_buttons_as_texts_and_as_masks() -> None:
    texts, masks, arrays = play(fighters()), play(fighters()), play(fighters())
    texts.step(["right+B", "-"])
    masks.step([8 + 32, 0])
    arrays.step(np.array([40, 0], np.uint32))
    assert texts.hash() == masks.hash() == arrays.hash()
    texts.step("left")
    masks.step([4])
    assert texts.hash() == masks.hash()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("buttons", "text"),
    [
        (["", "", ""], "buttons: 3, expected 2 or less"),
        (["lefft"], "no button 'lefft'; there are: 'left'"),
        (["B+B"], "twice"),
        ([1 << 12], "4095 or less"),
        ([-1], "expected"),
        ([1.5], "expected"),
        ([None], "expected"),
        ([True], "expected"),
        (np.array([1.5, 0.0]), "expected"),
        (5, "expected"),
    ],
)
def test_buttons_that_are_refused(buttons: Any, text: str) -> None:
    stage = hashed_pair()
    before = stage.hash()
    with pytest.raises((SettingError, ShapeError), match=text):
        stage.step(buttons)
    assert stage.hash() == before
    assert stage.log.length == stage.tick


@functools.cache
def hashed_pair() -> Stage:
    return play(fighters())


@pytest.mark.slow
@pytest.mark.parametrize("dt", [-1, math.nan, 1e9, "1", True, None])
def test_times_that_are_refused(dt: Any) -> None:
    with pytest.raises(SettingError, match=r"dt: .* expected 0 to 3600 seconds"):
        hashed_pair().advance(dt)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("opponents", 10**8, r"opponents: \[100000000, 0\], expected -1 to 1"),
        ("opponents", -2, "expected -1 to 1"),
        ("places", math.nan, "places: .* of character 0, expected numbers"),
        ("places", -1e300, "places: .* of character 0"),
        ("headings", math.inf, "headings: inf of character 0"),
    ],
)
def test_what_is_written_is_looked_at(name: str, value: Any, text: str) -> None:
    """Kernels would read beside their tables."""
    stage = play(fighters())
    getattr(stage, name)[0] = value
    with pytest.raises(ShapeError, match=text):
        stage.step()
    assert stage.log.length == stage.tick == 0


@pytest.mark.slow
def test_names_that_are_refused() -> None:
    stage = hashed_pair()
    assert stage.row("blue") == 1
    with pytest.raises(SettingError, match=r"nobody is called 'bleu'; .* blue"):
        stage.row("bleu")
    with pytest.raises(SettingError, match="nobody is called"):
        stage.doing("green")
    rule = stage.state.camera.rule
    with pytest.raises(SettingError, match="nobody is called"):
        stage.set_camera(CameraRule(rule="behind"), of="green")
    assert stage.state.camera.rule is rule, "nothing has changed"
    with pytest.raises(SettingError, match="rule: str, expected a CameraRule"):
        stage.set_camera("behind")  # type: ignore[arg-type]
    other = play(busy())
    other.step(["", "", "B"])
    with pytest.raises(SettingError, match="count: 2, expected 3 or more"):
        stage.replay(other.log)


def test_sources_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="source: int, expected a file"):
        Stage(5)  # type: ignore[arg-type]
    with pytest.raises(FlexorError, match=r"nothing\.toml"):
        Stage(tmp_path / "nothing.toml")
    plan = StagePlan(cast=(Actor(name="red", file=str(tmp_path / "nobody.glb")),))
    with pytest.raises(FlexorError, match=r"nobody\.glb"):
        Stage(plan)
    with pytest.raises(SettingError, match=r"nobody\.glb: int, expected Character"):
        Stage(plan, characters={plan.cast[0].file: 5})  # type: ignore[dict-item]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clips", "moves", "text"),
    [
        ({"walk": "stroll"}, (), "'red' has no 'stroll' for walk; there are:"),
        ({"wlak": "walk"}, (), "no role 'wlak'; there are: .*walk"),
        ({}, (Move("bow", 1, 1, 1),), "'red' has no 'bow' for the move 'bow'; "),
        ({"bow": "cheers"}, (Move("bow", 1, 1, 1),), "no 'cheers' .*'cheer'"),
        (
            {},
            (Move("punch", 1, 1, 1, parts=("wing",)),),
            "nobody has 'wing'; there are:",
        ),
    ],
)
def test_clips_and_parts_that_are_missing(
    clips: dict[str, str], moves: tuple[Move, ...], text: str
) -> None:
    plan = StagePlan(cast=(Actor(name="red", clips=clips),), moves=MoveTable(moves))
    with pytest.raises(SettingError, match=text):
        play(plan)


@pytest.mark.slow
def test_other_clips_can_be_named() -> None:
    moves = MoveTable((Move("bow", 1, 20, 1, kind="other"),), singles={"B": "bow"})
    own = Actor(name="red", clips={"bow": "cheer", "stance": "idle", "walk": "run"})
    stage = play(StagePlan(cast=(own,), moves=moves))
    run(stage, 5, {0: ["B"]})
    assert stage.doing("red") == "bow"
    playing = stage.state.bodies[0].playing
    assert [one.clip for one in playing[:2] if one] == ["idle", "run"]
    assert playing[-1] is not None
    assert playing[-1].clip == "cheer"
    assert playing[-1].speed == pytest.approx(hero().clips["cheer"].duration * 60 / 22)


def test_a_stage_of_nobody() -> None:
    pillar = Structure(name="pillar", middle=(0, 0), radius=0.3)
    stage = Stage(StagePlan(moves=MOVES, structures=(pillar,), zones=(RING,)))
    assert len(stage) == 0
    before = stage.hash()
    for _ in range(3):
        stage.step()
    stage.advance(0.1, [])
    assert stage.tick == 9
    assert stage.hash() != before
    assert stage.camera.eye == CameraRule().eye
    assert stage.log.length == 9
    with pytest.raises(ShapeError, match="buttons: 1, expected 0 or less"):
        stage.step(["B"])


@pytest.mark.slow
def test_a_picture_of_nobody() -> None:
    picture = Stage(StagePlan()).draw((32, 24))
    assert picture.shape == (24, 32, 4)
    assert len(np.unique(picture[..., :3].reshape(-1, 3), axis=0)) > 1


@pytest.mark.slow
def test_characters_of_two_kinds(tmp_path: Path) -> None:
    file = str(write_glb(tmp_path / "mini.glb", *mini()))
    cast = (
        Actor(name="a", place=(-2, 0)),
        Actor(name="b", file=file, place=(0, 0), clips={"walk": "bend"}),
        Actor(name="c", place=(2, 0)),
        Actor(name="d", file=file, place=(0, 3), clips={"walk": "bend"}),
    )
    stage = play(StagePlan(cast=cast, ground=shape_ground((20, 20), 0.5, rough=0.1)))
    assert [body.rows.tolist() for body in stage.state.bodies] == [[0, 2], [1, 3]]
    assert stage.opponents.tolist() == [1, 0, 1, 1]
    before = stage.places.copy()
    run(stage, 20, ["", "right", "left+R"])
    moved = np.hypot(*(stage.places - before)[:, [0, 2]].T)
    assert (moved > 0.05).tolist() == [False, True, True, False]
    assert [stage.doing(name) for name in "abcd"] == ["stance", "back", "run", "stance"]
    for body in stage.frame.bodies:
        for row, positions in zip(body.rows, body.positions[0], strict=True):
            middle = positions.mean(0) - stage.places[row]
            assert np.hypot(middle[0], middle[2]) < 1.5
    assert stage.draw((64, 48)).any()
    again = play(stage.plan)
    again.replay(stage.log)
    assert again.hash() == stage.hash()


@pytest.mark.slow
def test_a_stage_from_a_file(tmp_path: Path) -> None:
    text = """
    [[character]]
    name = "red"
    place = [-1, 0]
    heading = 90
    [[character]]
    name = "blue"
    place = [1, 0]
    """
    path = tmp_path / "stage.toml"
    path.write_text(text)
    stage = flexor.Stage(path)
    assert repr(stage) == "Stage(2 characters: red, blue; tick 0)"
    stage.step("right")
    assert stage.places[0, 0] > -1
    path.write_text(text + 'clips = { walk = "stroll" }\n')
    with pytest.raises(FlexorError, match=r"stage\.toml.*no 'stroll' for walk"):
        flexor.Stage(path)


# Pictures.


def shot(stage: Stage, **more: Any) -> Any:
    return stage.draw((160, 120), **more).copy()


@pytest.mark.slow
def test_drawing_does_not_change_the_play() -> None:
    drawn, blind = play(busy()), play(busy())
    for tick, held in enumerate(presses(60, 3, 2)):
        drawn.step(held)
        blind.step(held)
        if tick % 10 == 0:
            shot(drawn)
            before = drawn.hash()
            shot(drawn, style="cel")
            assert drawn.hash() == before
    assert drawn.hash() == blind.hash()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smooth", ("head",)),
        ("order", "sort"),
        ("style", "cel"),
        ("background", (9, 8, 7)),
    ],
)
def test_looks_change_pictures_as_styles_do(name: str, value: Any) -> None:
    stage = hashed_pair()
    seen = shot(play(replace(stage.plan, look=StageLook(**{name: value}))))
    assert (seen != shot(stage)).any()
    words: dict[str, Any] = {"background": (*stage.plan.look.background, 255)}
    words[name] = (*value, 255) if name == "background" else value
    style = flexor.DrawStyle(**words)
    np.testing.assert_array_equal(shot(stage, style=style), seen)


@pytest.mark.slow
def test_smooth_parts_are_smooth_and_the_rest_is_flat() -> None:
    stage = hashed_pair()
    camera = flexor.Camera((0.5, 1.2, 2.5), (0.3, 1.1, 0), fov=0.9)
    shots = [
        shot(stage, camera=camera, style=flexor.DrawStyle(smooth=smooth))
        for smooth in (None, ("head",), ())
    ]
    whole, part, none = (own[..., :3].astype(int) for own in shots)
    assert (part != none).any()
    assert (part != whole).any()
    changed = (part != none).any(-1)
    assert 0 < changed.sum() < (whole != none).any(-1).sum(), "of the heads alone"


@pytest.mark.slow
def test_pictures_show_who_plays() -> None:
    plan = fighters(2.0)
    red = replace(plan.cast[0], colour=(1.0, 0.05, 0.05))
    stage = play(replace(plan, cast=(red, plan.cast[1])))
    picture = shot(stage).astype(int)
    is_red = picture[..., 0] > 1.6 * picture[..., 2] + 10
    columns = np.flatnonzero(is_red.any(0))
    assert len(columns)
    assert columns.mean() < 80, "red stands to the left"
    dark = shot(stage, style=flexor.DrawStyle(shadow=False))
    assert (dark != shot(stage, style="shaded")).any(), "shadows"


@pytest.mark.slow
def test_structures_in_the_way_are_not_drawn() -> None:
    camera = CameraRule(rule="fixed", eye=(0, 1.5, 6), target=(0, 1, 0))
    pillar = Structure(
        name="pillar", middle=(0, 3), radius=0.4, high=3, colour=(9, 0, 9)
    )
    stage = play(fighters(camera=camera, structures=(pillar,)))

    def purple() -> int:
        picture = shot(stage).astype(int)
        return int((picture[..., 0] > 2 * picture[..., 1] + 60).sum())

    before = purple()
    assert before > 100
    run(stage, 30)
    assert purple() == 0
    stage.places[:, 0] += 30.0
    run(stage, 30)
    assert purple() > 100, "and comes back"


@pytest.mark.slow
def test_pictures_that_are_refused() -> None:
    stage = Stage(StagePlan())
    with pytest.raises(SettingError, match="a stage has no heat, bones or names"):
        stage.draw((32, 24), style=flexor.DrawStyle(bones=True))
    with pytest.raises(SettingError):
        stage.draw((0, 24))
    with pytest.raises(SettingError, match="style"):
        stage.draw((32, 24), style="oil")


# What goes on after a fight.


@pytest.mark.slow
def test_a_second_blow_is_seen_too() -> None:
    fight = FightSettings(stun=200)
    stage = play(fighters(fight=fight, moves=MoveTable(QUICK, singles={"B": "jab"})))
    voices = []
    for tick in range(80):
        stage.step(["B" if tick % 20 == 0 else "", ""])
        voices.append(stage.state.bodies[0].player._acts)
        stage.places[1, 0] = 0.5  # it is not pushed away
    assert stage.energy[1] < 100 - 2 * 3
    starts = np.diff(voices)
    assert np.count_nonzero(starts) >= 2 * 3, "jabs and as many that are hit"
    assert stage.doing("blue") == "hit"


QUICK = (Move("jab", 5, 4, 9, clip="punch", parts=("rightHand",), damage=3),)


@pytest.mark.slow
def test_who_gets_up_again_is_fought_again() -> None:
    stage = play(fighters())
    stage.energy[1] = 0
    run(stage, 30)
    assert [stage.doing(row) for row in range(2)] == ["won", "beaten"]
    stage.energy[1] = 50
    run(stage, 30)
    assert [stage.doing(row) for row in range(2)] == ["stance", "stance"]
    assert stage.opponents.tolist() == [1, 0]


@pytest.mark.slow
def test_feet_leave_a_slope_without_a_jump() -> None:
    """What a slope does to a foot comes and goes bit by bit, as in the same jump on
    level ground it does not move at all for that.
    """
    hill = shape_ground((12, 12), 0.25, [Patch(area=(-6, -6, 6, 6), tilt=(0.3, 0.0))])
    friction = FrictionSettings(still=2, moving=1)
    heights = []
    for own in (play(fighters(ground=hill, friction=friction)), play(fighters())):
        run(own, 60)
        seen = []
        for tick in range(60):
            own.step(["Y" if tick == 0 else "", ""])
            for name in ("l-ankle", "r-ankle"):
                seen.append(node(own, 0, name)[1] - own.places[0, 1])
        heights.append(np.array(seen).reshape(-1, 2))
    lifts = heights[0] - heights[1]
    assert np.abs(lifts).max() > 0.04, "the slope is felt"
    assert np.abs(np.diff(lifts, axis=0)).max() < 0.014


@pytest.mark.slow
def test_bodies_of_other_shapes_need_not_have_the_parts_that_hit(
    tmp_path: Path,
) -> None:
    file = str(write_glb(tmp_path / "mini.glb", *mini()))
    other = Actor(name="other", file=file, place=(0, 3), control="none")
    cast = (*fighters().cast, other)
    stage = play(fighters(cast=cast))
    run(stage, 40, {0: ["B"]})
    assert stage.energy.tolist() == [100, 88, 100]
