"""Characters drawn part by part: the same pictures as drawn whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character, Weights
from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawList
from flexor.draw.record.backend import RecordBackend
from flexor.draw.scene.fit import fit_camera
from flexor.draw.scene.style import DrawStyle
from flexor.draw.target import init_target
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.material import Material, TextureRef
from flexor.scene.character.mesh import Mesh, MorphTarget, Primitive
from flexor.scene.character.weights import SkinWeights
from flexor.scene.scene import Scene
from tests.draw.scene.parted import bent, by_parts, dressed, tube, whole
from tests.draw.scenes import png, skeleton, square, square_scene
from tests.draw.shapes import sphere

SIZE = (160, 120)

WHITE = (255, 255, 255, 255)

CHECKER = png(np.random.default_rng(1).integers(0, 256, (8, 8, 3)))


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
