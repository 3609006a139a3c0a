"""Stages as programs hold them: what they are made of, what is put in and refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.stage import Stage
from flexor.errors import AssetError, FlexorError, SettingError, ShapeError
from flexor.files.text.stage import read_stage
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import (
    Actor,
    CameraRule,
    StagePlan,
)
from flexor.scene.stage.structure import Structure
from tests.api.stage_play import (
    DT,
    MOVES,
    RING,
    busy,
    fighters,
    hashed_pair,
    hero,
    play,
    run,
)
from tests.gltf_builder import mini, write_glb


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
        ("energy", math.nan, "energy: nan of character 0, expected numbers"),
        ("energy", math.inf, "energy: inf of character 0"),
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
    assert stage.doing(-1) == stage.doing("blue") == stage.doing(np.int32(1))
    for who in (2, -3):
        with pytest.raises(SettingError, match=f"who: {who}, expected less than 2"):
            stage.doing(who)
    for what in (1.0, None, [0], np.array([1, 2])):
        with pytest.raises(SettingError, match=r"who: .*, expected str or Integral"):
            stage.doing(what)  # type: ignore[arg-type]
        with pytest.raises(SettingError, match=r"name: .*, expected str"):
            stage.row(what)  # type: ignore[arg-type]
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
        (
            {"walk": "stroll"},
            (),
            "character 1.clips.walk: 'red' has no 'stroll'; there",
        ),
        ({"wlak": "walk"}, (), "no role 'wlak'; there are: .*walk"),
        (
            {},
            (Move("bow", 1, 1, 1),),
            "move.bow.clip: 'red' has no 'bow' for the move; ",
        ),
        ({"bow": "cheers"}, (Move("bow", 1, 1, 1),), "no 'cheers'; there are: 'cheer'"),
        (
            {},
            (Move("punch", 1, 1, 1),),
            "move.punch.parts: an attack without any hits nothing, expected the parts",
        ),
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
    with pytest.raises(FlexorError, match=r"line 9.*walk: 'blue' has no 'stroll'"):
        flexor.Stage(path)


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


@pytest.mark.slow
def test_two_in_a_zone_that_holds_one_are_refused(tmp_path: Path) -> None:
    """With the line of the second one's place; one alone may be there."""
    text = (
        "[[zone]]\ncorners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]\n"
        "[[character]]\nname = 'red'\nplace = [-0.2, 0]\n"
    )
    other = "[[character]]\nname = 'blue'\nplace = [0.2, 0]\n"
    file = tmp_path / "small.toml"
    file.write_text(text, "utf-8")
    assert len(Stage(file)) == 1
    file.write_text(text + other, "utf-8")
    with pytest.raises(AssetError, match="'blue' has no room beside 'red'") as caught:
        Stage(file)
    assert caught.value.pointer == "line 8"
    with pytest.raises(SettingError, match=r"character 2.place: 'blue' has no room"):
        Stage(read_stage(file))
    file.write_text((text + other).replace("0.5", "1.5"), "utf-8")
    assert len(Stage(file)) == 2


MISSING = """
[move.punch]
parts = ["rightHand"]
clip = "jab"
start = 1
hit = 1
back = 1

[[character]]
name = "red"

[character.clips]
jab = "punch"
walk = "run"

[[character]]
name = "blue"
clips = { jab = "kick" }
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "line", "text"),
    [
        (
            ('jab = "punch"\n', ""),
            4,
            "move.punch.clip: 'red' has no 'jab' for the move",
        ),
        (('"run"', '"stroll"'), 14, "character 1.clips.walk: 'red' has no 'stroll'"),
        (('"kick"', '"kik"'), 18, "character 2.clips.jab: 'blue' has no 'kik'; there"),
    ],
)
def test_a_missing_clip_is_told_where_it_is_named(
    tmp_path: Path, change: tuple[str, str], line: int, text: str
) -> None:
    """Not where its character begins; in the file of moves, if it is from there."""
    file = tmp_path / "stage.toml"
    file.write_text(MISSING, "utf-8")
    assert len(Stage(file)) == 2
    words = MISSING.replace(*change)
    file.write_text(words, "utf-8")
    with pytest.raises(AssetError) as caught:
        Stage(file)
    assert text in str(caught.value)
    assert caught.value.pointer == f"line {line}"
    moves, mark, cast = words.partition("[[character]]")
    file.write_text("moves = 'moves.toml'\n" + mark + cast, "utf-8")
    (tmp_path / "moves.toml").write_text(moves, "utf-8")
    with pytest.raises(AssetError) as caught:
        Stage(file)
    assert caught.value.path.name == ("moves.toml" if line == 4 else "stage.toml")
