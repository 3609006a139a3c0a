"""Knock-downs, collapses and getting up on a stage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.scene.stage.layout import RISE_BACK
from flexor.stage.attack import solid_parts
from flexor.stage.movement.layout import (
    LYING,
    RISING,
)
from tests.api.throwing import (
    fight,
    hero,
    run,
    walker,
)


@pytest.mark.slow
def test_who_is_struck_down_is_in_nobodys_way_gets_up_and_kicks() -> None:
    stage = fight()
    done = run(stage, 90, {0: ["Z", ""]})
    blue = [one for _, one in done]
    assert blue.index("down back") < blue.index("lie back")
    assert stage.energy[1] == 90
    hit = run(stage, 40, {0: ["B", ""]})
    assert stage.energy[1] == 90, "ordinary moves pass over it"
    assert all(one == "lie back" for _, one in hit[:10])
    stage.places[0] = stage.places[1]
    stage.step()
    assert (stage.places[0] == stage.places[1]).all(), "one may stand where it lies"
    stage.places[0] -= (1.5, 0, 0)
    done = run(stage, 110, {0: ["", "Z"]})
    blue = [one for _, one in done]
    assert "rise back" in blue
    after = blue[blue.index("rise back") :]
    assert next(one for one in after if one != "rise back") == "trip", "at once"


@pytest.mark.slow
def test_from_behind_one_falls_on_its_front() -> None:
    stage = fight(0.75)
    for tick in range(60):
        stage.headings[1] = math.pi / 2
        stage.step(["Z" if tick == 0 else "", ""])
    assert stage.doing("blue") == "down front"


@pytest.mark.slow
def test_who_has_no_clips_for_it_still_plays() -> None:
    stage = fight(who=walker())
    done = run(stage, 100, {0: ["Z", ""]})
    assert {one for _, one in done} == {"stance", "hit"}
    done = run(stage, 120, {0: ["C", ""]})
    assert stage.energy[1] < 90, "a throw hits it where it stands"
    assert np.isfinite(stage.places).all()
    stage.energy[1] = 3
    stage.places[:, 0] = -0.4, 0.4
    run(stage, 100, {0: ["B", ""]})
    assert stage.doing("blue") == "beaten back"


@pytest.mark.slow
def test_who_gets_up_comes_to_be_in_the_way_bit_by_bit() -> None:
    stage = fight(3.0)
    state = stage.state
    state.fight.falls.phase[1] = RISING
    span = state.fall_table.spans[0, RISE_BACK]
    state.upright[1] = False
    for share in (0.0, 0.25, 1.0):
        state.fight.falls.at[1] = share * span
        radii, is_solid = solid_parts(state)
        assert is_solid.tolist() == [True, True]
        assert radii.tolist() == [state.radii[0], share * state.radii[1]]
    state.fight.falls.phase[1] = LYING
    assert solid_parts(state)[1].tolist() == [True, False]


@pytest.mark.slow
def test_who_has_a_collapse_to_one_side_has_it_mirrored_to_the_other() -> None:
    assert "collapse-right" not in hero().clips
    roles = fight().state.bodies[0].plan.roles
    assert roles["beaten left"].clip == "collapse-left (on the spot)"
    assert "mirrored" in roles["beaten right"].clip
