"""Texts about stages: what they say."""

from __future__ import annotations

import inspect
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import AssetError
from flexor.files.text import moves as moves_read
from flexor.files.text import stage as stage_read
from flexor.files.text.effects import EFFECTS
from flexor.files.text.parts import cast as cast_part
from flexor.files.text.parts import ground as ground_part
from flexor.files.text.parts import structures as structures_part
from flexor.files.text.parts import zones as zones_part
from flexor.files.text.stage import read_stage
from flexor.maths.colour import linear_from_srgb
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.layout import SURFACES
from flexor.scene.stage.moves import Move
from flexor.scene.stage.plan import (
    Actor,
    CameraRule,
    StageLook,
    StagePlan,
    WalkSettings,
)
from flexor.scene.stage.settings import (
    FightSettings,
    FrictionSettings,
    MoveSettings,
    ParrySettings,
    ViewSettings,
)
from flexor.scene.stage.structure import Structure
from tests.files.text.stage_text import FULL, write


def linear(*levels: int) -> tuple[float, ...]:
    return tuple(linear_from_srgb(levels).tolist())


def test_all_that_a_stage_can_say(tmp_path: Path) -> None:
    plan = read_stage(str(write(tmp_path, FULL)))
    assert plan.seed == 7
    assert plan.light == (0.4, -1.0, -0.5)
    patches = (
        Patch(middle=(3, 2), radius=2.5, height=0.3, edge=1, surface="sand"),
        Patch(area=(-9, -7, -5, -4), rise=0.5, tilt=(0.1, 0)),
    )
    ground = shape_ground((24, 18), 0.5, patches, rough=0.03, seed=7)
    assert (plan.ground.heights == ground.heights).all()
    assert (plan.ground.surfaces == ground.surfaces).all()
    assert (plan.ground.surfaces == SURFACES.index("sand")).any()
    assert [(zone.name, zone.keeps) for zone in plan.zones] == [
        ("ring", "in"),
        ("", "out"),
    ]
    assert plan.zones[0].corners.tolist() == [[-8, -6], [8, -6], [8, 6], [-8, 6]]
    pillar: Any = {"middle": (2, 1), "radius": 0.4, "low": 0.5, "high": 3}
    pillar |= {"mode": "fade", "solid": False, "colour": linear(0x8A, 0x83, 0x78)}
    assert plan.structures[:2] == (
        Structure(name="pillar", **pillar),
        Structure(name="wall", ends=((-4, -5), (4, -5)), thickness=0.3),
    )
    assert plan.structures[2].middle == pytest.approx((6, 4))
    assert plan.structures[2].radius == pytest.approx(math.sqrt(2))
    assert plan.structures[3].radius == pytest.approx(1, rel=1e-3)
    red: Any = {"place": (-1.5, 0), "heading": math.pi / 2, "opponent": "blue"}
    red["team"] = "reds"
    red |= {"colour": linear(0xD0, 0x50, 0x40), "control": "free"}
    red |= {"clips": {"walk": "Walking_A", "Punch": "Jab"}, "speeds": {"walk": 1.2}}
    blue = str(tmp_path / "people" / "blue.glb")
    assert plan.cast == (
        Actor(name="red", **red),
        Actor(
            name="blue",
            file=blue,
            colour=(0.2, 0.3, 0.8),
            radius=0.35,
            player=2,
            skill="low",
        ),
    )
    assert plan.moves.moves == (Move("punch", 6, 3, 12, "Punch", parts=("rightHand",)),)
    assert plan.moves.singles == {"B": "punch"}
    assert plan.moves.combinations[0].name == "rush"


def test_all_settings_of_a_stage(tmp_path: Path) -> None:
    plan = read_stage(write(tmp_path, FULL))
    assert plan.camera == CameraRule(
        rule="behind",
        eye=(1, 2, 3),
        of="red",
        distance=5,
        frame="pair",
        height=1.5,
        ease=0.5,
        fov=math.radians(50),
    )
    assert plan.walking == WalkSettings(
        walk=1, run=3, back=0.9, side=0.8, turn=2 * math.pi, climb=1.5, step=0.3
    )
    assert plan.friction == FrictionSettings(
        still=0.3,
        moving=0.2,
        factors=(1, 2, 4),
        paces=(1, 0.7, 0.5),
        gravity=9.8,
        push=20,
        effort=0.1,
        brake=2,
        uphill=0.5,
    )
    assert plan.fight == FightSettings(
        energy=120,
        stun=17,
        guard_stun=7,
        guard_share=0.2,
        push_ticks=11,
        friendly=True,
        nearest_ticks=40,
        nearest_share=0.5,
        lie_ticks=30,
        rise_after=8,
        break_ticks=9,
        miss_ticks=30,
        parry=ParrySettings(
            amount=0.7,
            ticks=30,
            speed=0.4,
            angle=math.radians(60),
            reach=0.05,
            rest=5,
            trunk=math.radians(10),
            head=math.radians(20),
            arms=math.radians(30),
            step=0.8,
        ),
    )
    assert plan.pads == MoveSettings(chord_ticks=3, late_ticks=4, repeats=True)
    assert plan.view == ViewSettings(fade=0.5, margin=0.2, keep=0.3)
    assert plan.look == StageLook(
        style="bones",
        smooth=("head", "chest"),
        order="sort",
        background=(16, 32, 48),
        plain="stone",
        shadows=False,
        feet=False,
        zones=False,
        backdrop="city",
    )


def test_a_backdrop_may_be_a_picture_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "far.png").write_bytes(b"looked at when it is drawn")
    file = write(tmp_path, "[look]\nbackdrop = 'far.png'\n")
    assert read_stage(file).look.backdrop == str(tmp_path / "far.png")


def test_the_full_example_has_every_word() -> None:
    given = tomllib.loads(FULL)
    # Effects have tests of their own.
    assert given.keys() == stage_read.TOP.keys() - {"moves"} - EFFECTS.keys()
    assert given["ground"].keys() == ground_part.GROUND.keys()
    for known, tables in (
        (ground_part.PATCH, given["ground"]["patch"]),
        (zones_part.ZONE, given["zone"]),
        (structures_part.STRUCTURE, given["structure"]),
        (cast_part.CHARACTER, given["character"]),
        *((words, [given[name]]) for name, (_, words) in stage_read.SETTINGS.items()),
    ):
        # Files of moves of characters' own have a test beside this one.
        there = {word for table in tables for word in table}
        assert known.keys() - {"moves"} == there


def doc_example(module: Any, end: str) -> str:
    words = inspect.getdoc(module) or ""
    return inspect.cleandoc(words.split("\n\n", 1)[1].partition(end)[0])


def test_the_example_of_the_module(tmp_path: Path) -> None:
    for name in ("moves.toml", "blue moves.toml"):
        write(tmp_path, doc_example(moves_read, "\n\nButtons are"), name)
    plan = read_stage(write(tmp_path, doc_example(stage_read, "\n\nEach of [")))
    assert [actor.name for actor in plan.cast] == ["red", "blue"]
    assert [one.name for one in plan.structures] == ["pillar", "wall", "hut"]
    assert len(plan.moves.moves) == 4
    assert plan.look.background == StageLook().background


def test_what_is_left_out(tmp_path: Path) -> None:
    plan, usual = read_stage(write(tmp_path, "")), StagePlan()
    for name in StagePlan.__slots__:
        if name != "ground":  # which is another, of the same kind
            assert getattr(plan, name) == getattr(usual, name), name
    assert (plan.ground.heights == usual.ground.heights).all()
    only = read_stage(write(tmp_path, "[parry]\nticks = 9"))
    assert only.fight == FightSettings(parry=ParrySettings(ticks=9))
    rough = "[ground]\nrough = 0.1\nsize = [4, 4]"
    one = read_stage(write(tmp_path, f"seed = 1\n{rough}")).ground
    two = read_stage(write(tmp_path, f"seed = 2\n{rough}")).ground
    assert (one.heights != two.heights).any()


def test_files_are_named_from_the_folder_of_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    move = "[move.a]\nkind = 'other'\nstart = 1\nhit = 1\nback = 1"
    write(tmp_path, move, "moves.toml")
    names = ("mannequin", "./mannequin", "../a.glb", "/far/b.glb")
    text = "moves = '../moves.toml'\n"
    text += "".join(
        f"[[character]]\nname = 'n{row}'\nfile = '{name}'\n"
        for row, name in enumerate(names)
    )
    write(inner, text)
    monkeypatch.chdir(inner)
    plan = read_stage("stage.toml")
    assert [actor.file for actor in plan.cast] == [
        "mannequin",
        str(inner / "mannequin"),
        str(inner / "../a.glb"),
        "/far/b.glb",
    ]
    assert plan.moves.moves[0].name == "a"


BITS = [
    *("[", "]", "{", "}", "=", '"', "'", "#", ".", ",", "\n", "-", "0", "1e400", "nan"),
    *("inf", "true", '"x"', "[]", "{}", "[[1, 2]]", "99999999999999999999", "0xf", "a"),
    *("\x00", "\x7f", "\u2028", "seed = 1\n", "[camera]\n", "[[zone]]\n", "1979-05-27"),
]


@settings(max_examples=300)
@given(st.data())
def test_any_change_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = FULL
    for _ in range(data.draw(st.integers(1, 3))):
        how = data.draw(st.sampled_from(["put", "cut", "value", "swap", "twice"]))
        at = data.draw(st.integers(0, len(text)))
        if how == "put":
            text = text[:at] + data.draw(st.sampled_from(BITS)) + text[at:]
        elif how == "cut":
            text = text[:at] + text[at + data.draw(st.integers(1, 12)) :]
        else:
            lines = text.split("\n")
            row = data.draw(st.integers(0, len(lines) - 1))
            other = data.draw(st.integers(0, len(lines) - 1))
            if how == "value":
                key, equals, _ = lines[row].partition("=")
                lines[row] = key + equals + data.draw(st.sampled_from(BITS))
            elif how == "swap":
                lines[row], lines[other] = lines[other], lines[row]
            else:
                lines.insert(other, lines[row])
            text = "\n".join(lines)
    file = write(Path(tmp_path_factory.mktemp("stage")), text)
    try:
        plan = read_stage(file)
    except AssetError:
        return
    assert isinstance(plan, StagePlan)
