"""What characters are seen to do, where they stand, and feet on uneven ground."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.maths.records import check_record
from flexor.samples import mannequin
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.plan import Actor, StageLook, StagePlan
from flexor.stage.layout import ground_table
from flexor.stage.movement.ground import find_footing, init_footing
from flexor.stage.movement.kernels import roles as kernel_roles
from flexor.stage.movement.layout import Feet, Roles, Seen
from tests.oracle import stage as oracle

Rng = np.random.Generator
WALK = 1.35
DT = 1 / 60


@functools.cache
def hero() -> Character:
    return mannequin()


def roles_of(**given: Any) -> tuple[str, float, bool]:
    """Role, rate and whether it begins, of one (kernel `choose_roles`)."""
    own = {
        "energy": 100.0,
        "stun": 0,
        "struck": 0,
        "is_new": False,
        "has_won": False,
        "move": -1,
        "started": -1,
        "grounded": True,
        "fall": 0.0,
        "asked": (0.0, 0.0),
        "pace": 1.0,
        "before": 0,
        "speed": 1.2,
        "clock": 1.0,
        "gone": None,
    }
    assert set(given) <= set(own)
    own |= given
    roles = np.array([own["before"]], np.int32)
    changed, rates = np.zeros(1, bool), np.zeros(1)
    gone = own["gone"]
    if gone is None:  # as far as it asks
        gone = math.hypot(*own["asked"]) * own["pace"]
    kernel_roles.choose_roles(
        WALK,
        DT,
        Seen(
            np.array([own["energy"]], np.float64),
            np.array([own["stun"]], np.int32),
            np.array([own["struck"]], np.uint8),
            np.array([own["is_new"]]),
            np.array([own["has_won"]]),
            np.array([own["move"]], np.int32),
            np.array([own["started"]], np.int32),
            np.array([own["grounded"]]),
            np.array([own["fall"]], np.float64),
            np.array([own["asked"]], np.float64),
            np.array([own["pace"]]),
            np.zeros(1, np.int32),
            np.array([own["clock"]]),
            np.array([[2.0, 1.0, 3.0]]),
            np.array([[2.0, 5.0, 3.0 + gone * DT * own["clock"]]]),
        ),
        np.full((1, len(ROLES)), own["speed"], np.float64),
        Roles(roles, changed, rates),
    )
    role = int(roles[0])
    name = ROLES[role] if role < len(ROLES) else f"move {role - len(ROLES)}"
    return name, float(rates[0]), bool(changed[0])


def test_roles_are_those_of_the_twin(rng: Rng) -> None:
    count = 2000
    energy = rng.choice([0.0, 0.5, 100.0], count)
    stun = rng.choice([0, 0, 5], count).astype(np.int32)
    struck = rng.integers(0, 4, count).astype(np.uint8)
    is_new, has_won, grounded = rng.random((3, count)) < [[0.3], [0.2], [0.7]]
    moves = rng.integers(-3, 4, count).clip(-1).astype(np.int32)
    started = np.where(rng.random(count) < 0.5, moves, -1).astype(np.int32)
    falls = rng.uniform(0, 3, count)
    asked = rng.uniform(-3, 3, (count, 2)) * (rng.random((count, 2)) < 0.6)
    paces = rng.choice([1.0, 0.8, 0.6], count)
    kinds = rng.integers(0, 3, count).astype(np.int32)
    own_speeds = rng.uniform(-1, 3, (3, len(ROLES))).clip(0)
    clocks, begun = rng.uniform(0.3, 2, count), rng.normal(size=(count, 3))
    gone = np.hypot(*asked.T) * paces * rng.choice([0, 0.05, 0.5, 0.97, 1, 2], count)
    ways = rng.uniform(0, 2 * math.pi, count)
    steps = np.stack([np.sin(ways), rng.normal(size=count), np.cos(ways)], 1)
    places = begun + steps * (gone * DT * clocks)[:, None]
    roles = rng.integers(-1, 16, count).astype(np.int32)
    before, changed, rates = roles.copy(), np.zeros(count, bool), np.zeros(count)
    kernel_roles.choose_roles(
        WALK,
        DT,
        Seen(
            *(energy, stun, struck, is_new, has_won, moves, started, grounded),
            *(falls, asked, paces, kinds, clocks, begun, places),
        ),
        own_speeds,
        Roles(roles, changed, rates),
    )
    for n in range(count):
        role, rate = oracle.choose_role(
            WALK,
            energy[n],
            stun[n],
            struck[n],
            has_won[n],
            moves[n],
            grounded[n],
            falls[n],
            asked[n],
            paces[n],
            own_speeds[kinds[n]],
            gone[n],
        )
        assert roles[n] == role
        assert rates[n] == pytest.approx(rate, abs=1e-12)
        is_again = started[n] >= 0 and role >= len(ROLES)
        is_again |= is_new[n] and role in map(ROLES.index, ("hit", "guarded", "recoil"))
        assert changed[n] == (role != before[n] or is_again)


@pytest.mark.parametrize(
    ("given", "role"),
    [
        ({}, "stance"),
        ({"asked": (1.35, 0)}, "walk"),
        ({"asked": (3.5, 0)}, "run"),
        ({"asked": (-1, 0)}, "back"),
        ({"asked": (0.1, -1)}, "left"),
        ({"asked": (0.1, 1)}, "right"),
        ({"grounded": False, "fall": 3}, "air"),
        ({"grounded": False, "fall": 0.5}, "stance"),
        ({"stun": 3, "struck": 1}, "hit"),
        ({"stun": 3, "struck": 2}, "guarded"),
        ({"stun": 3, "struck": 3}, "recoil"),
        ({"stun": 0, "struck": 3}, "stance"),
        ({"move": 2, "asked": (1, 0)}, "move 2"),
        ({"move": 2, "stun": 1, "struck": 1}, "hit"),
        ({"has_won": True}, "won"),
        ({"has_won": True, "asked": (1, 0)}, "walk"),
        ({"has_won": True, "move": 0}, "move 0"),
        ({"energy": 0, "stun": 4, "move": 1, "has_won": True}, "beaten"),
    ],
)
def test_what_is_seen_of_whom(given: dict[str, Any], role: str) -> None:
    assert roles_of(**given)[0] == role


def test_clips_go_as_fast_as_feet_would() -> None:
    assert roles_of(asked=(1.2, 0))[1] == pytest.approx(1)
    assert roles_of(asked=(1.2, 0), pace=0.6)[1] == pytest.approx(0.6)
    assert roles_of(asked=(0.01, 0))[1] == 0.25, "never so slow that it stands"
    assert roles_of(asked=(0, 99))[1] == 2.5
    assert roles_of(asked=(1.2, 0), speed=0)[1] == 1, "a clip of no known speed"
    assert roles_of(stun=3, asked=(3, 0))[1] == 1


def test_clips_go_as_far_as_one_really_goes() -> None:
    """Against a wall, along it, pushing another, down a slope; at any clock."""
    for clock in (0.5, 1.0):
        same = {"asked": (1.2, 0), "clock": clock}
        assert roles_of(**same, gone=0.6)[:2] == ("walk", pytest.approx(0.5))
        assert roles_of(**same, gone=1.8)[:2] == ("walk", pytest.approx(1.5))
        assert roles_of(**same, gone=1.18)[:2] == ("walk", 1.0), "about the same"
        assert roles_of(**same, gone=0.2)[:2] == ("walk", 0.25)
        assert roles_of(**same, gone=0.1)[0] == "stance", "it is held"
    assert roles_of(asked=(0, -1), gone=0)[0] == "stance"
    assert roles_of(asked=(1, 0), clock=0.0, gone=0)[0] == "walk"


def test_a_move_begins_again_and_a_role_does_not() -> None:
    stance, first = 0, len(ROLES)
    assert not roles_of(before=stance)[2]
    assert roles_of(before=1)[2]
    assert not roles_of(before=first, move=0)[2]
    assert roles_of(before=first, move=0, started=0)[2]


def test_places_are_those_of_the_twin(rng: Rng) -> None:
    places, headings = rng.normal(size=(9, 3)), rng.uniform(-9, 9, 9)
    sinks, rows = rng.uniform(-0.3, 0, 9), np.array([4, 0, 8], np.int32)
    out = np.full((3, 3, 4), 7.0)
    kernel_roles.put_places(rows, places, headings, sinks, out)
    for own, row in zip(out, rows, strict=True):
        wanted = oracle.put_place(places[row], headings[row], sinks[row])
        np.testing.assert_allclose(own, wanted, atol=1e-15)


def test_feet_are_put_as_by_the_twin(rng: Rng) -> None:
    for _ in range(100):
        ground = make_ground(rng.normal(0, 0.2, (5, 6)), (-2, -1.5), 0.7)
        count, limbs, nodes = 4, 3, 7
        rows = rng.permutation(6)[:count].astype(np.int32)
        ends = rng.permutation(nodes)[:limbs].astype(np.int32)
        flats = np.array([0.08, -1.0, 0.05])
        places = rng.uniform(-1, 1, (6, 3)) * (1, 0.3, 1)
        planted = rng.choice([0.0, 0.4, 1.0], 6)
        lifts = rng.uniform(-0.15, 0.15, (count, limbs)) * rng.integers(0, 2)
        sinks = rng.uniform(-0.2, 0, 6) * rng.integers(0, 2, 6)
        world = rng.uniform(-1, 1, (count, nodes, 3, 4)).astype(np.float32)
        targets = np.zeros((count, limbs, 3), np.float32)
        tilts = np.zeros((count, limbs, 4), np.float32)
        weights = np.zeros((count, limbs), np.float32)
        before, sunk = world.copy(), sinks.copy()
        is_any = kernel_roles.plant_feet(
            ground_table(ground),
            rows,
            places,
            planted,
            check_record(Feet(ends, flats, lifts, targets, tilts, weights)),
            sinks,
            world,
        )
        others = np.setdiff1d(np.arange(6), rows)
        np.testing.assert_array_equal(sinks[others], sunk[others])
        for k, n in enumerate(rows):
            wanted = oracle.plant_feet(
                ground,
                before[k, ends, :, 3].astype(np.float64),
                flats,
                places[n],
                float(planted[n]),
                lifts[k],
                sunk[n],
            )
            np.testing.assert_allclose(targets[k], wanted[0], atol=1e-6)
            x, y, z, w = tilts[k].T
            ups = [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)]
            np.testing.assert_allclose(np.stack(ups, 1), wanted[1], atol=1e-6)
            np.testing.assert_array_equal(y, 0)  # feet do not turn in their stand
            np.testing.assert_array_equal(weights[k], wanted[2])
            assert sinks[n] == pytest.approx(wanted[3], abs=1e-7)
            moved = world[k, :, :, 3] - before[k, :, :, 3]
            wanted_move = np.tile([0, wanted[3] - sunk[n], 0], (nodes, 1))
            np.testing.assert_allclose(moved, wanted_move, atol=1e-6)
        assert is_any == weights.any()


def test_a_foot_is_turned_where_the_slope_crosses_its_own_height() -> None:
    """It need not be lifted there, but its sole does not lie level."""
    ground = slope(0.0, 0.3)
    world = np.zeros((1, 1, 3, 4), np.float32)
    world[0, 0, :, 3] = 0.1, 0.08, 0.0
    targets, tilts = np.zeros((1, 1, 3), np.float32), np.zeros((1, 1, 4), np.float32)
    weights, sinks = np.zeros((1, 1), np.float32), np.zeros(1)
    first = np.zeros(1, np.int32)
    assert kernel_roles.plant_feet(
        ground_table(ground),
        first,
        np.zeros((1, 3)),
        np.ones(1),
        Feet(first, np.array([0.08]), np.zeros((1, 1)), targets, tilts, weights),
        sinks,
        world,
    )
    assert weights[0, 0] == 1
    assert 2 * math.asin(tilts[0, 0, 0]) == pytest.approx(-math.atan(0.3), abs=1e-6)


def alone(ground: Ground, heading: float = 0.0, **look: Any) -> Stage:
    """A mannequin that stands in its stance."""
    own = Actor(name="one", heading=heading, control="none", opponent="none")
    plan = StagePlan(cast=(own,), ground=ground, look=StageLook(**look))
    return Stage(plan, characters={"mannequin": hero()})


def slope(x: float, z: float) -> Ground:
    grid = np.arange(-10, 10.5, 1)
    return make_ground(x * grid + z * grid[:, None], (-10, -10), 1.0)


def ankles(stage: Stage) -> Any:
    """Both ankles, (2, 3)."""
    body = stage.state.bodies[0]
    rows = [list(body.plan.limbs).index(name) for name in ("leftFoot", "rightFoot")]
    return body.world.matrices[0, body.ends[rows], :, 3].astype(np.float64)


def over_ground(stage: Stage) -> Any:
    """Metres of both ankles over the ground under them."""
    found, places = init_footing(2), ankles(stage)
    find_footing(stage.plan.ground, places, stage.plan.friction, out=found)
    return places[:, 1] - found.heights


def bumps() -> Ground:
    return shape_ground((10, 10), 0.25, rough=0.15, seed=4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "ground",
    [slope(0.2, 0), slope(-0.3, 0), slope(0, 0.3), slope(0.15, -0.25), bumps()],
    ids=["right", "left", "up", "slant", "rough"],
)
@pytest.mark.parametrize("heading", [0.0, 1.0, math.pi])
def test_feet_stand_on_uneven_ground(ground: Ground, heading: float) -> None:
    stage, level = alone(ground, heading), alone(flat_ground(), heading)
    sinks = []
    for _ in range(60):
        stage.step()
        level.step()
        sinks.append(float(stage.state.sinks[0]))
    assert stage.places[0].tolist() == [0, pytest.approx(ground_at_middle(ground)), 0]
    np.testing.assert_allclose(over_ground(stage), over_ground(level), atol=1e-3)
    # Feet go straight up and down, each stays where the clip has it.
    np.testing.assert_allclose(
        ankles(stage)[:, [0, 2]], ankles(level)[:, [0, 2]], atol=1e-3
    )
    assert min(sinks) < 0, "one foot is lower: hips sink"
    steps = np.abs(np.diff([0, *sinks]))
    assert steps.max() < 0.3 * abs(min(sinks)) + 0.02, "softly"
    assert steps[-1] < 1e-3


def ground_at_middle(ground: Ground) -> float:
    found = init_footing(1)
    find_footing(ground, np.zeros((1, 3)), StagePlan().friction, out=found)
    return float(found.heights[0])


@pytest.mark.slow
def test_feet_are_left_as_they_are_if_they_should() -> None:
    stage, level = alone(slope(0.3, 0), feet=False), alone(flat_ground())
    for _ in range(30):
        stage.step()
        level.step()
    mine, theirs = (own.state.bodies[0].world.matrices for own in (stage, level))
    np.testing.assert_array_equal(mine, theirs)
    assert abs(over_ground(stage) - over_ground(level)).max() > 0.02


@pytest.mark.slow
def test_nothing_moves_on_flat_ground() -> None:
    """To the bit, and also where another part of the ground is not flat."""
    heights = np.zeros((21, 21))
    heights[:, 15:] = 0.5
    for ground in (flat_ground(), make_ground(heights, (-10, -10), 1.0)):
        with_feet, without = alone(ground), alone(ground, feet=False)
        for stage in (with_feet, without):
            stage.asked[0] = 1.35, 0.0
        for _ in range(30):
            with_feet.step()
            without.step()
            mine, theirs = with_feet.state.bodies[0], without.state.bodies[0]
            np.testing.assert_array_equal(mine.player.local, theirs.player.local)
            np.testing.assert_array_equal(mine.world.matrices, theirs.world.matrices)
        assert with_feet.state.sinks[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("rise", [(0.0, 0.3), (-0.25, 0.1)])
def test_soles_lie_on_the_slope(rise: tuple[float, float]) -> None:
    stage, level = alone(slope(*rise)), alone(flat_ground())
    for _ in range(60):
        stage.step()
        level.step()
    body = stage.state.bodies[0]
    shares = []
    for foot, name in enumerate(("leftFoot", "rightFoot")):
        end = body.ends[list(body.plan.limbs).index(name)]
        turned, plain = (
            own.state.bodies[0].world.matrices[0, end, :, :3].astype(np.float64)
            for own in (stage, level)
        )
        # A heel that the clip lifts takes less of the slope, none from 12 cm on.
        over = over_ground(level)[foot] - body.plan.feet[name]
        shares.append(np.clip(1 - over / 0.12, 0, 1))
        up = np.array([-rise[0] * shares[-1], 1, -rise[1] * shares[-1]])
        up /= np.linalg.norm(up)
        np.testing.assert_allclose(turned @ plain.T @ (0, 1, 0), up, atol=1e-5)
    assert max(shares) > 0.5


@pytest.mark.slow
def test_hips_come_back_when_the_ground_is_flat_again() -> None:
    heights = np.zeros((41, 41))
    heights[:, :20] = -0.25 * np.arange(20, 0, -1)
    stage = alone(make_ground(heights, (-10, -10), 0.5))
    stage.places[0, 0] = -2.0
    for _ in range(40):
        stage.step()
    assert stage.state.sinks[0] < -0.01
    stage.places[0] = 3, 0, 0
    for _ in range(60):
        stage.step()
    assert stage.state.sinks[0] == 0
    plain = alone(flat_ground())
    for _ in range(100):
        plain.step()
    plain_ends, ends = ankles(plain), ankles(stage) - (3, 0, 0)
    np.testing.assert_allclose(ends, plain_ends, atol=1e-5)
