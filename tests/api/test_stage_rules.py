"""Rules of a stage in play, one by one: what each of them is there for."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.api.stage import Stage
from flexor.scene.stage.effect_settings import EffectPlan
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Combination, Move, MoveTable, read_commands
from flexor.scene.stage.plan import Actor, CameraRule, StagePlan, WalkSettings
from flexor.scene.stage.settings import FightSettings, FrictionSettings, ParrySettings
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone
from flexor.stage.movement.ground import find_footing, init_footing
from flexor.stage.movement.layout import PARRIED
from flexor.stage.movement.parry import push_back
from tests.api.test_stage import (
    DT,
    MOVES,
    PUNCH_LANDS,
    RING,
    fighters,
    node,
    play,
    run,
    strike,
    walker,
)

DASH = 30.0  # metres a second


def runner(ground: Ground | None = None, **more: Any) -> Stage:
    """One alone without a pad, who looks along +x: it goes as it is told."""
    own = Actor(name="one", heading=math.pi / 2, control="none", opponent="none")
    rule = CameraRule(rule="fixed")
    ground = flat_ground() if ground is None else ground
    return play(StagePlan(cast=(own,), ground=ground, camera=rule, **more))


def go(stage: Stage, ahead: float, right: float, ticks: int) -> Any:
    """Where the first one was after each of some ticks: (ticks, 3)."""
    stage.asked[0] = ahead, right
    seen = []
    for _ in range(ticks):
        stage.step()
        seen.append(stage.places[0].copy())
    return np.array(seen)


# The order of a tick.

ORDER = (
    "moves",
    "pads",
    "circling",
    "slopes",
    "recoil",
    "apart",
    "zones",
    "steps",
    "standing",
    "attack",
    "motion",
    "effects",
    "camera",
    "view",
)


@pytest.mark.slow
def test_rules_come_in_their_order_and_none_is_there_for_nothing() -> None:
    pillar = Structure(name="pillar", middle=(3, 3), radius=0.3)
    snow = EffectPlan(snow=10)
    whole = fighters(
        ground=cliff(2.0), zones=(RING,), structures=(pillar,), effects=snow
    )
    assert tuple(name for name, _ in play(whole).state.rules) == ORDER
    for more, missing in (
        ({"ground": flat_ground()}, {"slopes", "steps"}),
        ({"ground": cliff(0.15)}, {"steps"}),
        ({"walking": WalkSettings(step=3.0)}, {"steps"}),
        ({"zones": (), "structures": ()}, {"zones", "view"}),
        ({"effects": EffectPlan()}, {"effects"}),
        ({"moves": MoveTable(())}, {"moves", "recoil", "attack"}),
        ({"cast": whole.cast[:1]}, {"apart"}),
    ):
        names = [name for name, _ in play(replace(whole, **more)).state.rules]  # type: ignore[arg-type]
        assert names == [name for name in ORDER if name not in missing]


# Steep ground.


def cliff(high: float, cell: float = 0.25, at: float = 2.0) -> Ground:
    """Ground that is higher from some metres along x on."""
    return shape_ground((24, 24), cell, [Patch(area=(at, -12, 12, 12), height=high)])


@pytest.mark.slow
@pytest.mark.parametrize("buttons", ["right", "right+R", "right+R+up", "right+down"])
@pytest.mark.parametrize("cell", [0.1, 0.25, 0.5])
def test_nobody_runs_into_a_cliff(buttons: str, cell: float) -> None:
    stage = walker(cliff(2.0, cell))
    deep = []
    for _ in range(180):
        stage.step([buttons])
        deep.append(float(stage.state.footing.heights[0] - stage.places[0, 1]))
        assert stage.places[0, 1] < 0.1
    assert max(deep) <= 0.15
    assert 2 - cell - 0.6 < stage.places[0, 0] < 2
    if "+up" in buttons or "+down" in buttons:
        speed = 3.5 if "R" in buttons else 1.35
        along = speed * math.sqrt(0.5) * 180 * DT
        assert abs(stage.places[0, 2]) == pytest.approx(along, rel=0.1), "along it"


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.0, 0.5, -1.2])
def test_a_dash_does_not_jump_onto_a_cliff(angle: float) -> None:
    stage = runner(cliff(2.0))
    stage.headings[0] = math.pi / 2 + angle
    seen = go(stage, DASH, 0.0, 12)
    assert (seen[:, 0] < 2).all()
    assert (seen[:, 1] == 0).all()
    assert seen[-1, 0] > 1.3, "up to it"


@pytest.mark.slow
def test_pushes_and_slopes_do_not_lift_onto_a_cliff() -> None:
    stage = runner(cliff(2.0), moves=MOVES)
    stage.places[0, 0] = 1.2
    push_back(stage.state.fight.recoil, 0, (1.0, 0.0), 3.0, 12)
    seen = go(stage, 0.0, 0.0, 30)
    assert (seen[:, 1] == 0).all()
    assert seen[-1, 0] < 1.8
    patches = [
        Patch(area=(-12, -12, 0, 12), tilt=(-1.0, 0.0)),
        Patch(area=(1.5, -12, 12, 12), height=30),
    ]
    ground = shape_ground((24, 24), 0.25, patches)
    stage = runner(ground)
    stage.places[0] = (-4, 0, 0)
    go(stage, 0.0, 0.0, 1)
    stage.places[0, 1] = stage.state.footing.heights[0]
    seen = go(stage, 0.0, 0.0, 240)
    assert seen[:, 0].max() < 1.5
    assert np.abs(stage.state.slides).max() < 0.3, "the cliff takes its speed"


@pytest.mark.slow
@pytest.mark.parametrize(("high", "cell"), [(0.15, 0.25), (0.3, 0.1), (0.39, 0.02)])
@pytest.mark.parametrize("buttons", ["right", "right+R"])
def test_podiums_are_gone_up(high: float, cell: float, buttons: str) -> None:
    patch = Patch(area=(1, -3, 3, 3), height=high)
    stage = walker(shape_ground((6, 6), cell, [patch]))
    deep = 0.0
    for _ in range(100):
        stage.step([buttons])
        deep = max(deep, float(stage.state.footing.heights[0] - stage.places[0, 1]))
    assert stage.places[0, 0] > 1.5
    assert stage.places[0, 1] == pytest.approx(high)
    assert deep <= 0.15 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("buttons", ["right", "right+R"])
def test_stairs_are_gone_up_and_down(buttons: str) -> None:
    x = np.arange(-2, 9, 0.07)
    heights = 0.18 * np.clip(np.floor(x / 0.28), 0, 10)
    ground = make_ground(np.tile(heights, (2, 1)), (-2, -0.035), 0.07)
    stage = walker(ground)
    assert "steps" in dict(stage.state.rules)
    deep = 0.0
    for _ in range(240):
        stage.step([buttons])
        deep = max(deep, float(stage.state.footing.heights[0] - stage.places[0, 1]))
    assert stage.places[0, 1] == pytest.approx(1.8)
    assert deep <= 0.15 + 1e-9
    run(stage, 900, [buttons.replace("right", "left")])
    assert stage.places[0, 1] == pytest.approx(0)


@pytest.mark.slow
def test_who_goes_along_a_cliff_does_not_pass_a_wall() -> None:
    """The way that it wants goes past the end of a wall, and into the cliff."""
    thin = Structure(name="wall", ends=((0, 1.5), (1.62, 1.5)), thickness=0.02)
    own = Actor(name="one", radius=0.05, control="none", opponent="none")
    camera = CameraRule(rule="fixed")
    for structures, is_free in (((), True), ((thin,), False)):
        stage = play(
            StagePlan(
                cast=(own,), ground=cliff(2.0), camera=camera, structures=structures
            )
        )
        stage.places[0] = (1.2, 0, 1.2)
        stage.headings[0] = math.atan2(0.88, 0.47)
        seen = go(stage, 2 * DASH, 0.0, 5)
        assert (seen[:, 1] == 0).all()
        assert (seen[:, 2].max() > 1.5) == is_free


@pytest.mark.slow
def test_low_walls_of_ground_need_a_lower_step() -> None:
    walking = WalkSettings(step=0.1)
    stage = walker(cliff(0.15), walking=walking)
    run(stage, 150, ["right"])
    assert stage.places[0, 0] < 2


# Walls.


@pytest.mark.slow
def test_a_dash_does_not_pass_a_thin_wall() -> None:
    """Also one who went around it, and comes back from behind."""
    wall = Structure(name="wall", ends=((1, -2), (1, 2)), thickness=0.05)
    stage = runner(structures=(wall,))
    assert (go(stage, DASH, 0.0, 10)[:, 0] < 1).all()
    radius = float(stage.state.radii[0])
    assert stage.places[0, 0] == pytest.approx(1 - 0.025 - radius)
    go(stage, 0.0, 3.0, 60)  # along +z
    go(stage, 3.0, 0.0, 60)
    go(stage, 0.0, -3.0, 60)
    assert stage.places[0, 0] > 3
    assert abs(stage.places[0, 2]) < 0.1
    assert (go(stage, -DASH, 0.0, 20)[:, 0] > 1).all()
    assert stage.places[0, 0] == pytest.approx(1 + 0.025 + radius)


@pytest.mark.slow
def test_sliding_into_a_wall_stores_no_speed() -> None:
    """A slope along x pulls against a wall; nothing of it is left for later."""
    ground = make_ground(np.array([[20.0, -20.0]] * 2), (-20, -20), 40)
    zone = Zone(np.array([[-5.0, -5], [1, -5], [1, 5], [-5, 5]]), "in")
    stage = runner(ground, zones=(zone,))
    seen = go(stage, 0.0, 0.0, 180)
    assert seen[30, 0] > 0.3, "it slides"
    assert seen[-1, 0] == pytest.approx(1 - stage.state.radii[0])
    assert np.abs(stage.state.slides).max() < 1e-9


# Who walks, and who is in the way.


@pytest.mark.slow
@pytest.mark.parametrize("button", ["B", "C", "A"])
def test_who_is_in_a_move_does_not_walk(button: str) -> None:
    stage = play(fighters(apart=6.0))
    total = {"B": 40, "C": 58, "A": 18}[button]
    places = []
    for tick in range(total + 20):
        stage.step([button + "+right" if tick == 0 else "right"])
        places.append(stage.places[0, 0])
    assert np.ptp(places[:total]) == 0
    assert places[-1] > places[0] + 0.2
    other = runner(moves=MOVES)
    other.asked[0] = 1.0, 0.0
    for tick in range(40):
        other.step([button if tick == 0 else ""])
        if tick < 18:
            assert other.places[0, 0] == 0, "nor who is told to"
    if button == "A":
        assert other.places[0, 0] > 0.2


@pytest.mark.slow
def test_who_is_in_the_air_does_not_walk() -> None:
    stage = play(fighters(apart=6.0))
    stage.places[0, 1] = 3.0
    start = stage.places[0, 0]
    stage.step(["right"])  # it stood on the ground when this began
    start = stage.places[0, 0]
    for _ in range(100):
        is_up = not stage.state.standing.grounded[0]
        stage.step(["right"])
        if is_up:
            assert stage.places[0, 0] == start
    assert stage.places[0, 0] > start, "and then goes on"
    sheer = np.where(np.arange(300) * 0.02 > 3, -3.0, 0.0)
    told = runner(make_ground(np.tile(sheer, (2, 1)), (-2, -0.01), 0.02))
    seen = go(told, 2.0, 0.0, 90)
    falling = (seen[:-1, 1] < 0) & (seen[:-1, 1] > -3)
    assert falling.sum() > 10
    assert not np.diff(seen[:, 0])[falling].any()


@pytest.mark.slow
def test_who_lies_is_in_nobodys_way() -> None:
    stage = play(fighters(apart=1.5))
    stage.energy[1] = 0
    stage.step()
    before = stage.places[1].copy()
    nearest = math.inf
    run(stage, 60)
    stage.state.controls[0] = 1  # free: it has no opponent to stop at
    for _ in range(150):
        stage.step(["right"])
        nearest = min(nearest, math.dist(stage.places[0], stage.places[1]))
    assert nearest < 0.05
    np.testing.assert_array_equal(stage.places[1], before)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [1.0, 2.5, 4.0])
@pytest.mark.parametrize("speed", [1.1, 3.0, 9.9])
def test_ten_turns_around_an_opponent(speed: float, radius: float) -> None:
    """The distance does not drift, whatever the camera does meanwhile."""
    cast = (
        Actor(name="red", place=(-radius, 0), heading=math.pi / 2),
        Actor(name="blue", control="none", heading=0.0),
    )
    plan = StagePlan(cast=cast, walking=WalkSettings(side=speed))
    stage = play(plan)
    angles, away = [0.0], []
    ticks = math.ceil(10 * 2 * math.pi * radius / speed / DT) + 1
    for _ in range(ticks):
        stage.step(["up"])
        x, _, z = stage.places[0] - stage.places[1]
        away.append(math.hypot(x, z))
        angles.append(math.atan2(z, x))
    turned = np.diff(np.unwrap(angles[1:]))
    assert np.abs(turned).sum() > 10 * 2 * math.pi * 0.99
    if speed / radius < 6:  # faster, the camera comes to be on the other side
        assert (np.sign(turned) == np.sign(turned[0])).all()
    assert max(away) <= 1.01 * radius
    assert min(away) >= 0.99 * radius


# Who has won, and whom one fights.


@pytest.mark.slow
def test_a_lone_one_has_not_won() -> None:
    stage = play(StagePlan(cast=(Actor(name="one"),), moves=MOVES))
    run(stage, 5)
    assert not stage.state.has_won.any()
    assert stage.doing("one") == "stance"
    assert stage.opponents.tolist() == [-1]


def trio() -> Stage:
    """Red fights far, whoever is near."""
    cast = (
        Actor(name="red", opponent="far"),
        Actor(name="blue", place=(1, 0), control="none"),
        Actor(name="far", place=(0, 9), control="none", opponent="red"),
    )
    return play(fighters(cast=cast))


@pytest.mark.slow
def test_who_beats_its_named_opponent_has_won() -> None:
    stage = trio()
    stage.energy[1] = 0
    run(stage, 2)
    assert not stage.state.has_won.any(), "another is none of its business"
    assert stage.opponents.tolist() == [2, 0, 0]
    stage.energy[2] = 0
    run(stage, 2)
    assert stage.state.has_won.tolist() == [True, False, False]
    assert stage.opponents[0] == 2, "it is still its own"
    stage.energy[2] = 10
    run(stage, 2)
    assert not stage.state.has_won.any()


@pytest.mark.slow
def test_one_goes_back_to_its_named_opponent() -> None:
    stage = trio()
    stage.opponents[0] = 1  # for a while
    run(stage, 5)
    assert stage.opponents[0] == 1
    stage.energy[1] = 0
    run(stage, 2)
    assert stage.opponents[0] == 2
    assert not stage.state.has_won[0]


@pytest.mark.slow
def test_the_dead_do_not_win() -> None:
    stage = trio()
    stage.energy[[0, 2]] = 0
    run(stage, 3)
    assert not stage.state.has_won[[0, 2]].any()
    assert [stage.doing(name) for name in ("red", "far")] == ["beaten", "beaten"]
    pair = play(fighters())
    pair.energy[:] = 0
    run(pair, 3)
    assert not pair.state.has_won.any()


# Blows.


@pytest.mark.slow
def test_nothing_is_lifted_of_an_attacker_in_the_air() -> None:
    level, _, _ = strike(0.0, "B", "rightHand")
    ground = shape_ground((10, 10), 0.1)
    stage = play(fighters(1.1, ground=ground))
    stage.places[0, 1] += 40.0
    body = stage.state.bodies[0]
    column = list(body.plan.limbs).index("rightHand")
    seen = []
    for tick in range(62):
        stage.step(["B" if tick == 0 else ""])
        assert not body.lifts.any()
        end = body.world.matrices[0, body.ends[column], :, 3]
        seen.append(end - stage.places[0])
    assert not stage.state.standing.grounded[0]
    np.testing.assert_allclose(np.array(seen)[:40], level[:40], atol=1e-4)


CUT = MoveTable(
    (
        Move("punch", 14, 6, 20, parts=("rightHand",)),
        Move("kick", 20, 8, 30, parts=("rightFoot",)),
    ),
    singles={"B": "punch", "C": "kick"},
    combinations=(Combination("one two", "X", read_commands("B:15 B:15 C:21 B")),),
)


@pytest.mark.slow
def test_a_lift_does_not_snap_where_a_combination_cuts_a_move() -> None:
    seen = []
    for high in (0.0, 0.15):
        patch = Patch(area=(0.1, -5, 5, 5), height=high)
        ground = shape_ground((10, 10), 0.1, [patch])
        stage = play(fighters(1.6, ground=ground, moves=CUT))
        body = stage.state.bodies[0]
        places, moves = [], []
        for tick in range(120):
            stage.step(["X" if tick == 0 else ""])
            places.append(body.world.matrices[0, body.ends, :, 3].copy())
            moves.append(stage.doing("red"))
        assert moves[:52] == ["punch"] * 30 + ["kick"] * 21 + ["punch"]
        seen.append(np.array(places))
    lifts = (seen[1] - seen[0])[..., 1]
    assert lifts.max() > 0.1, "it is lifted"
    assert np.abs(np.diff(lifts, axis=0)).max() < 0.05
    assert np.abs(lifts[-5:]).max() < 1e-3


@pytest.mark.slow
def test_a_second_push_adds_up_and_slow_motion_lasts_its_own_time() -> None:
    """Who recoils from a parry is pushed aside meanwhile: both come to all they are."""
    parry = ParrySettings(amount=0.6, ticks=40)
    stage = play(fighters(fight=FightSettings(parry=parry)))
    start, met, clocks = stage.places[0].copy(), -1, []
    for tick in range(110):
        stage.step({0: ["B", ""], PUNCH_LANDS - 6: ["", "X"]}.get(tick))
        clocks.append(float(stage.state.clocks[0]))
        if stage.state.fight.outcomes[0] == PARRIED:
            met = tick
        if met >= 0 and tick == met + 10:
            push_back(stage.state.fight.recoil, 0, (0.0, 1.0), 0.3, 12)
    assert met > 0
    way = stage.places[0] - start
    np.testing.assert_allclose(way, [-0.6, 0, 0.3], atol=1e-9)
    assert clocks == [0.5 if met <= tick < met + 40 else 1.0 for tick in range(110)]


# Feet, shadows.


@pytest.mark.slow
def test_feet_of_the_beaten_are_left_alone() -> None:
    """They lie as their clip has them, on whatever ground."""
    tilt = Patch(area=(-6, -6, 6, 6), tilt=(0.3, 0.1))
    ground = shape_ground((12, 12), 0.25, [tilt])
    friction = FrictionSettings(still=2, moving=1)
    seen = []
    for own in (play(fighters(ground=ground, friction=friction)), play(fighters())):
        own.energy[1] = 0
        run(own, 60)
        body = own.state.bodies[0]
        seen.append(body.world.matrices[1, :, :, 3] - own.places[1])
        for name in ("l-ankle", "r-ankle"):
            assert np.isfinite(node(own, 1, name)).all()
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-5)


@pytest.mark.slow
def test_shadows_fall_the_way_of_the_light() -> None:
    for x, z in ((0.8, 0.0), (-0.8, 0.0), (0.0, 0.8), (0.5, -0.7)):
        stage = play(fighters(apart=6.0, light=(x, -1.0, z)))
        body = stage.frame.bodies[0]
        assert body.shadow is not None
        assert body.has_shadow.all()
        middle = np.concatenate(body.positions, axis=1)[0].mean(0)
        high = float(middle[1])
        off = body.shadow[0].mean(0) - middle
        np.testing.assert_allclose(off[[0, 2]], [x * high, z * high], atol=0.12)


# The camera.


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["side", "behind"])
def test_the_camera_looks_over_a_hill(rule: Any) -> None:
    patch = Patch(middle=(0, 3.2), radius=0.8, height=2.4, edge=1.2)
    ground = shape_ground((30, 30), 0.25, [patch])
    camera = CameraRule(rule=rule)
    stage = play(fighters(2.0, ground=ground, camera=camera))
    if rule == "behind":
        stage.places[:, [0, 2]] = [[0, 0.5], [0, -1.0]]
        run(stage, 150)
    eyes = []
    for tick in range(240):
        if rule == "side":
            stage.step(["up", "down"] if tick > 60 else None)
        else:
            stage.step()
        eyes.append(stage.state.camera.eye.copy())
        if tick == 30:
            assert clearance(stage, ground) > 0.15
            assert eyes[-1][1] > 3
    heights = np.array(eyes)[:, 1]
    assert np.abs(np.diff(heights)).max() < 0.2, "no jump"
    if rule == "side":
        assert heights[-1] < 2.5, "and comes down beside the hill"


def clearance(stage: Stage, ground: Ground) -> float:
    """Metres that the line from eye to target is above the ground, at its lowest."""
    eye, target = stage.state.camera.eye, stage.state.camera.target
    line = eye + np.linspace(0, 0.9, 100)[:, None] * (target - eye)
    below = init_footing(len(line))
    find_footing(ground, line, FrictionSettings(), out=below)
    return float((line[:, 1] - below.heights).min())


@pytest.mark.slow
def test_level_ground_is_not_looked_at_for_the_camera(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from flexor.stage import step

    level, fixed = play(fighters()), walker(cliff(2.0))
    calls = []
    monkeypatch.setattr(step, "find_footing", lambda *_, **__: calls.append(1))
    step.step_view_point(level.state)
    step.step_view_point(fixed.state)
    assert not calls
    assert level.state.camera.raised == fixed.state.camera.raised == 0


# Structures on uneven ground.


@pytest.mark.slow
def test_structures_stand_on_hills() -> None:
    ground = shape_ground(
        (20, 20), 0.25, [Patch(middle=(5, 0), radius=2, height=3, edge=1)]
    )
    structures = (
        Structure(name="on top", middle=(5, 0), radius=0.5, high=2.0),
        Structure(name="on the slope", middle=(7.5, 0), radius=0.5, high=2.0),
        Structure(name="level", middle=(0, 0), radius=0.5, high=2.0),
        Structure(name="raised", middle=(5, 0.5), radius=0.2, low=1.0, high=2.0),
    )
    stage = play(fighters(ground=ground, structures=structures))
    spans = np.array(stage.painter._structures.spans)
    np.testing.assert_allclose(spans[[0, 2, 3]], [[3, 5], [0, 2], [4, 5]])
    assert spans[1, 1] == pytest.approx(1.5 + 2)
    assert spans[1, 0] == pytest.approx(0, abs=0.01), "down to the foot of the hill"


# Buttons.

LETTERS = {"P": "B", "K": "C"}
FIST = MoveTable(
    (
        Move("punch", 6, 4, 12),
        Move("kick", 10, 5, 18),
        Move("spin", 12, 6, 20, clip="kick"),
    ),
    singles={"B": "punch", "C": "kick"},
    chords={"B+C": "spin"},
    combinations=(Combination("ppk", "X", read_commands("P:12 P:10 K", LETTERS)),),
)


def doing(presses: dict[int, str], ticks: int) -> list[str]:
    """What one does in each tick that presses buttons at some."""
    stage = play(fighters(apart=6.0, moves=FIST))
    return [red for red, _ in run(stage, ticks, {t: [b] for t, b in presses.items()})]


@pytest.mark.slow
def test_a_combination_runs_its_commands() -> None:
    found = doing({0: "X"}, 60)
    assert found == ["punch"] * 22 + ["kick"] * 33 + ["stance"] * 5
    again = doing({0: "X", 5: "C", 15: "B"}, 60)
    assert again == found, "inputs meanwhile are passed over"


@pytest.mark.slow
def test_two_buttons_at_once_are_a_chord() -> None:
    at_once = doing({0: "B+C"}, 50)
    assert at_once.count("spin") == 38
    assert set(at_once) == {"spin", "stance"}
    late = doing({0: "B", 1: "B+C"}, 50)
    assert set(late) == {"spin", "stance"}, "a tick later is at once"
    apart = doing({**dict.fromkeys(range(4), "B"), 4: "B+C"}, 60)
    assert "spin" not in apart, "later it is not"
    assert apart[2:45] == ["punch"] * 10 + ["kick"] * 33


@pytest.mark.slow
def test_a_later_input_follows_if_it_comes_before_the_return() -> None:
    wait = 2  # ticks in which a button may become a chord
    follows = doing({0: "B", 6: "", 8: "C"}, 60)
    first = follows.index("kick")
    assert first == wait + 10, "when its hitting phase is over"
    assert follows[wait:first] == ["punch"] * 10
    assert follows.count("kick") == 33
    too_late = doing({0: "B", wait + 12: "C"}, 60)
    assert "kick" not in too_late
    assert too_late.count("punch") == 22


@pytest.mark.slow
@pytest.mark.parametrize("button", ["Z", "Y", "A", "L"])
def test_buttons_without_a_move_do_nothing(button: str) -> None:
    assert set(doing({0: button, 10: button}, 30)) == {"stance"}
    stage = play(fighters(apart=6.0, moves=FIST))
    run(stage, 30, [button])
    assert stage.places[0].tolist() == [-3, 0, 0]
