"""What is seen of a stage on hills: feet, shadows, camera, structures; its moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.stage import Stage
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Combination, Move, MoveTable, read_commands
from flexor.scene.stage.plan import CameraRule
from flexor.scene.stage.settings import FrictionSettings
from flexor.scene.stage.structure import Structure
from flexor.stage.movement.ground import find_footing, init_footing
from tests.api.stage_play import (
    fighters,
    node,
    play,
    run,
    walker,
)
from tests.api.stage_runs import cliff

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
        Move("punch", 6, 4, 12, parts=("rightHand",)),
        Move("kick", 10, 5, 18, parts=("rightFoot",)),
        Move("spin", 12, 6, 20, clip="kick", parts=("rightFoot",)),
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
