"""Characters drawn part by part: the same pictures as drawn whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.skins import Weights
from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from flexor.deform.envelope import trace_envelope
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawList
from flexor.draw.record.backend import RecordBackend
from flexor.draw.scene.build import Dress, build_items, dress_scene
from flexor.draw.scene.envelope_sink import EnvelopeDraw
from flexor.draw.scene.fit import fit_camera
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.draw.scene.upload import upload_scene
from flexor.draw.target import init_target
from flexor.errors import SettingError, ShapeError
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.material import Material, TextureRef
from flexor.scene.character.mesh import Mesh, MorphTarget, Primitive
from flexor.scene.character.weights import SkinWeights
from flexor.scene.scene import Scene
from tests.draw.scenes import png, skeleton, square, square_scene
from tests.draw.shapes import sphere
from tests.scenes import bound_skin, random_scene

Rng = np.random.Generator
SIZE = (160, 120)
WHITE = (255, 255, 255, 255)
CHECKER = png(np.random.default_rng(1).integers(0, 256, (8, 8, 3)))


def dressed(backend: Backend, scene: Scene, style: DrawStyle | str = "shaded") -> Dress:
    assets, findings = upload_scene(backend, scene)
    assert not findings
    return dress_scene(assets, style_of(style))


def whole(hero: Character, dress: Dress, pose: Pose, weights: Weights) -> Any:
    """Items and lines as a character is usually drawn."""
    skins = hero.deform(pose, weights=weights)
    positions, normals = [s.positions for s in skins], [s.normals for s in skins]
    return build_items(dress, positions, normals, pose.world)


def by_parts(hero: Character, dress: Dress, pose: Pose, weights: Weights) -> Any:
    """The same through an envelope, whose buffer is spoilt after each part."""
    sink = EnvelopeDraw(dress, getattr(hero.envelopes, weights))

    def take(part: int, area: Any) -> None:
        sink(part, area)
        area[:] = np.nan

    state = hero.envelope_state(weights)
    trace_envelope(state, pose.world, pose.weights, take)
    return sink.items(pose.world)


def pictures(
    backend: Backend,
    hero: Character,
    pose: Pose,
    style: DrawStyle | str = "shaded",
    *,
    weights: Weights = "multi",
    camera: Camera | None = None,
) -> tuple[Any, Any]:
    """The pictures of both ways, and that there is something to see."""
    dress = dressed(backend, hero.scene, style)
    points = np.concatenate([s.positions for s in hero.deform(pose)])
    camera = camera or fit_camera(points, SIZE)
    made = []
    for way in (whole, by_parts):
        items, lines = way(hero, dress, pose, weights)
        target = init_target(SIZE, 4)
        backend.draw(DrawList(camera, items, lines, background=WHITE), target)
        assert target.skipped == 0
        made.append(target.colour.astype(int))
    assert (made[0] != 255).any(-1).mean() > 0.005, "an empty picture"
    return made[0], made[1]


def check_same(pair: tuple[Any, Any], share: float = 0.005) -> None:
    """Rounding moves a vertex by less than a thousandth of a pixel, so a few pixels may
    be one level lighter or darker.
    """
    off = np.abs(pair[0] - pair[1]).max(-1)
    assert off.max() <= 1
    assert (off > 0).mean() <= share


# Scenes to draw


def tube(**more: Any) -> Scene:
    """A ball drawn out along y, on a chain of five joints, two of which pull each
    vertex; the surface is closed, so that what is inside out is seen at once.
    """
    shape = sphere(0.5, 16, 24)
    positions = shape.positions * (1, 3, 1)
    places = np.array([(0, -1.2, 0), *[(0, 0.6, 0)] * 4])
    nodes = replace(skeleton(5), translations=places)
    at = np.clip((positions[:, 1] + 1.2) / 0.6, 0, 3.999)
    low = at.astype(int)
    weights = SkinWeights(
        np.stack([low, low + 1], 1), np.stack([1 - at + low, at - low], 1)
    )
    primitive = Primitive(
        positions,
        np.array(shape.normals),
        texcoords=(np.array(shape.texcoords),),
        indices=np.ravel(shape.faces),
        material=0,
        skin=weights,
        **more,
    )
    scene = square_scene(Material(base_texture=TextureRef(0)), CHECKER)
    owner = np.array([0, -1, -1, -1, -1])
    mesh = Mesh("tube", (primitive,), np.zeros(len(primitive.targets)))
    return replace(
        scene,
        skeleton=nodes,
        node_mesh=owner,
        node_skin=owner.copy(),
        meshes=(mesh,),
        skins=(bound_skin(nodes, np.arange(5)),),
    )


def bent(hero: Character, angle: float = 0.5, **more: Any) -> Pose:
    """Every joint turned about z by `angle` radians."""
    count = len(hero.skeleton)
    turn = [0, 0, np.sin(angle / 2), np.cos(angle / 2)]
    return hero.pose_from(rotations=np.tile(turn, (count, 1)), **more)


def morphed_tube() -> Scene:
    rng = np.random.default_rng(2)
    shape = sphere(0.5, 16, 24)
    bulge = shape.positions * (rng.random((len(shape.positions), 1)) < 0.5)
    flat = np.zeros_like(shape.positions)
    flat[:, 2] = -0.4 * shape.positions[:, 2]
    return tube(targets=(MorphTarget(bulge), MorphTarget(flat, flat.copy())))


def coloured_tube() -> Scene:
    """Colours of the vertices in place of a texture."""
    count = len(sphere(0.5, 16, 24).positions)
    colours = np.random.default_rng(3).random((count, 3))
    scene = tube(colours=(colours,))
    return replace(scene, materials=(Material(),))


def glass_tube() -> Scene:
    """Seen through, and its own back faces are seen through it."""
    material = Material(
        base_colour=(1, 1, 1, 0.5), alpha_mode="BLEND", double_sided=True
    )
    return replace(tube(), materials=(material,))


def rigid() -> Scene:
    """A textured square at each of three nodes."""
    nodes = replace(
        skeleton(3), translations=np.array([(0, 0, 0), *[(0.5, 0.6, 1)] * 2])
    )
    return square_scene(Material(base_texture=TextureRef(0)), CHECKER, nodes=nodes)


def no_normals() -> Scene:
    scene = tube()
    primitive = replace(scene.meshes[0].primitives[0], normals=None)
    return replace(scene, meshes=(Mesh("tube", (primitive,)),))


def lines_and_points() -> Scene:
    """All that has no faces, skinned and rigid, beside a square."""
    rng = np.random.default_rng(4)
    scene = tube()
    tie = scene.meshes[0].primitives[0].skin
    assert tie is not None
    own = SkinWeights(np.array(tie.joints[::40]), np.array(tie.weights[::40]))
    primitives = [
        Primitive(
            rng.uniform(-1, 1, (len(own.weights), 3)),
            colours=(rng.random((len(own.weights), 4)),),
            indices=indices,
            mode=mode,
            material=0,
            skin=skin,
        )
        for mode, indices, skin in (
            (0, None, own),
            (1, [3, 1, 0, 5, 8, 2], own),
            (2, [6, 2, 0], None),
            (3, None, own),
        )
    ]
    mesh = Mesh("strokes", (*primitives, square(skin=None)))
    return replace(scene, meshes=(mesh,), materials=(Material(),))


def loose_vertices() -> Scene:
    """Vertices without a face, among them some that a joint of their own pulls."""
    scene = tube()
    primitive = scene.meshes[0].primitives[0]
    assert primitive.skin is not None
    low = primitive.positions[:, 1] < 0.6
    kept = primitive.triangles()[low[primitive.triangles()].all(1)]
    cut = replace(primitive, indices=kept.ravel())
    return replace(scene, meshes=(Mesh("tube", (cut,)),))


def tube_and_ball() -> Scene:
    """The tube, and a rigid ball at a node beside it."""
    scene, shape = tube(), sphere(0.3, 8, 12)
    nodes = skeleton(6, parents=np.array([-1, 0, 1, 2, 3, -1]))
    places = np.concatenate([scene.skeleton.translations, [(1.5, 0, 0)]])
    ball = Primitive(
        np.array(shape.positions),
        np.array(shape.normals),
        texcoords=(np.array(shape.texcoords),),
        indices=np.ravel(shape.faces),
        material=0,
    )
    return replace(
        scene,
        skeleton=replace(nodes, translations=places),
        node_mesh=np.array([0, -1, -1, -1, -1, 1]),
        node_skin=np.array([0, -1, -1, -1, -1, -1]),
        meshes=(*scene.meshes, Mesh("ball", (ball,))),
    )


SCENES: dict[str, Callable[[], Scene]] = {
    "tube": tube,
    "tube and ball": tube_and_ball,
    "coloured": coloured_tube,
    "glass": glass_tube,
    "rigid": rigid,
    "no normals": no_normals,
    "lines": lines_and_points,
    "loose": loose_vertices,
}


@pytest.fixture(scope="module")
def mannequin() -> Character:
    hero = flexor.samples.mannequin()
    _ = hero.envelopes
    return hero


# Pictures


@pytest.mark.jit
@pytest.mark.parametrize("weights", ["multi", "one"])
@pytest.mark.parametrize(("clip", "time"), [(None, 0.0), ("walk", 0.3), ("kick", 0.5)])
def test_mannequin(
    raster: Backend, mannequin: Character, clip: Any, time: float, weights: Any
) -> None:
    assert len(mannequin.envelopes.multi.parts) > 5
    pose = mannequin.pose(clip, time)
    check_same(pictures(raster, mannequin, pose, weights=weights))


@pytest.mark.jit
@pytest.mark.parametrize("weights", ["multi", "one"])
@pytest.mark.parametrize("name", SCENES)
def test_scenes(raster: Backend, name: str, weights: Any) -> None:
    hero = Character(SCENES[name]())
    check_same(pictures(raster, hero, bent(hero), weights=weights))


@pytest.mark.jit
@pytest.mark.parametrize("style", ["gouraud", "flat", "unlit", "ghost"])
def test_styles(raster: Backend, mannequin: Character, style: str) -> None:
    pose = mannequin.pose("walk", 0.3)
    check_same(pictures(raster, mannequin, pose, style))


@pytest.mark.jit
def test_heat(raster: Backend, mannequin: Character) -> None:
    """Weights of a joint as colours, which each part has for its own vertices."""
    joint = mannequin.skeleton.names[mannequin.scene.skins[0].joints[3]]
    style = DrawStyle(style="heat", heat=joint)
    pair = pictures(raster, mannequin, mannequin.pose("walk", 0.3), style)
    assert len(np.unique(pair[0].reshape(-1, 4), axis=0)) > 20
    check_same(pair)


@pytest.mark.jit
@pytest.mark.parametrize("weights", ["multi", "one"])
def test_morphs(raster: Backend, weights: Any) -> None:
    hero = Character(morphed_tube())
    camera = Camera((3, 1, 6), (0, 0, 0))
    shapes = []
    for morphs in ((0, 0), (1, 0), (0.3, 0.9)):
        pose = bent(hero, weights=morphs)
        pair = pictures(raster, hero, pose, weights=weights, camera=camera)
        check_same(pair)
        shapes.append(pair[1])
    assert (shapes[0] != shapes[1]).any(-1).mean() > 0.005
    assert (shapes[0] != shapes[2]).any(-1).mean() > 0.005


@pytest.mark.jit
def test_one_weight_is_another_picture(raster: Backend, mannequin: Character) -> None:
    """So that the pictures above do not agree because nothing depends on weights."""
    pose = mannequin.pose("kick", 0.5)
    camera = Camera((1, 1, 3), (0, 1, 0))
    multi = pictures(raster, mannequin, pose, weights="multi", camera=camera)
    one = pictures(raster, mannequin, pose, weights="one", camera=camera)
    assert (np.abs(multi[1] - one[1]).max(-1) > 3).mean() > 0.001


@pytest.mark.jit
@pytest.mark.parametrize(
    "settings",
    [
        EnvelopeSettings(split=False),
        EnvelopeSettings(search=False, order="original"),
        EnvelopeSettings(ids="consistent"),
    ],
    ids=str,
)
def test_however_the_envelope_was_made(
    raster: Backend, settings: EnvelopeSettings
) -> None:
    scene = tube()
    hero = Character(scene).with_envelopes(convert_scene(scene, settings)[0])
    check_same(pictures(raster, hero, bent(hero)))


@pytest.mark.jit
@pytest.mark.parametrize("root", [(-1, 1, 1), (1, -1, -1), (-1, -1, -1)])
@pytest.mark.parametrize("side", [1, -1])
def test_mirrors(raster: Backend, side: int, root: Any) -> None:
    """Mirrored or mirrored twice, seen from both sides, fronts are outside."""
    hero = Character(tube())
    scales = np.ones((5, 3))
    scales[0] = root
    pose = bent(hero, 0.3, scales=scales)
    camera = Camera((0.5, 0.5, 6 * side), (0, 0, 0), fov=0.8)
    check_same(pictures(raster, hero, pose, camera=camera))


def test_mirrored_parts_are_turned_around() -> None:
    """Normals of faces and of vertices are on the same side, part by part: of a tube
    and of a ball at a node of its own, one mirrored or the other or both.
    """
    scene = tube_and_ball()
    hero = Character(scene)
    for mirrors in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        scales = np.ones((6, 3))
        scales[[0, 5], 0] = mirrors
        store = RecordBackend()
        pose = bent(hero, 0.3, scales=scales)
        items, _ = by_parts(hero, dressed(store, scene), pose, "multi")
        assert len(items) > 2
        for item in items:
            faces = store.meshes[item.mesh].faces
            a, b, c = np.moveaxis(item.positions[faces].astype(float), 1, 0)
            out = np.cross(b - a, c - a)
            is_flat = np.linalg.norm(out, axis=1) < 1e-6
            along = (out * item.normals[faces].sum(1)).sum(1)
            assert (along > 0)[~is_flat].all()


# What is handed over


def test_items_are_the_parts_of_the_envelope() -> None:
    hero, store = Character(tube()), RecordBackend()
    dress = dressed(store, hero.scene)
    pose = bent(hero)
    ((surface,), _) = whole(hero, dress, pose, "multi")
    items, lines = by_parts(hero, dress, pose, "multi")
    envelope = hero.envelopes.multi
    assert not lines
    assert [item.part for item in items] == list(range(len(envelope.parts)))
    (own,) = store.meshes[:1]
    faces: list[Any] = []
    for part, item in enumerate(items):
        order = envelope.part_order(part)
        mesh = store.meshes[item.mesh]
        assert item.look == surface.look
        np.testing.assert_array_equal(mesh.texcoords, own.texcoords[order])
        np.testing.assert_allclose(item.positions, surface.positions[order], atol=1e-6)
        np.testing.assert_allclose(item.normals, surface.normals[order], atol=1e-5)
        faces += order[mesh.faces].tolist()
    assert sorted(faces) == sorted(own.faces.tolist())


def test_each_part_has_its_own_heat() -> None:
    """For the heat buffer, in any style; colours only where the style shows it."""
    hero, store = Character(tube()), RecordBackend()
    pose, envelope = bent(hero), hero.envelopes.multi
    for style in (DrawStyle(heat="node2"), DrawStyle(style="heat", heat="node2")):
        dress = dressed(store, hero.scene, style)
        ((surface,), _) = whole(hero, dress, pose, "multi")
        assert 0 < surface.heat.mean() < 1
        for part, item in enumerate(by_parts(hero, dress, pose, "multi")[0]):
            order = envelope.part_order(part)
            np.testing.assert_array_equal(item.heat, surface.heat[order])
            assert (item.colours is None) == (style.style != "heat")
            if item.colours is not None:
                np.testing.assert_array_equal(item.colours, surface.colours[order])


def test_the_area_may_be_overwritten() -> None:
    """Parts keep nothing of the buffer, which the next part is written to."""
    hero = Character(tube())
    envelope = hero.envelopes.multi
    sink = EnvelopeDraw(dressed(RecordBackend(), hero.scene), envelope)
    areas = {
        part: np.random.default_rng(part)
        .normal(size=(6, len(envelope.part_order(part))))
        .astype(np.float32)
        for part in range(len(envelope.parts))
    }
    for part, area in areas.items():
        given = area.copy()
        sink(part, given)
        given[:] = np.nan
    items, _ = sink.items(hero.pose().world)
    for part, item in enumerate(items):
        np.testing.assert_array_equal(item.positions, areas[part][:3].T)
        np.testing.assert_array_equal(item.normals, areas[part][3:].T)


def test_a_sink_is_used_for_many_frames() -> None:
    """The last frame is drawn, and nothing is uploaded again."""
    hero, store = Character(tube()), RecordBackend()
    dress = dressed(store, hero.scene)
    sink = EnvelopeDraw(dress, hero.envelopes.multi)
    state = hero.envelope_state("multi")
    count = len(store.meshes)
    for angle in (0.1, 0.7, 0.4):
        pose = bent(hero, angle)
        trace_envelope(state, pose.world, pose.weights, sink)
        items, _ = sink.items(pose.world)
        expected, _ = by_parts(
            hero, dressed(RecordBackend(), hero.scene), pose, "multi"
        )
        for item, wanted in zip(items, expected, strict=True):
            np.testing.assert_array_equal(item.positions, wanted.positions)
            np.testing.assert_array_equal(item.normals, wanted.normals)
    assert len(store.meshes) == count


def test_the_dress_stays_as_it_was() -> None:
    """The plain way still works with the dress that a sink was made of."""
    hero, store = Character(tube()), RecordBackend()
    dress, pose = dressed(store, hero.scene), bent(hero)
    before = whole(hero, dress, pose, "multi")[0]
    EnvelopeDraw(dress, hero.envelopes.multi)
    after = whole(hero, dress, pose, "multi")[0]
    assert [item.mesh for item in before] == [item.mesh for item in after]
    np.testing.assert_array_equal(before[0].positions, after[0].positions)


# Refusals


@pytest.mark.parametrize("style", ["cel", "lines", "wire"])
def test_strokes_are_refused(style: str) -> None:
    hero = Character(tube())
    dress = dressed(RecordBackend(), hero.scene, style)
    with pytest.raises(SettingError, match=r"strokes: parts .* are drawn without"):
        EnvelopeDraw(dress, hero.envelopes.multi)


def test_surfaces_that_are_partly_smooth_are_refused() -> None:
    hero = Character(tube())
    style = DrawStyle(style="flat", smooth=("node2",))
    dress = dressed(RecordBackend(), hero.scene, style)
    with pytest.raises(SettingError, match=r"smooth: parts .* smooth, or flat, whole"):
        EnvelopeDraw(dress, hero.envelopes.multi)
    # All of it, or nothing of it, will do.
    for names in (("tube",), ()):
        style = DrawStyle(style="flat", smooth=names)
        EnvelopeDraw(dressed(RecordBackend(), hero.scene, style), hero.envelopes.multi)


def test_a_surface_that_is_missing_is_refused(rng: Rng) -> None:
    dress = dressed(RecordBackend(), tube())
    other = convert_scene(random_scene(rng))[0].multi
    node, primitive = next(
        place for place in other.parts[:, :2].tolist() if place != [0, 0]
    )
    text = f"envelope: no primitive {primitive} at node {node}"
    with pytest.raises(ShapeError, match=text):
        EnvelopeDraw(dress, other)
