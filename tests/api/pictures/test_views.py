"""Views of skin and bones: what they show, where, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.pictures.drawing import Drawer, contact_sheet, draw
from flexor.api.pictures.views import MOST_TIED
from flexor.convert.links.link_bones import LinkSettings
from flexor.convert.shape.body import gather_bodies
from flexor.convert.shape.sections import body_shape
from flexor.draw.drawlist import DrawList
from flexor.draw.items.limits import TURNS
from flexor.draw.record.backend import RecordBackend
from flexor.draw.scene.areas import CLAY, DARK_CLAY, colour_bones
from flexor.draw.scene.style import DrawStyle
from flexor.errors import SettingError
from flexor.maths import transforms
from flexor.maths.colour import srgb_from_linear
from flexor.pose.pose import Pose
from flexor.scene.character.limits import FREE, Limits
from tests.convert.shape.tubes import link, skinned_scene, tube_scene
from tests.draw.scenes import skeleton, square_scene
from tests.scenes import plain_scene, random_rotations, random_scene, random_skeleton

Rng = np.random.Generator
SIZE = (96, 96)


@pytest.fixture(scope="module")
def hero() -> Character:
    return flexor.samples.mannequin()


def drawn(character: Character, pose: Pose | None = None, **style: Any) -> DrawList:
    """What a backend gets, without a shadow."""
    look = DrawStyle(shadow=False, **style)
    drawer = Drawer(character, SIZE, look, backend="record")
    drawer.draw(character.pose() if pose is None else pose)
    backend = drawer._kit.backend
    assert isinstance(backend, RecordBackend)
    return backend.lists[-1]


def seen_on(picture: Any, style: DrawStyle) -> Any:
    """Pixels (N, 3) that are not background."""
    return picture[(picture[..., :3] != style.paper[:3]).any(-1)][:, :3].astype(int)


# Sections


def test_ellipses_are_the_sections_where_the_bones_are_now(hero: Character) -> None:
    pose = hero.pose("run", 0.3)
    lines = drawn(hero, pose, show=("sections",)).lines
    rings = lines[0].points.astype(np.float64)
    (body,) = gather_bodies(hero.scene)
    shape = body_shape(body)
    row = body.names.index("l-knee")
    count = len(rings) // (2 * int(shape.sections.known.sum()))
    first = int(shape.sections.known[:row].sum()) * count
    ring = rings[first : first + count]
    joint = int(body.joints[row])
    world_from_bind = transforms.multiply(
        pose.world[joint].astype(np.float64), transforms.invert(body.frames[row])
    )
    world_from_bone = transforms.multiply(world_from_bind, shape.bones.frames[row])
    local = transforms.apply(transforms.invert(world_from_bone), ring.reshape(-1, 3))
    np.testing.assert_allclose(local[:, 0], 0, atol=1e-5)
    away = local[:, 1:] - shape.sections.offsets[row, 0]
    share = away / shape.sections.radii[row, 0]
    np.testing.assert_allclose(np.linalg.norm(share, axis=1), 1, atol=1e-3)


def test_ellipses_are_in_the_picture(hero: Character) -> None:
    style = DrawStyle(show=("sections",), joints=("l-knee",), shadow=False)
    plain = DrawStyle(show=("sections",), joints=("r-index1",), shadow=False)
    drawer = Drawer(hero, (200, 200), style)
    camera = drawer.fit()
    one = drawer.draw(hero.pose(), camera).astype(int)
    other = draw(hero, hero.pose(), camera, (200, 200), style=plain).astype(int)
    knee = hero.pose().world[hero.skeleton.index("l-knee"), :, 3]
    x, y, _ = camera.project(knee, (200, 200))
    changed = np.argwhere((one[..., :3] != other[..., :3]).any(-1))
    near = np.linalg.norm(changed - [y, x], axis=1)
    assert (near < 25).sum() > 30
    # Whatever else changed is at the finger.
    finger = hero.pose().world[hero.skeleton.index("r-index1"), :, 3]
    x, y, _ = camera.project(finger, (200, 200))
    far = changed[near > 40]
    assert (np.linalg.norm(far - [y, x], axis=1) < 25).all()


def test_a_skin_of_few_vertices_has_no_sections() -> None:
    weights = np.ones((3, 1))
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    scene = skinned_scene([(0, 0, 0)], [-1], corners, [(0, 1, 2)], weights)
    drawer = Drawer(Character(scene), SIZE, DrawStyle(show=("sections",)))
    assert [found.code for found in drawer.findings] == ["no-sections"]
    assert drawer.draw(Character(scene).pose()).shape == (96, 96, 4)


# Areas


def test_a_vertex_on_one_bone_has_its_colour(hero: Character) -> None:
    (surface,) = drawn(hero, show=("areas",)).items
    assert surface.colours is not None
    mesh = hero.meshes[0].primitives[0]
    skin = hero.scene.skins[0]
    assert mesh.skin is not None
    colours = colour_bones(hero.scene).of_node
    alone = np.flatnonzero(mesh.skin.weights.max(1) > 0.9999)
    assert len(alone) > 100
    first = np.argmax(mesh.skin.weights[alone], axis=1)
    nodes = skin.joints[mesh.skin.joints[alone, first]]
    np.testing.assert_allclose(surface.colours[alone, :3], colours[nodes], atol=1e-3)


def test_areas_are_seen(hero: Character) -> None:
    # Without light, what hangs on one bone has its very colour.
    style = DrawStyle(style="unlit", show=("areas",), shadow=False, samples=1)
    picture = draw(hero, hero.pose(), size=(160, 240), style=style)
    colours = colour_bones(hero.scene).of_node
    pixels = seen_on(picture, style)
    for name in ("head", "l-toe", "r-toe"):
        level = np.rint(srgb_from_linear(colours[hero.skeleton.index(name)]))
        assert (np.abs(pixels - level).max(1) <= 2).sum() > 10


def test_only_some_areas(hero: Character) -> None:
    (surface,) = drawn(hero, show=("areas",), joints=("l-*",)).items
    assert surface.colours is not None
    is_clay = np.isclose(surface.colours[:, :3], CLAY).all(1)
    assert 0.4 < is_clay.mean() < 0.75
    left = hero.pose().world[hero.skeleton.index("l-knee"), 0, 3]
    side = np.sign(surface.positions[:, 0]) == np.sign(left)
    assert side[~is_clay].mean() > 0.9


# Ties


def test_ties_go_from_the_skin_to_the_bone() -> None:
    hero = Character(tube_scene(4.0))
    pose = hero.pose_from(rotations=bent(hero, 1))
    lines, dots = drawn(hero, pose, show=("ties",)).lines
    (skin,) = hero.deform(pose)
    ends = lines.points[:, 0]
    away = np.linalg.norm(ends[:, None] - skin.positions[None], axis=2).min(1)
    np.testing.assert_allclose(away, 0, atol=1e-6)
    np.testing.assert_array_equal(dots.points[:, 0], ends)
    # The other end is on a bone as it is now: on one of the two halves of the tube.
    places = pose.world[:, :, 3].astype(np.float64)
    on = lines.points[:, 1].astype(np.float64)
    gaps = [off_line(on, places[a], places[b]) for a, b in ((0, 1), (1, 2))]
    np.testing.assert_allclose(np.minimum(*gaps), 0, atol=1e-4)
    assert (gaps[0] < 1e-4).any()
    assert (gaps[1] < 1e-4).any()


def bent(hero: Character, node: int) -> Any:
    rotations = hero.skeleton.rotations.copy()
    rotations[node] = 0, 0, np.sin(0.5), np.cos(0.5)
    return rotations


def off_line(points: Any, a: Any, b: Any) -> Any:
    """How far points (P, 3) are from the line from a to b."""
    way = b - a
    share = np.clip((points - a) @ way / (way @ way), 0, 1)
    return np.linalg.norm(points - a - share[:, None] * way, axis=1)


def test_ties_are_bounded_and_all_where_there_are_few(hero: Character) -> None:
    lines = drawn(hero, show=("ties",)).lines[0]
    tied = np.unique(lines.points[:, 0], axis=0)
    assert 0.4 * MOST_TIED < len(tied) <= MOST_TIED
    coarse = Character(random_scene(np.random.default_rng(5)))
    skins = [p for mesh in coarse.meshes for p in mesh.primitives if p.skin is not None]
    assert sum(len(p) for p in skins) <= MOST_TIED
    few = drawn(coarse, show=("ties",)).lines
    dots = [line for line in few if len(line.points)][-1]
    places = {tuple(place) for p in skins for place in p.positions.tolist()}
    assert len(np.unique(dots.points[:, 0], axis=0)) >= 0.9 * len(places)


def test_ties_of_the_joint_of_the_heat(hero: Character) -> None:
    pose = hero.pose("run", 0.3)
    look: dict[str, Any] = {"style": "heat", "heat": "l-knee", "show": ("ties",)}
    lines = drawn(hero, pose, **look).lines[0]
    names = hero.skeleton.names
    knee, roll = (
        pose.world[names.index(name), :, 3].astype(np.float64)
        for name in ("l-knee", "l-knee-roll")
    )
    ends = lines.points[:, 1].astype(np.float64)
    np.testing.assert_allclose(off_line(ends, knee, roll), 0, atol=1e-5)
    other = drawn(hero, pose, **look, joints=("head",)).lines[0]
    head = pose.world[names.index("head"), :, 3]
    assert np.linalg.norm(other.points[:, 1] - head, axis=1).max() < 0.4


def test_heavier_ties_are_brighter() -> None:
    hero = Character(tube_scene(4.0))
    lines = drawn(hero, show=("ties",)).lines[0]
    share = lines.colours[:, 3]
    # Where the tube bends half belongs to either; at its ends one bone has all.
    x = lines.points[:, 0, 0]
    assert share[np.abs(x) > 2.5].min() == pytest.approx(1)
    assert share[np.abs(x) < 0.6].max() < 0.75


# Limits


def test_marks_of_limits_point_where_the_bones_do(hero: Character) -> None:
    pose = hero.pose("run", 0.3)
    names = hero.skeleton.names
    knee, ankle = (
        pose.world[names.index(name), :, 3].astype(np.float64)
        for name in ("l-knee", "l-ankle")
    )
    for place in (np.eye(3, 4), turned_place()):
        moved = pose.moved(place.astype(np.float32))
        given = drawn(hero, moved, show=("limits",), joints=("l-knee",))
        about_y = given.lines[-2].points[0].astype(np.float64)
        base = transforms.apply(place, knee[None])[0]
        way = transforms.apply(place, ankle[None])[0] - base
        np.testing.assert_allclose(about_y[0], base, atol=1e-5)
        mark = about_y[1] - about_y[0]
        cosine = mark @ way / np.linalg.norm(mark) / np.linalg.norm(way)
        assert cosine > np.cos(np.radians(1))


def turned_place() -> Any:
    """A (3, 4) that turns, scales and moves."""
    c, s = np.cos(0.7), np.sin(0.7)
    return 1.5 * np.array([[c, 0, s, 1], [0, 1, 0, 2], [-s, 0, c, 3]])


def test_fans_are_beside_their_joint(hero: Character) -> None:
    shown = drawn(hero, show=("limits",), joints=("l-elbow",)).items[1:]
    elbow = hero.pose().world[hero.skeleton.index("l-elbow"), :, 3]
    assert len(shown) == 3
    for item, turn in zip(shown, TURNS, strict=True):
        assert item.tints is not None
        np.testing.assert_allclose(item.tints[0, :3], turn, atol=1e-6)
        away = np.linalg.norm(item.positions - elbow, axis=-1).max()
        assert 0.01 < away < 0.15


def test_limits_that_are_given() -> None:
    hero = Character(plain_scene(skeleton(3)))
    low, high = np.tile(-np.array(FREE), (3, 1)), np.tile(FREE, (3, 1))
    low[1, 0], high[1, 0] = -0.5, 0.25
    frames, rates = np.tile([0.0, 0, 0, 1], (3, 1)), np.full(3, np.inf)
    limits = Limits(frames, low, high, rates)
    items = drawn(hero, show=("limits",), limits=limits).items
    fans = [item for item in items if item.layer == 1]
    assert [item.positions.shape[0] for item in fans] == [1]
    with pytest.raises(SettingError, match="limits: of 3 joints, the character has 2"):
        drawn(Character(plain_scene(skeleton(2))), show=("limits",), limits=limits)


def test_where_nothing_is_limited_it_is_said(rng: Rng) -> None:
    hero = Character(random_scene(rng))
    drawer = Drawer(hero, SIZE, DrawStyle(show=("limits",)))
    (found,) = drawer.findings
    assert (found.level, found.code) == ("info", "no-limits")
    assert "no human body" in found.text
    drawer.draw(hero.pose())
    human = flexor.samples.mannequin()
    some = Drawer(human, SIZE, DrawStyle(show=("limits",), joints=("hips",)))
    assert "none of these joints" in some.findings[0].text
    assert not Drawer(human, SIZE, DrawStyle(show=("limits",))).findings


def test_limits_of_a_skeleton_alone(rng: Rng) -> None:
    human = flexor.samples.mannequin().skeleton
    lines = drawn(Character(plain_scene(human)), show=("limits",)).lines
    assert len(lines) > 3


# Together


def test_views_show_the_shape_and_not_its_materials(hero: Character) -> None:
    for show, clay in ((("sections",), CLAY), (("ties", "limits"), DARK_CLAY)):
        surface = drawn(hero, show=show).items[0]
        assert surface.look is not None
        assert surface.look.texture == -1
        assert surface.look.shading == "pixel"
        assert surface.colours is not None
        np.testing.assert_allclose(surface.colours[0, :3], clay, atol=1e-6)
    cel = drawn(hero, style="cel", show=("areas",)).items[0].look
    assert cel is not None
    assert cel.shading == "cel"


def test_all_of_them_together(hero: Character) -> None:
    every = drawn(hero, show=("sections", "areas", "ties", "limits"), bones=True)
    alone = [
        drawn(hero, show=("areas",)),
        drawn(hero, show=("sections", "areas")),
        drawn(hero, show=("areas", "ties")),
        drawn(hero, show=("areas", "limits")),
    ]
    assert len(every.lines) == sum(len(one.lines) for one in alone)
    np.testing.assert_array_equal(every.items[0].colours, alone[0].items[0].colours)
    # Lines that would be of the colour below them have another.
    assert np.ptp(alone[1].lines[0].colours[:, :3]) == 0
    assert (alone[2].lines[0].colours[:, :3] == 1).all()
    sheet = contact_sheet(
        hero, "walk", 2, size=(40, 40), style=DrawStyle(show=("areas", "ties"))
    )
    assert sheet.shape[2] == 4


def test_links_are_merged_into_their_joints() -> None:
    scene = tube_scene(2.0)
    plain = Character(scene)
    more = Character(link(scene, [{1: LinkSettings(count=2)}])[0])
    assert more.skeleton.links
    one = drawn(plain, show=("sections",)).lines
    other = drawn(more, show=("sections",)).lines
    assert [len(line.points) for line in one] == [len(line.points) for line in other]
    (surface,) = drawn(more, show=("areas",)).items
    assert surface.colours is not None
    colours = colour_bones(more.scene).of_node[[0, 1]].astype(np.float64)
    across = colours[1] - colours[0]
    share = (surface.colours[:, :3] - colours[0]) @ across / (across @ across)
    mixed = colours[0] + share[:, None] * across
    np.testing.assert_allclose(surface.colours[:, :3], mixed, atol=1e-5)
    ends = drawn(more, show=("ties",)).lines[0].points[:, 1].astype(np.float64)
    places = more.pose().world[:, :, 3].astype(np.float64)
    np.testing.assert_allclose(off_line(ends, places[0], places[2]), 0, atol=1e-5)


def test_views_of_a_package(hero: Character, tmp_path: Any) -> None:
    path = tmp_path / "hero.flexor"
    flexor.save(hero, path)
    again = flexor.load(path)
    for view in ("sections", "areas", "ties", "limits"):
        style = DrawStyle(show=(view,), samples=1)  # type: ignore[arg-type]
        one = draw(hero, hero.pose(), size=(64, 64), style=style)
        np.testing.assert_array_equal(
            draw(again, again.pose(), size=(64, 64), style=style), one
        )


def test_what_has_no_skin_is_refused(rng: Rng) -> None:
    bones = Character(plain_scene(random_skeleton(rng, 5)))
    rigid = Character(square_scene(nodes=skeleton(3)))
    for view in ("sections", "areas", "ties"):
        style = DrawStyle(show=(view, "limits"))  # type: ignore[arg-type]
        with pytest.raises(SettingError, match=f"show: {view}: there is no surface"):
            draw(bones, bones.pose(), style=style)
        with pytest.raises(SettingError, match="no surface hangs on joints"):
            contact_sheet(rigid, style=style)


def test_joints_that_are_not_there(hero: Character) -> None:
    for view in ("sections", "areas", "ties", "limits"):
        style = DrawStyle(show=(view,), joints=("nose",))  # type: ignore[arg-type]
        with pytest.raises(SettingError, match="no joint is called 'nose'"):
            Drawer(hero, SIZE, style)


def test_crowds_have_none() -> None:
    crowd = flexor.Crowd(flexor.samples.mannequin(), 1)
    crowd.advance(0.1)
    camera = flexor.Camera((0, 1, 4), (0, 1, 0))
    crowd.select(camera, SIZE)
    crowd.deform()
    with pytest.raises(SettingError, match="a crowd has no heat, bones, names, smooth"):
        crowd.draw(camera, SIZE, DrawStyle(show=("areas",)))


def test_odd_poses(rng: Rng) -> None:
    hero = flexor.samples.mannequin()
    pose = hero.pose()
    world = pose.world.copy()
    world[5:9] = np.nan
    world[12] = 0
    odd = replace(pose, world=world)
    every = DrawStyle(show=("sections", "areas", "ties", "limits"), samples=1)
    drawer = Drawer(hero, SIZE, every)
    drawer.draw(odd, drawer.fit())
    scales = pose.scales.copy()
    scales[7] = 0
    rotations = random_rotations(rng, len(scales)).astype(np.float32)
    flat = hero.pose_from(rotations=rotations, scales=scales)
    assert drawer.draw(flat, drawer.fit()).any()
