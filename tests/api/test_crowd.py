"""The face of crowds: files and characters in, arrays and pictures out."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.crowd import Crowd
from flexor.api.load_save import save
from flexor.draw.scene.style import DrawStyle
from flexor.errors import SettingError, ShapeError
from flexor.pose.clips.root_motion import steady_motion
from tests.level_bodies import make_hand_levels
from tests.pose.crowd.test_node_motion import chain

CAMERA = flexor.Camera(eye=(0, 4, 24), target=(0, 2, 0))
SIZE = (160, 90)


def levelled(joints: int = 12) -> Character:
    """A chain with three levels, made by hand."""
    scene = chain(joints, side=1.0)
    levels = make_hand_levels(scene, [(0, 3), (0,)], [0.5, 0.25], [0.05, 0.15])
    return Character(scene).with_levels(levels)


def test_a_picture_shows_those_in_view() -> None:
    crowd = Crowd(levelled(), 5)
    crowd.place[:, 0] = np.arange(5) * 2 - 4
    crowd.place[4, 2] = 100
    crowd.play("bend", time=np.linspace(0, 0.3, 5))
    picture = crowd.draw(CAMERA, SIZE, DrawStyle(samples=1, shadow=False))
    assert picture.shape == (90, 160, 4)
    assert crowd.level[4] == -1
    assert (crowd.level[:4] >= 0).all()
    paper = picture[0, 0]
    drawn = (picture != paper).any(2)
    columns = CAMERA.project(crowd.place[:4] + np.array([0, 2, 0]), SIZE)[:, 0]
    for column in columns.astype(int).tolist():
        assert drawn[:, column - 3 : column + 4].any()


def test_colours_multiply() -> None:
    crowd = Crowd(levelled(), 1)
    style = DrawStyle(style="unlit", samples=1)
    plain = crowd.draw(CAMERA, SIZE, style).copy()
    crowd.colour[:] = 0, 0, 0, 1
    black = crowd.draw(CAMERA, SIZE, style)
    drawn = (plain != plain[0, 0]).any(2)
    assert drawn.any()
    assert (black[drawn][:, :3] < plain[drawn][:, :3]).all()
    assert (black[~drawn] == plain[~drawn]).all()


def test_the_ground_and_shadows_are_drawn_when_asked_for() -> None:
    crowd = Crowd(levelled(), 2)
    crowd.place[:, 0] = -3, 3
    bare = crowd.draw(CAMERA, SIZE, DrawStyle(samples=1, shadow=False)).copy()
    shaded = crowd.draw(CAMERA, SIZE, DrawStyle(samples=1)).copy()
    field = crowd.draw(CAMERA, SIZE, DrawStyle(samples=1, ground=True)).copy()
    changed = (bare != shaded).any(2)
    assert 3 < changed.sum() < 2000
    darker = shaded[changed].astype(int).sum(1) < bare[changed].astype(int).sum(1)
    assert darker.all()
    rows, columns = np.nonzero(changed)
    spots = CAMERA.project(crowd.place, SIZE)[:, :2]
    reach = crowd.state.kinds[0].footprint * CAMERA.scale(SIZE) / 20
    away = np.hypot(columns[:, None] - spots[:, 0], rows[:, None] - spots[:, 1])
    assert away.min(1).max() < reach + 2
    low = field[-1, :, :3].astype(int)
    assert (low[:, 1] > low[:, 0]).all()
    assert (low[:, 1] > low[:, 2]).all()


def test_files_and_packages_may_be_given(tmp_path: Path) -> None:
    hero = levelled()
    save(hero, tmp_path / "hero.flexor")
    crowd = Crowd(str(tmp_path / "hero.flexor"), 3)
    assert len(crowd.state.kinds[0].levels) == 3
    crowd = Crowd([tmp_path / "hero.flexor", hero], [2, 1])
    assert len(crowd) == 3
    assert crowd.rows(1) == slice(2, 3)
    assert crowd.names == (("bend",), ("bend",))
    assert repr(crowd) == "Crowd(3 of 2 kinds)"


def test_without_levels_all_are_whole() -> None:
    crowd = Crowd(levelled(), 2, levels=False)
    crowd.place[1, 2] = -500
    crowd.draw(CAMERA, SIZE)
    assert crowd.level.tolist() == [0, 0]
    assert crowd.counts.shown == 2


def test_play_writes_the_rows_it_is_told() -> None:
    crowd = Crowd([levelled(), levelled(5)], [3, 2])
    crowd.play("bend", time=0.2, speed=2, who=[0, 4])
    crowd.play("bend", time=[0.1, 0.3], loop=False, who=np.arange(5) % 3 == 1)
    assert crowd.clip.tolist() == [0, 0, -1, -1, 0]
    assert crowd.time.tolist() == [0.2, 0.1, 0, 0, 0.3]
    assert crowd.speed.tolist() == [2, 1, 1, 1, 1]
    assert crowd.loops.tolist() == [True, False, True, True, False]
    crowd.play(None, who=0)
    assert crowd.clip[0] == -1
    crowd.play("bend", who=[])
    crowd.advance(10)
    assert crowd.time[1] == pytest.approx(0.4)


def test_clips_are_counted_in_those_of_each_kind() -> None:
    """The same name, first of one kind and last of the other."""
    hero, other = levelled(), levelled(5)
    bend = other.clips["bend"]
    other = other.with_clips({"nod": bend, "bow": bend, "bend": bend}, only=True)
    crowd = Crowd([hero, other], [2, 3])
    assert crowd.names == (("bend",), ("nod", "bow", "bend"))
    crowd.play("bend")
    assert crowd.clip.tolist() == [0, 0, 2, 2, 2]
    crowd.play("bow", who=[4, 2])
    assert crowd.clip.tolist() == [0, 0, 1, 2, 1]
    with pytest.raises(SettingError, match="no clip 'nod'; there are: 'bend'"):
        crowd.play("nod", who=[1, 2])
    assert crowd.clip.tolist() == [0, 0, 1, 2, 1]


def test_a_clip_is_played_whole_or_not_at_all() -> None:
    crowd = Crowd(levelled(), 4)
    for change in (
        {"time": [1, 2]},
        {"time": "x"},
        {"time": None},
        {"time": np.inf},
        {"speed": np.nan},
    ):
        with pytest.raises(ShapeError, match=r"expected|finite"):
            crowd.play("bend", **change)  # type: ignore[arg-type]
        assert (crowd.clip == -1).all()


def test_arrays_may_be_written_and_added_to() -> None:
    crowd = Crowd(levelled(), 3)
    crowd.heading += 1.0
    crowd.place = np.arange(9).reshape(3, 3)
    crowd.colour *= 0.5
    crowd.size = 2
    crowd.clip = [0, -1, 0]
    crowd.loops &= False
    assert crowd.heading.tolist() == [1, 1, 1]
    assert crowd.state.place[2].tolist() == [6, 7, 8]
    assert (crowd.state.colour == 0.5).all()
    assert (crowd.state.size == 2).all()
    assert not crowd.state.loops.any()
    with pytest.raises(ValueError):
        crowd.place = np.zeros((2, 3))


def test_meshes_have_faces_and_say_where_they_come_from() -> None:
    hero = levelled()
    crowd = Crowd([hero, levelled(5)], [3, 2])
    crowd.level = [0, 2, 2, 1, 1]
    crowd.deform()
    meshes = crowd.meshes()
    found = [(mesh.kind, mesh.level, mesh.who.tolist()) for mesh in meshes]
    assert found == [(0, 0, [0]), (0, 2, [1, 2]), (1, 1, [3, 4])]
    (skin,) = hero.deform(hero.pose())
    first = meshes[0]
    assert len(first.faces) == 12
    np.testing.assert_allclose(
        first.positions[0], skin.positions[first.sources[:, 2]], atol=1e-5
    )
    corners = first.sources[first.faces][..., 2]
    assert {tuple(sorted(row)) for row in corners.tolist()} == {
        tuple(range(first, first + 3)) for first in range(0, 36, 3)
    }


def test_pictures_of_many_sizes_and_floors_keep_little() -> None:
    crowd = Crowd(levelled(), 1)
    crowd.draw(CAMERA, SIZE, DrawStyle(samples=1))
    meshes = len(crowd.painter.backend._meshes)  # type: ignore[attr-defined]
    for number in range(10):
        style = DrawStyle(samples=1, floor=0.1 * number, ground=True)
        crowd.draw(CAMERA, (32 + number, 18), style)
    assert len(crowd.painter.targets) <= 4
    assert len(crowd.painter.backend._meshes) == meshes  # type: ignore[attr-defined]


def test_shadows_lie_on_the_floor_that_is_said() -> None:
    crowd = Crowd(levelled(), 1)
    crowd.place[:] = 1, 3, -2
    crowd.heading[:] = 0.7
    crowd.select(CAMERA, SIZE)
    crowd.deform()
    (mesh,) = crowd.meshes()  # triangles are all alike: their mean is the middle
    centre = mesh.positions[0][mesh.faces].mean((0, 1))
    for floor, height in ((None, 3.0), (0.5, 0.5)):
        items = crowd.draw_list(CAMERA, DrawStyle(floor=floor)).items
        middle = items[0].positions[0, 0]
        assert middle[1] == pytest.approx(height, abs=0.05)
        np.testing.assert_allclose(middle[[0, 2]], centre[[0, 2]], atol=1e-4)


def test_the_ground_is_under_all_who_are_shown() -> None:
    crowd = Crowd(levelled(), 2)
    crowd.place[1] = 0, 0, -300
    crowd.select(CAMERA, SIZE)
    crowd.deform()
    assert crowd.counts.shown == 2
    field = crowd.draw_list(CAMERA, DrawStyle(ground=True)).items[0]
    assert field.positions[:, 2].min() < -300


def test_root_motion_carries_on() -> None:
    way = {"bend": steady_motion(0.4, (0, 0, 2.0))}
    crowd = Crowd(levelled(), 2, root_motion=way)
    crowd.play("bend")
    crowd.heading[1] = np.pi / 2
    crowd.advance(1.5)
    np.testing.assert_allclose(crowd.place, [[0, 0, 3], [3, 0, 0]], atol=1e-9)


def test_kinds_are_asked_for_the_clips_they_have() -> None:
    hero = levelled()
    scene = hero.scene
    other = hero.with_clips(
        {"nod": dataclasses.replace(scene.clips["bend"], name="nod")}
    )
    only = Character(dataclasses.replace(scene, clips={"nod": other.clips["nod"]}))
    way = {
        "bend": steady_motion(0.4, (0, 0, 2.0)),
        "nod": steady_motion(0.4, (1, 0, 0)),
    }
    crowd = Crowd(
        [hero, only.with_levels(hero.levels)], [1, 1], root_motion=way, expand=["nod"]
    )
    crowd.play("bend", who=[0])
    crowd.play("nod", who=[1])
    crowd.advance(1.0)
    np.testing.assert_allclose(crowd.place, [[0, 0, 2], [1, 0, 0]], atol=1e-9)
    assert crowd.state.kinds[0].motion.clips[0, 2] == 0
    assert crowd.state.kinds[1].motion.clips[0, 2] == 1
    for wrong in ({"expand": ["x"]}, {"root_motion": ["x"]}):
        with pytest.raises(SettingError, match="no clip 'x'"):
            Crowd([hero, only], [1, 1], levels=False, **wrong)
    for bad in (5, None, "bend"):
        with pytest.raises(SettingError, match="expected names of clips"):
            Crowd(hero, 1, expand=bad)  # type: ignore[arg-type]


def test_rules_of_a_picture_may_be_given_more() -> None:
    crowd = Crowd(levelled(), 1)
    asked = []

    def keep(view):  # type: ignore[no-untyped-def]
        asked.append((view.time, view.extra))
        return np.ones(len(view.places), int)

    rule = flexor.LevelRule(by=keep)
    crowd.draw(CAMERA, SIZE, rules=rule, time=1.5, extra="here")
    assert asked == [(1.5, "here")]
    assert crowd.level.tolist() == [1]


def test_other_clips_may_be_played() -> None:
    hero = levelled()
    crowd = Crowd(hero, 1, clips={"nod": hero.clips["bend"]}, expand=["nod"])
    assert crowd.names == (("bend", "nod"),)
    crowd.play("nod")
    crowd.draw(CAMERA, SIZE)


def test_a_camera_is_found_that_sees_all(rng: np.random.Generator) -> None:
    crowd = Crowd(levelled(), 30)
    crowd.place[:] = rng.uniform(-30, 30, (30, 3)) * (1, 0, 1)
    camera = crowd.fit(SIZE)
    spots = camera.project(crowd.place, SIZE)
    assert (spots[:, :2] >= 0).all()
    assert (spots[:, :2] <= SIZE).all()
    above = crowd.fit(SIZE, (0, 1, 0.2))
    assert above.eye[1] > camera.eye[1]


def test_draw_lists_can_be_drawn_by_the_painter() -> None:
    crowd = Crowd(levelled(), 4)
    crowd.place[:, 0] = np.arange(4) * 2 - 3
    crowd.select(CAMERA, SIZE)
    crowd.deform()
    wanted = crowd.painter.draw(CAMERA, SIZE, DrawStyle(samples=1)).copy()
    draw_list = crowd.draw_list(CAMERA, DrawStyle(samples=1))
    assert sum(len(item.positions) for item in draw_list.items) == 4 + 4
    target = crowd.painter.targets.take(SIZE, flexor.DrawStyle(samples=1))
    got = crowd.painter.backend.draw(draw_list, target)
    np.testing.assert_array_equal(got, wanted)


def test_one_crowd_in_several_styles() -> None:
    crowd = Crowd(levelled(), 2)
    crowd.place[:, 0] = -2, 2
    pictures = [
        crowd.draw(CAMERA, SIZE, style).copy()
        for style in ("shaded", "cel", "unlit", "wire", "lines")
    ]
    assert len({picture.tobytes() for picture in pictures}) == 5


def test_bytes_are_counted() -> None:
    crowd = Crowd(levelled(), 10)
    before = crowd.nbytes
    crowd.draw(CAMERA, SIZE)
    assert crowd.nbytes > before > 0


@pytest.mark.parametrize(
    ("characters", "count", "text"),
    [
        (3, 1, "characters: int"),
        ([], [], "none were given"),
        ([3], 1, "characters: int"),
        ("hero", "x", "count: 'x'|count"),
        ("hero", True, "count"),
        ("hero", 2.5, "count"),
        ("hero", -1, "count: -1, expected 0 or more"),
        ("hero", b"\x02", "count"),
        ("hero", {1: 2}, "count"),
        ("hero", [1, 2], "count: 2 numbers for 1 characters"),
    ],
)
def test_refusals(characters: object, count: object, text: str) -> None:
    given = levelled() if characters == "hero" else characters
    with pytest.raises(SettingError, match=text):
        Crowd(given, count)  # type: ignore[arg-type]


def test_words_are_refused_that_are_not_there() -> None:
    crowd = Crowd(levelled(), 3)
    with pytest.raises(SettingError, match="no clip 'jump'; there are: 'bend'"):
        crowd.play("jump")
    assert (crowd.clip == -1).all()
    for kind in (1, -1, "x", 0.0, True):
        with pytest.raises(SettingError, match="expected 0 to 0"):
            crowd.rows(kind)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="size"):
        crowd.fit((5,))  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="a crowd has no heat"):
        crowd.draw(CAMERA, SIZE, DrawStyle(bones=True))
    for who in ([3], [-1], [0.5], np.ones(2, bool), "x"):
        with pytest.raises(ShapeError, match="who"):
            crowd.play("bend", who=who)


def test_rows_of_a_kind_are_rows_to_play() -> None:
    crowd = Crowd([levelled(), levelled(5)], [3, 2])
    crowd.play("bend", who=crowd.rows(1), time=[0.1, 0.2])
    assert crowd.clip.tolist() == [-1, -1, -1, 0, 0]
    assert crowd.time.tolist() == [0, 0, 0, 0.1, 0.2]
    crowd.play("bend", who=slice(None, 2))
    assert crowd.clip.tolist() == [0, 0, -1, 0, 0]


def test_a_crowd_that_was_drawn_can_be_pickled() -> None:
    crowd = Crowd(levelled(), 2)
    crowd.place[:, 0] = -1, 1
    crowd.play("bend", time=(0.1, 0.3))
    style = DrawStyle(samples=1)
    crowd.draw(CAMERA, SIZE, style)
    other = pickle.loads(pickle.dumps(crowd))
    for one in (crowd, other):
        one.advance(0.05)
    assert (other.draw(CAMERA, SIZE, style) == crowd.draw(CAMERA, SIZE, style)).all()
