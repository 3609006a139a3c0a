"""Pictures of characters: what is drawn, kept, fitted, shared and refused."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.pictures import drawing
from flexor.api.pictures import kit as draw_kit
from flexor.api.pictures.drawing import Drawer, contact_sheet, draw, picture_png
from flexor.draw.drawlist import DrawList
from flexor.draw.record.backend import RecordBackend
from flexor.draw.scene.fit import direction_of
from flexor.draw.scene.style import DrawStyle
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from flexor.scene.character.material import Material, TextureRef
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.standing import stands_at
from flexor.scene.scene import Scene
from tests.draw.scenes import skeleton, square_scene
from tests.scenes import plain_scene, random_clip, random_scene, random_skeleton

Rng = np.random.Generator
SIZE = (64, 48)


@pytest.fixture(scope="module")
def hero() -> Character:
    return flexor.samples.mannequin()


def recorded(character: Character, style: Any = "shaded", **more: Any) -> Drawer:
    return Drawer(character, SIZE, style, backend="record", **more)


def list_of(drawer: Drawer, pose: Any = None, camera: Camera | None = None) -> DrawList:
    """What the backend got for a picture."""
    drawer.draw(drawer.character.pose() if pose is None else pose, camera)
    backend = drawer._kit.backend
    assert isinstance(backend, RecordBackend)
    return backend.lists[-1]


# What is in a picture


def test_plain_picture(hero: Character) -> None:
    drawer = recorded(hero)
    pose = hero.pose("walk", 0.4)
    drawn = list_of(drawer, pose)
    surface, shadow = drawn.items
    (skin,) = hero.deform(pose)
    np.testing.assert_array_equal(surface.positions, skin.positions)
    assert surface.normals is not None
    np.testing.assert_array_equal(surface.normals, skin.normals)
    assert shadow.look is not None
    assert shadow.look.alpha == "blend"
    assert not drawn.lines
    assert drawn.background == DrawStyle().paper
    assert drawer.target.samples == 4
    assert drawer.draw(pose).shape == (48, 64, 4)
    assert drawer.draw(pose) is drawer.target.colour


def test_what_can_be_added(hero: Character) -> None:
    everything = DrawStyle(
        ground=True,
        bones=True,
        shadow=False,
        samples=1,
        background=(1, 2, 3, 4),
        order="sort",
        buffers=("depth", "part"),
    )
    drawer = recorded(hero, everything)
    drawn = list_of(drawer)
    assert len(drawn.items) == 3
    assert [item.layer for item in drawn.items] == [0, 1, 1]
    (grid,) = drawn.lines
    assert (grid.points[..., 1] == drawer.floor).all()
    assert grid.part == 1
    assert drawn.background == (1, 2, 3, 4)
    assert drawn.order == "sort"
    assert drawer.target.samples == 1
    assert drawer.target.depth is not None
    assert drawer.target.heat is None


def test_names_are_written(hero: Character) -> None:
    plain = Drawer(hero, (300, 300), DrawStyle(), backend="record")
    named = Drawer(hero, (300, 300), DrawStyle(names=True), backend="record")
    assert (plain.draw(hero.pose()) != named.draw(hero.pose())).any()


def test_lights(hero: Character) -> None:
    side = Camera((5, 1, 0), (0, 1, 0))
    drawn = list_of(recorded(hero), camera=side)
    assert [light.kind for light in drawn.lights] == [light.kind for light in DAYLIGHT]
    assert drawn.lights != DAYLIGHT
    own = (Light("ambient"),)
    assert list_of(recorded(hero, DrawStyle(lights=own)), camera=side).lights == own


def test_skeletons_are_drawn_where_there_is_no_skin(rng: Rng) -> None:
    nodes = random_skeleton(rng, 8)
    bare = Character(plain_scene(nodes, random_clip(rng, "move", 8)))
    drawer = recorded(bare)
    camera = drawer.fit("move")
    drawn = list_of(drawer, bare.pose("move", 0.5), camera)
    assert [item.layer for item in drawn.items][-2:] == [0, 0]
    assert drawn.items[-1].positions.shape == (8, 6, 3)


def empty_characters() -> list[Character]:
    none = np.zeros(0, np.int32)
    point = Primitive(np.zeros((1, 3), np.float32), mode=0)
    return [
        Character(Scene(skeleton(0), none, none.copy())),
        Character(Scene(skeleton(2), np.full(2, -1), np.full(2, -1))),
        Character(square_scene(primitive=Primitive(np.zeros((0, 3), np.float32)))),
        Character(square_scene(primitive=Primitive(np.zeros((2, 3), np.float32)))),
        Character(square_scene(primitive=point)),
    ]


@pytest.mark.parametrize("character", empty_characters(), ids=range(5))
def test_characters_of_nothing(character: Character) -> None:
    style = DrawStyle(bones=True, names=True, ground=True, shadow=True)
    drawer = recorded(character, style)
    assert drawer.draw(character.pose(), drawer.fit()).shape == (48, 64, 4)
    drawer.draw(character.pose())


def test_odd_characters(rng: Rng) -> None:
    for scale in ("one", "even", "uneven", "negative", "zero"):
        character = Character(random_scene(rng, scale=scale))
        drawer = recorded(character, DrawStyle(bones=True, ground=True))
        drawer.draw(character.pose("mixed", 0.7), drawer.fit("mixed"))


# Cameras, floors


def inside(points: Any, camera: Camera, size: tuple[int, int]) -> bool:
    seen = camera.project(points, size)[..., :2]
    return bool(((seen >= 0) & (seen <= size)).all())


@pytest.mark.slow
def test_fitted_cameras(hero: Character) -> None:
    drawer = recorded(hero)
    pose = hero.pose("kick", 0.5)
    (skin,) = hero.deform(pose)
    fitted = list_of(drawer, pose).camera
    assert inside(skin.positions, fitted, SIZE)
    assert fitted == drawer.fit(pose)
    # The whole clip needs more room than one pose of it.
    whole = drawer.fit("kick")
    times = np.linspace(0, hero.clips["kick"].duration, 50)
    (skins,) = hero.deform_many(hero.pose_many("kick", times))
    assert inside(skins.positions, whole, SIZE)
    assert drawer.fit(hero.pose_many("kick", times)).eye == pytest.approx(
        whole.eye, abs=0.05
    )
    assert drawer.fit() == drawer.fit(hero.pose())
    front = drawer.fit(direction=direction_of(0, 0), is_flat=True, margin=0.2)
    assert front.height is not None
    assert front.eye[0] == pytest.approx(front.target[0])


@pytest.mark.slow
def test_floor(hero: Character) -> None:
    low = float(hero.deform(hero.pose())[0].positions[:, 1].min())
    assert abs(low) < 0.01
    drawer = recorded(hero)
    assert drawer.floor is None
    # One pose in the air: the floor is where the character stands at rest, or 0.
    drawer.draw(hero.pose("jump", 0.5))
    assert drawer.floor == 0
    # A motion that stands there at some moment, whatever it does before and after.
    drawer.fit("jump")
    assert drawer.floor == 0
    # One that never does comes down to a floor of its own.
    far = np.array(hero.skeleton.translations)
    far[hero.skeleton.index("hips"), 1] += 0.3
    drawer.fit(hero.pose_from(translations=far[None]))
    assert drawer.floor == 0
    drawer.fit(hero.pose_from(translations=np.stack([far, far])))
    assert drawer.floor == pytest.approx(low + 0.3, abs=0.01)
    # Far from where it is at rest, it stands where it is.
    far[hero.skeleton.index("hips"), 1] += 49.7
    drawer.fit(hero.pose_from(translations=far))
    assert drawer.floor == pytest.approx(low + 50, abs=0.01)
    fixed = recorded(hero, DrawStyle(floor=-3.0, ground=True))
    fixed.fit("jump")
    assert fixed.floor == -3
    assert (list_of(fixed).lines[0].points[..., 1] == -3).all()


def test_where_it_stands() -> None:
    points = np.zeros((100, 3), np.float32)
    points[:, 1] = np.linspace(0, 2, 100)
    assert stands_at(points, 0.01, 2.0) == 0
    assert stands_at(points, -0.9, 2.0) == -0.9
    # A tool that hangs below the floor does not move it; a whole foot does.
    points[:5, 1] = -0.2
    assert stands_at(points, -0.2, 2.0) == 0
    points[:30, 1] = -0.2
    assert stands_at(points, -0.2, 2.0) == -0.2
    assert stands_at(points[:0], 5.0, 1.0) == 5


# What is shared


def test_uploads_are_shared_and_go_with_the_character(rng: Rng) -> None:
    character = Character(random_scene(rng))
    one, two = recorded(character), recorded(character, "cel")
    assert one._kit is two._kit
    assert one._dress is not two._dress
    assert recorded(character)._dress is one._dress
    gc.collect()  # what earlier tests left is not counted
    gone, kits = weakref.ref(character), len(draw_kit._KITS)
    del one, two, character
    gc.collect()
    assert gone() is None
    assert len(draw_kit._KITS) == kits - 1


def test_many_styles_do_not_pile_up(rng: Rng) -> None:
    character = Character(random_scene(rng))
    kits = set()
    for width in range(1, 3 * draw_kit.MOST_DRESSES):
        drawer = recorded(character, DrawStyle(line_width=float(width)))
        kits.add(id(drawer._kit))
        assert len(drawer._kit.dresses) <= draw_kit.MOST_DRESSES
    assert len(draw_kit._KITS[character]) == 1


def test_findings(hero: Character) -> None:
    assert recorded(hero).findings == ()
    lost = Character(square_scene(Material(base_texture=TextureRef(0)), b"broken"))
    drawer = recorded(lost)
    assert [f.code for f in drawer.findings] == ["missing-texture"]
    drawer.draw(lost.pose())
    drawer.target.skipped = 3
    assert [f.code for f in drawer.findings] == ["missing-texture", "skipped-faces"]
    assert "3 faces" in drawer.findings[1].text


# Refusals


def test_refusals(hero: Character) -> None:
    with pytest.raises(ShapeError, match="2 moments; draw one"):
        recorded(hero).draw(hero.pose_many("walk", [0, 1]))
    with pytest.raises(SettingError, match="no clip 'swim'"):
        recorded(hero).fit("swim")
    with pytest.raises(SettingError, match="style: 'oil'"):
        recorded(hero, "oil")
    with pytest.raises(SettingError, match="no node 'tail'"):
        recorded(hero, DrawStyle(style="heat", heat="tail"))
    with pytest.raises(SettingError, match="size"):
        Drawer(hero, (0, 10), backend="record")
    with pytest.raises(SettingError, match="samples"):
        recorded(hero, DrawStyle(samples=2))
    with pytest.raises(SettingError, match="no backend 'gl'"):
        Drawer(hero, SIZE, backend="gl")
    with pytest.raises(SettingError, match="count"):
        contact_sheet(hero, "walk", 0)
    with pytest.raises(SettingError, match="no clip 'swim'"):
        contact_sheet(hero, "swim", 3)
    with pytest.raises(ShapeError, match="nodes for a character"):
        draw(hero, Character(square_scene()).pose(), size=SIZE)
    # A refused style leaves nothing broken behind.
    assert recorded(hero).draw(hero.pose()).shape == (48, 64, 4)


# Real pictures


@pytest.mark.jit
def test_draw_gives_a_picture_of_its_own(hero: Character) -> None:
    pose = hero.pose("walk", 0.4)
    one, two = flexor.draw(hero, pose, size=SIZE), draw(hero, pose, size=SIZE)
    assert one.dtype == np.uint8
    assert one.shape == (48, 64, 4)
    assert not np.shares_memory(one, two)
    assert one.tobytes() == two.tobytes()
    assert len(np.unique(one.reshape(-1, 4), axis=0)) > 50
    # The character is in the middle, the paper around it.
    assert (one[0] == DrawStyle().paper).all()
    assert (one[24, 32] != DrawStyle().paper).any()


@pytest.mark.jit
@pytest.mark.parametrize(
    "style", ["shaded", "gouraud", "flat", "unlit", "cel", "lines", "wire", "ghost"]
)
def test_every_style_draws(hero: Character, style: str) -> None:
    pose = hero.pose("walk", 0.4)
    shaded = draw(hero, pose, size=SIZE)
    picture = draw(hero, pose, size=SIZE, style=style)
    assert (picture != DrawStyle(style=style).paper).any()  # type: ignore[arg-type]
    assert (style == "shaded") == (picture.tobytes() == shaded.tobytes())


@pytest.mark.jit
def test_heat_buffer(hero: Character) -> None:
    style = DrawStyle(style="heat", heat="head", buffers=("heat", "part"))
    drawer = Drawer(hero, SIZE, style)
    drawer.draw(hero.pose())
    heat, part = drawer.target.heat, drawer.target.part
    assert heat is not None
    assert part is not None
    assert np.nanmin(heat) == 0
    assert np.nanmax(heat) > 0.9
    assert (np.isnan(heat) == (part < 0)).all()


@pytest.mark.jit
def test_vertices_that_are_not_finite(hero: Character) -> None:
    primitive = hero.meshes[0].primitives[0]
    places = np.array(primitive.positions)
    places[7] = np.nan
    mesh = replace(hero.meshes[0], primitives=(replace(primitive, positions=places),))
    drawer = Drawer(Character(replace(hero.scene, meshes=(mesh,))), SIZE)
    with np.errstate(invalid="ignore"):
        drawer.draw(hero.pose())
    assert [f.code for f in drawer.findings] == ["skipped-faces"]
    assert drawer.target.skipped > 0


@pytest.mark.jit
def test_several_threads_at_once(hero: Character) -> None:
    poses = [hero.pose("walk", 0.1 * i) for i in range(8)]
    wanted = [draw(hero, pose, size=SIZE).tobytes() for pose in poses]
    fresh = Character(hero.scene)
    have: dict[int, bytes] = {}

    def work(row: int) -> None:
        have[row] = draw(fresh, poses[row], size=SIZE).tobytes()

    threads = [threading.Thread(target=work, args=(row,)) for row in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [have[row] for row in range(8)] == wanted


@pytest.mark.jit
def test_contact_sheet(hero: Character) -> None:
    sheet = contact_sheet(hero, "walk", 6, size=SIZE, columns=3)
    assert sheet.shape == (2 * (48 + 18 + 4) + 4, 3 * 68 + 4, 4)
    cells = [sheet[4:52, 4 + 68 * i : 68 + 68 * i] for i in range(3)]
    assert all((cell != DrawStyle().paper).any() for cell in cells)
    assert cells[0].tobytes() != cells[1].tobytes()
    # Without a size the cells suit the character, without a clip it is the first.
    tall = contact_sheet(hero, count=2, columns=2)
    assert tall.shape[0] > tall.shape[1] / 2
    still = Character(replace(hero.scene, clips={}))
    assert contact_sheet(still, count=3, size=SIZE).shape == (56, 72, 4)


@pytest.mark.jit
def test_notebooks(hero: Character, monkeypatch: pytest.MonkeyPatch) -> None:
    data = hero._repr_png_()
    assert data is not None
    assert data.startswith(b"\x89PNG")
    for character in empty_characters():
        assert character._repr_png_() is not None

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("flexor.api.pictures.drawing.draw", broken)
    assert picture_png(hero) is None


@pytest.mark.jit
@pytest.mark.parametrize("style", ["shaded", "lines"])
def test_shadows_stay_inside_the_cells_of_a_sheet(hero: Character, style: str) -> None:
    for size in ((120, 180), (160, 160)):
        drawer = Drawer(hero, size, style)
        camera = drawer.fit("run")
        paper = np.array(drawer.style.paper, int)
        for time in (0.0, 0.2, 0.4):
            picture = drawer.draw(hero.pose("run", time), camera).astype(int)
            rim = (picture[0], picture[-1], picture[:, 0], picture[:, -1])
            assert max(np.abs(edge - paper).max() for edge in rim) <= 4
        points, faint = drawer.reach("run")
        assert points.shape[0] == 24
        assert (faint is not None) == (style == "shaded")


@pytest.mark.jit
def test_names_are_counted(hero: Character) -> None:
    drawer = Drawer(hero, (100, 100), DrawStyle(names=True))
    assert drawer.names == (0, 0)
    drawer.draw(hero.pose())
    shown, count = drawer.names
    assert 0 < shown < count <= len(hero.skeleton)


def test_a_moved_pose_is_drawn_there(hero: Character) -> None:
    pose = hero.pose("walk", 0.4)
    place = np.array([(0, 0, 1, 5), (0, 1, 0, 0), (-1, 0, 0, 2)], np.float32)
    drawer = recorded(hero, DrawStyle(shadow=False))
    (here,) = list_of(drawer, pose).items
    before = here.positions.copy()
    (there,) = list_of(drawer, pose.moved(place)).items
    expected = before @ place[:, :3].T + place[:, 3]
    np.testing.assert_allclose(there.positions, expected, atol=1e-5)


@pytest.mark.parametrize("has_camera", [False, True])
def test_a_picture_casts_its_shadow_once(
    hero: Character, has_camera: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawer, cast, calls = Drawer(hero, SIZE), drawing.cast_shadow, []
    pose = hero.pose("walk", 0.3)
    camera = drawer.fit(pose) if has_camera else None
    plain = drawer.draw(pose, camera).copy()

    def count(*words: Any) -> Any:
        calls.append(words[0])
        return cast(*words)

    monkeypatch.setattr(drawing, "cast_shadow", count)
    assert (drawer.draw(pose, camera) == plain).all()
    assert len(calls) == 1


# What is asked for in vain


def test_several_characters_are_told_what_draws_them(hero: Character) -> None:
    for wrong in ([hero, hero], (hero,), []):
        with pytest.raises(SettingError, match=r"flexor\.Crowd draws many"):
            flexor.draw(wrong)  # type: ignore[arg-type]
        with pytest.raises(SettingError, match=f"of {len(wrong)}, expected one"):
            flexor.Drawer(wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="character: str, expected a Character"):
        flexor.contact_sheet("hero.glb")  # type: ignore[arg-type]
    for pose in ("walk", [hero.pose()]):
        with pytest.raises(SettingError, match=r"pose: .*, expected a Pose"):
            flexor.draw(hero, pose)  # type: ignore[arg-type]


def test_without_a_pose_it_is_at_rest(hero: Character) -> None:
    picture = flexor.draw(hero, size=(40, 30))
    assert (picture == flexor.draw(hero, hero.pose(), size=(40, 30))).all()


def test_buffers_that_nobody_would_get_are_refused(hero: Character) -> None:
    style = DrawStyle(buffers=("depth", "part"))
    with pytest.raises(SettingError, match="depth, part: draw gives colours alone"):
        flexor.draw(hero, hero.pose(), style=style)
    with pytest.raises(SettingError, match="contact_sheet gives colours alone"):
        flexor.contact_sheet(hero, style=style)
    with pytest.raises(SettingError, match='"heat": say of which joint'):
        DrawStyle(buffers=("heat",))


def test_a_drawer_can_be_pickled(hero: Character) -> None:
    style = DrawStyle(style="cel", samples=1, ground=True, buffers=("depth",))
    drawer = Drawer(hero, (60, 40), style, weights="one")
    camera = drawer.fit("walk")
    drawer.draw(hero.pose("walk", 0.1), camera)
    other = pickle.loads(pickle.dumps(drawer))
    assert (other.target.colour == drawer.target.colour).all()
    assert (other.floor, other.findings) == (drawer.floor, drawer.findings)
    pose = hero.pose("walk", 0.4)
    assert (other.draw(pose, camera) == drawer.draw(pose, camera)).all()
    assert (other.target.depth == drawer.target.depth).all()
    # One that has not drawn yet finds its floor itself.
    fresh = pickle.loads(pickle.dumps(Drawer(hero, (60, 40))))
    assert (fresh.draw(pose) == Drawer(hero, (60, 40)).draw(pose)).all()
