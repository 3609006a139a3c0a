"""Effects in the text file of a stage."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from flexor.errors import AssetError
from flexor.files.text.effects import EFFECTS
from flexor.files.text.stage import read_stage
from flexor.scene.stage.effect_settings import (
    STAGE_CHURN,
    STAGE_LEAVES,
    AfterimageSettings,
    ChurnSettings,
    EffectPlan,
    EndlessSettings,
    GustSettings,
    LeafSettings,
    MarkSettings,
    SnowSettings,
    WindSettings,
)

FULL = """
[leaves]
count = 50
area = [4, 5, -4, -5]
lift = 0.2
drag = 0.8
grip = 0.4
weight = 0.003
fastest = 0.007
turn = 0.05
sizes = [0.1, 0.2]
kinds = 4

[snow]
count = 60
falls = false
low = [-3, -4]
high = [3, 4]
top = 5
fall = 0.02
sizes = [0.02, 0.03]
stir = 0.5
drag = 0.9

[churn]
on = false
base = 100
most = 32
ticks = 4
scale = 3
touch = 0.5
jump = 1
gravity = 0.003
life = 20
spread = 0.4
reach = 0.2
plough = 0.05
wet = 2
size = 0.2

[marks]
prints = 5
rings = 2
most = 40

[water]
level = -0.1
rate = 20
near = 5
far = 50
far_step = 4

[wind]
scale = 2
least = 0.1
lowest = -0.5
weakest = 0.2
strongest = 0.9
sideways = 0.5
jump = 1

[gusts]
speed = 0.05
length = 3
heading = 180
sway = 45

[afterimages]
count = 5
every = 2
style = "lines"
strength = 0.4
fastest = 6
"""


def read(tmp_path: Path, text: str) -> EffectPlan:
    path = tmp_path / "stage.toml"
    path.write_text(text)
    return read_stage(path).effects


def test_all_words(tmp_path: Path) -> None:
    assert read(tmp_path, FULL) == EffectPlan(
        leaves=50,
        leaf_area=(-4, -5, 4, 5),
        leaf=LeafSettings(
            lift=0.2,
            drag=0.8,
            grip=0.4,
            weight=0.003,
            fastest=0.007,
            turn=0.05,
            sizes=(0.1, 0.2),
            kinds=4,
        ),
        snow=60,
        is_snowing=False,
        flake=SnowSettings(
            low=(-3, -4),
            high=(3, 4),
            top=5,
            fall=0.02,
            sizes=(0.02, 0.03),
            stir=0.5,
            drag=0.9,
        ),
        churn=False,
        drops=ChurnSettings(
            base=100,
            most=32,
            ticks=4,
            scale=3,
            touch=0.5,
            jump=1,
            gravity=0.003,
            life=20,
            size=0.2,
            spread=0.4,
            reach=0.2,
            plough=0.05,
            wet=2,
            parts=STAGE_CHURN.parts,
        ),
        marks=MarkSettings(prints=5, rings=2, most=40),
        water=-0.1,
        ripples=EndlessSettings(rate=20, near=5, far=50, far_step=4),
        wind=WindSettings(
            scale=2,
            least=0.1,
            lowest=-0.5,
            weakest=0.2,
            strongest=0.9,
            sideways=0.5,
            jump=1,
        ),
        gusts=GustSettings(speed=0.05, length=3, heading=math.pi, sway=math.pi / 4),
        afterimages=AfterimageSettings(
            count=5, every=2, style="lines", strength=0.4, fastest=6
        ),
    )


def test_the_example_has_every_word() -> None:
    import tomllib

    given = tomllib.loads(FULL)
    assert given.keys() == EFFECTS.keys()
    for word, (_, _, known, more) in EFFECTS.items():
        assert given[word].keys() == {*known, *more}


def test_what_is_left_out_is_as_usual(tmp_path: Path) -> None:
    assert read(tmp_path, "") == EffectPlan()
    some = read(tmp_path, "[leaves]\ncount = 9\ndrag = 0.5")
    assert some.leaf == replace(STAGE_LEAVES, drag=0.5)
    assert some.leaves == 9


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("[leaves]\ncount = -1", 2, "leaves.count: -1, expected 0 to 1e"),
        ("[leaves]\ncount = 1.5", 2, "leaves.count: 1.5, expected a whole number"),
        ("[leaves]\narea = [1, 2]", 2, "leaves.area: .*expected four numbers"),
        ("[leaves]\nlift = 0", 2, "leaves.lift: 0.*expected above 0"),
        ("[leaves]\nlitf = 1", 2, "leaves.litf: not known; .*lift"),
        ("[snow]\nlow = [5, 5]\nhigh = [4, 6]", 3, "snow.high: .*expected above low"),
        ("[snow]\nfalls = 1", 2, "snow.falls: 1, expected true or false"),
        ("[churn]\nbase = -2", 2, "churn.base: -2.*expected 0 to"),
        ("[water]\nlevel = nan", 2, "water.level: nan, expected -1000 to 1000"),
        ("[water]\nfar_step = 0", 2, "water.far_step: 0, expected 1 to"),
        ("[gusts]\nspeed = 9", 2, "gusts.speed: 9.0, expected 0 to 1"),
        ("[wind]\nweakest = 2", 1, "wind.*expected at least weakest, 2"),
        ("[afterimages]\nstyle = 'dots'", 2, "afterimages.style: 'dots', expected one"),
        ("[afterimages]\ncount = 0", 2, "afterimages.count: 0, expected 1 to 64"),
        ("[leavs]\ncount = 1", 1, "leavs: not known"),
    ],
)
def test_faults_are_told_by_line(
    tmp_path: Path, text: str, line: int, fault: str
) -> None:
    with pytest.raises(AssetError, match=rf"line {line}.*{fault}"):
        read(tmp_path, text)
