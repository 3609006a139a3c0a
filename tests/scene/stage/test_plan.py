"""Plans of stages: what they hold and what they refuse."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.scene.stage import plan as stage_plan
from flexor.scene.stage.ground import flat_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import (
    Actor,
    CameraRule,
    StageLook,
    StagePlan,
    WalkSettings,
)
from flexor.scene.stage.settings import FrictionSettings
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone

RED, BLUE = Actor(name="red", opponent="blue"), Actor(name="blue", opponent="none")
PILLAR = Structure(name="pillar", middle=(0, 0), radius=1)
RING = Zone(np.array([[0.0, 0], [1, 0], [0, 1]]))


def test_a_plan_of_nothing() -> None:
    plan = StagePlan()
    assert (*plan.cast, *plan.zones, *plan.structures) == ()
    assert plan.moves == MoveTable(())
    assert plan.ground.heights.shape == (2, 2)
    assert plan.camera == CameraRule()


def test_a_plan_of_all() -> None:
    moves = MoveTable((Move("punch", 1, 1, 1),))
    plan = StagePlan(
        cast=[RED, BLUE],  # type: ignore[arg-type]
        ground=flat_ground(9),
        zones=[RING],  # type: ignore[arg-type]
        structures=[PILLAR],  # type: ignore[arg-type]
        moves=moves,
        camera=CameraRule(of="blue"),
        light=np.array([0, -1, 0]),  # type: ignore[arg-type]
        seed=np.int64(3),  # type: ignore[arg-type]
    )
    assert plan.cast == (RED, BLUE)
    assert plan.zones == (RING,)
    assert plan.structures == (PILLAR,)
    assert plan.light == (0, -1, 0)
    assert type(plan.seed) is int
    assert plan.row("blue") == 1
    with pytest.raises(SettingError, match="nobody is called 'bleu'; there are: blue"):
        plan.row("bleu")
    with pytest.raises(SettingError, match="there are: nobody"):
        StagePlan().row("red")


def test_plans_cross_borders_of_processes() -> None:
    own = Actor(name="a", clips={"walk": "Walk"}, place=(1, 2), radius=0.3)
    for again in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own)):
        assert again == own
        assert again.clips == {"walk": "Walk"}
    plan = pickle.loads(pickle.dumps(StagePlan(cast=(own,), seed=5)))
    assert plan.cast == (own,)
    assert plan.seed == 5


def test_an_actor_keeps_its_own_clips() -> None:
    clips = {"walk": "Walk"}
    own = Actor(name="a", clips=clips)
    clips["walk"] = "Run"
    assert own.clips["walk"] == "Walk"
    with pytest.raises(TypeError):
        own.clips["walk"] = "Run"  # type: ignore[index]


def test_numbers_are_floats() -> None:
    own = Actor(name="a", place=np.array([1, 2]), radius=1)  # type: ignore[arg-type]
    assert type(own.place[0]) is type(own.radius) is float
    look = StageLook(background=np.array([1, 2, 3]), smooth=["a"])  # type: ignore[arg-type]
    assert look.background == (1, 2, 3)
    assert type(look.background[0]) is int
    assert look.smooth == ("a",)
    assert StageLook(smooth=()).smooth == ()


FAULTS: list[tuple[Any, dict[str, Any], str]] = [
    (Actor, {"name": ""}, "name: '', expected one of its own, of 1 to 100 letters"),
    (Actor, {"name": "nearest"}, "name: 'nearest', expected one of its own"),
    (Actor, {"name": "none"}, "name: 'none', expected one of its own"),
    (Actor, {"name": "a\nb"}, "name: .*, expected one of its own"),
    (Actor, {"name": "a" * 101}, "name: .*, expected one of its own"),
    (Actor, {"name": 3}, "name: int, expected str"),
    (Actor, {"file": ""}, "file: '', expected the name of a file, or mannequin"),
    (Actor, {"file": "a\0"}, "file: .*, expected the name of a file"),
    (Actor, {"file": 3}, "file: int, expected str"),
    (Actor, {"opponent": None}, "opponent: NoneType, expected str"),
    (Actor, {"opponent": "a"}, "opponent: 'a', expected another's name"),
    (Actor, {"place": 3}, "place: 3, expected x and z in metres"),
    (Actor, {"place": (1, 2, 3)}, "place: .*, expected x and z in metres"),
    (Actor, {"place": (1, math.nan)}, "place: nan, expected -100000 to 100000"),
    (Actor, {"heading": math.inf}, "heading: inf, expected"),
    (Actor, {"heading": True}, "heading: True, expected"),
    (Actor, {"control": np.zeros(2)}, "control: .*, expected one of opponent"),
    (Actor, {"skill": np.zeros(2)}, "skill: .*, expected one of low"),
    (Actor, {"player": np.zeros(2)}, "player: .*, expected 1, 2 or 'computer'"),
    (Actor, {"colour": "red!"}, "colour: 'red!', expected three numbers"),
    (Actor, {"colour": (1, 1, -1)}, "colour: -1, expected 0 to 10"),
    (Actor, {"radius": 0}, "radius: 0, expected 0.01 to 100"),
    (Actor, {"control": "me"}, "control: 'me', expected one of opponent, free, none"),
    (Actor, {"clips": []}, "clips: list, expected Mapping"),
    (Actor, {"clips": {"walk": 3}}, "clips: 'walk': 3, expected names"),
    (Actor, {"clips": {3: "walk"}}, "clips: 3: 'walk', expected names"),
    (WalkSettings, {"walk": -1}, "walk: -1, expected 0 to 100"),
    (FrictionSettings, {"push": -1}, "push: -1, expected 0 to 1e"),
    (FrictionSettings, {"effort": 11}, "effort: 11, expected 0 to 10"),
    (FrictionSettings, {"brake": math.inf}, "brake: inf, expected 0 to 1000"),
    (FrictionSettings, {"uphill": math.nan}, "uphill: nan, expected 0 to 100"),
    (WalkSettings, {"turn": math.nan}, "turn: nan, expected 0 to 100"),
    (CameraRule, {"rule": "top"}, "rule: 'top', expected one of fixed, side, behind"),
    (CameraRule, {"of": 3}, "of: int, expected str"),
    (CameraRule, {"eye": (1, 2)}, "eye: .*, expected three finite numbers"),
    (CameraRule, {"eye": (1, 2, 1e300)}, "eye: .*, expected numbers up to 100000"),
    (CameraRule, {"eye": (1, 2, 10**400)}, "eye: .*, expected"),
    (CameraRule, {"target": (0, math.nan, 0)}, "target: .*, expected three finite"),
    (CameraRule, {"eye": (0, 1, 0)}, "eye: .*, expected another place than target"),
    (CameraRule, {"distance": 0}, "distance: 0, expected 0.1 to 1000"),
    (CameraRule, {"height": 1e9}, "height: 1000000000.0, expected"),
    (CameraRule, {"ease": -1}, "ease: -1, expected 0 to 60"),
    (CameraRule, {"fov": 4}, "fov: 4, expected 0.01 to 3"),
    (StageLook, {"style": 3}, "style: int, expected str"),
    (StageLook, {"order": "z"}, "order: 'z', expected one of depth, sort"),
    (StageLook, {"plain": "mud"}, "plain: 'mud', expected one of grass, stone"),
    (StageLook, {"shadows": 1}, "shadows: int, expected bool"),
    (StageLook, {"feet": None}, "feet: NoneType, expected bool"),
    (StageLook, {"smooth": "head"}, "smooth: 'head', expected several names"),
    (StageLook, {"smooth": 3}, "smooth: 3, expected several names"),
    (StageLook, {"smooth": [3]}, "smooth: .*, expected several names"),
    (StageLook, {"background": 3}, "background: 3, expected three whole numbers"),
    (StageLook, {"background": (0, 0, 256)}, "background: .*, expected three whole"),
    (StageLook, {"background": (0.2, 0.2, 0.2)}, "background: .*, expected three"),
    (StageLook, {"background": "123"}, "background: '123', expected three whole"),
    (StageLook, {"background": (0, 0, math.inf)}, "background: .*, expected three"),
    (StagePlan, {"cast": 3}, r"cast\[0\]: NoneType, expected Actor"),
    (StagePlan, {"cast": [RED, 3]}, r"cast\[1\]: int, expected Actor"),
    (StagePlan, {"zones": [PILLAR]}, r"zones\[0\]: Structure, expected Zone"),
    (StagePlan, {"structures": [RING]}, r"structures\[0\]: Zone, expected Structure"),
    (StagePlan, {"ground": 3}, "ground: int, expected Ground"),
    (StagePlan, {"moves": ()}, "moves: tuple, expected MoveTable"),
    (StagePlan, {"camera": None}, "camera: NoneType, expected CameraRule"),
    (StagePlan, {"seed": -1}, "seed: -1, expected a whole number from 0"),
    (StagePlan, {"seed": 2**63}, "seed: .*, expected a whole number from 0"),
    (StagePlan, {"seed": 1.0}, "seed: 1.0, expected a whole number from 0"),
    (StagePlan, {"seed": True}, "seed: True, expected a whole number from 0"),
    (StagePlan, {"light": (0, 0, 0)}, "light: .*, expected the way it travels"),
    (StagePlan, {"light": (0, 0, 1e-300)}, "light: .*, expected the way it travels"),
    (StagePlan, {"light": (0, 0, 1e300)}, "light: .*, expected numbers up to 1e.06"),
    (StagePlan, {"light": "down"}, "light: 'down', expected three finite numbers"),
    (StagePlan, {"cast": (BLUE, BLUE)}, "cast: two called 'blue', expected one"),
    (
        StagePlan,
        {"cast": (RED, Actor(name="blau"))},
        "opponent: 'blue' of 'red', expected nearest, none or one of: blau",
    ),
    (StagePlan, {"cast": (RED,)}, "opponent: .*, none or one of: nobody"),
    (
        StagePlan,
        {"cast": (BLUE,), "camera": CameraRule(of="red")},
        "of: 'red', expected one of: blue",
    ),
]


@pytest.mark.parametrize(("kind", "words", "fault"), FAULTS)
def test_faults(kind: Any, words: dict[str, Any], fault: str) -> None:
    if kind is Actor:
        words = {"name": "a"} | words
    with pytest.raises(SettingError, match=fault):
        kind(**words)


def test_more_than_a_plan_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    own = (PILLAR,) * (stage_plan.MOST_STRUCTURES + 1)
    with pytest.raises(SettingError, match="structures: 10001, expected 10,000 or"):
        StagePlan(structures=own)
    with pytest.raises(SettingError, match="zones: 10001, expected 10,000 or less"):
        StagePlan(zones=(RING,) * (stage_plan.MOST_ZONES + 1))
    with pytest.raises(SettingError, match="cast: 10001, expected 10,000 or less"):
        StagePlan(cast=(BLUE,) * (stage_plan.MOST_ACTORS + 1))


def test_faults_of_many_are_short() -> None:
    cast = [Actor(name=f"a{row}", opponent="a0") for row in range(1, 3000)]
    with pytest.raises(SettingError, match="opponent: 'a0' of 'a1'") as caught:
        StagePlan(cast=tuple(cast))
    assert len(str(caught.value)) < 200
    assert str(caught.value).endswith(", ...")
