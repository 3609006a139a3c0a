"""Scenes as draw lists: what is uploaded, how it looks, which way faces go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.draw.drawlist import DrawItem, DrawLines, Look
from flexor.draw.record.backend import RecordBackend
from flexor.draw.scene.build import Dress, build_items, dress_scene
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.draw.scene.upload import SceneAssets, upload_scene
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.material import Material, TextureRef
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.scene import RootSet, Scene
from tests.draw.scenes import png, skeleton, square, square_scene
from tests.scenes import random_scene

Rng = np.random.Generator
WHITE = png(np.full((2, 2, 4), 255))


@pytest.fixture
def store() -> RecordBackend:
    return RecordBackend()


def build(
    scene: Scene, store: RecordBackend, style: DrawStyle | str = "shaded"
) -> tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]:
    assets, findings = upload_scene(store, scene)
    assert not findings
    return at_rest(dress_scene(assets, style_of(style)))


def at_rest(dress: Dress) -> tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]:
    hero = Character(dress.assets.scene)
    pose = hero.pose()
    skins = hero.deform(pose)
    positions, normals = [s.positions for s in skins], [s.normals for s in skins]
    return build_items(dress, positions, normals, pose.world)


# Uploading


def test_order_is_that_of_deform(rng: Rng, store: RecordBackend) -> None:
    scene = random_scene(rng)
    assets, _ = upload_scene(store, scene)
    skins = Character(scene).deform(Character(scene).pose())
    have = [(part.node, part.primitive) for part in assets.parts]
    assert have == [(skin.node, skin.primitive) for skin in skins]


def test_shared_meshes_and_textures_are_uploaded_once(store: RecordBackend) -> None:
    ref = TextureRef(0)
    scene = square_scene(
        Material(base_texture=ref, emissive=(1, 1, 1), emissive_texture=ref),
        WHITE,
        nodes=skeleton(3),
    )
    items, _ = build(scene, store)
    assert len(items) == 3
    assert [item.mesh for item in items] == [0, 0, 0]
    assert [item.part for item in items] == [0, 1, 2]
    assert (len(store.meshes), len(store.textures)) == (1, 1)
    assert items[0].look is not None
    assert (items[0].look.texture, items[0].look.emissive_texture) == (0, 0)


def test_only_what_is_shown(store: RecordBackend) -> None:
    nodes = skeleton(3, parents=np.array([-1, -1, 1]))
    scene = replace(
        square_scene(nodes=nodes), root_sets=(RootSet("main", (1,)),), default_set=0
    )
    assets, _ = upload_scene(store, scene)
    assert [part.node for part in assets.parts] == [1, 2]


def test_broken_texture_is_a_finding(store: RecordBackend) -> None:
    scene = square_scene(Material(base_texture=TextureRef(0)), b"broken")
    _, findings = upload_scene(store, scene)
    assert [f.code for f in findings] == ["missing-texture"]
    assert len(store.textures) == 1


def test_texture_coordinates_and_colours(store: RecordBackend) -> None:
    second = np.full((4, 2), 0.5, np.float32)
    colours = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], np.float32)
    primitive = square(
        texcoords=(np.zeros((4, 2)), second.copy()), colours=(colours.copy(),)
    )
    material = Material(base_texture=TextureRef(0, 1))
    upload_scene(store, square_scene(material, WHITE, primitive=primitive))
    (mesh,) = store.meshes
    np.testing.assert_array_equal(mesh.texcoords, second)
    np.testing.assert_array_equal(mesh.colours[:, :3], colours)
    assert (mesh.colours[:, 3] == 1).all()


def test_no_material_is_the_plain_look(store: RecordBackend) -> None:
    scene = square_scene(primitive=square(material=None))
    items, _ = build(scene, store)
    assert items[0].look == Look()


def test_seams_are_welded(store: RecordBackend) -> None:
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)] * 2, np.float32)
    upload_scene(store, square_scene(primitive=Primitive(corners, material=0)))
    assert store.meshes[0].welded.tolist() == [0, 1, 2, 0, 1, 2]


# Lines and points


@pytest.mark.parametrize(
    ("mode", "ends"),
    [
        (0, [(0, 0), (1, 1), (2, 2), (3, 3)]),
        (1, [(0, 1), (2, 3)]),
        (2, [(0, 1), (1, 2), (2, 3), (3, 0)]),
        (3, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_lines(mode: int, ends: Any, store: RecordBackend) -> None:
    colours = np.linspace(0, 1, 16).reshape(4, 4)
    primitive = square(mode=mode, indices=None, colours=(colours.copy(),))
    scene = square_scene(Material(base_colour=(0.5, 1, 1, 1)), primitive=primitive)
    items, (lines,) = build(scene, store)
    assert not items
    assert not store.meshes
    wanted = primitive.positions[np.array(ends)]
    np.testing.assert_allclose(lines.points, wanted, atol=1e-7)
    mixed = colours[np.array(ends)].mean(1) * (0.5, 1, 1, 1)
    np.testing.assert_allclose(lines.colours, mixed, atol=1e-6)


def test_nothing_to_draw(store: RecordBackend) -> None:
    for primitive in (
        Primitive(np.zeros((0, 3), np.float32)),
        Primitive(np.zeros((2, 3), np.float32)),
        square(mode=3, indices=[1]),
    ):
        assert build(square_scene(primitive=primitive), store) == ((), ())


# Mirrors


def normal_of(item: DrawItem, store: RecordBackend) -> Any:
    a, b, c = item.positions[store.meshes[item.mesh].faces[0]]
    return np.cross(b - a, c - a)


@pytest.mark.parametrize(
    ("scales", "turned"),
    [
        ([(1, 1, 1)], False),
        ([(-1, 1, 1)], True),
        ([(-1, -1, 1)], False),
        ([(-1, -1, -1)], True),
        ([(2, 3, -0.5)], True),
    ],
)
def test_mirrored_nodes_are_turned(
    scales: Any, turned: bool, store: RecordBackend
) -> None:
    scene = square_scene(nodes=skeleton(1, np.array(scales, np.float32)))
    (item,), _ = build(scene, store)
    assert item.mesh == int(turned)
    # Whatever the scale, the front is where the normal points.
    assert item.normals is not None
    assert normal_of(item, store) @ item.normals[0] > 0


def test_the_pose_decides(store: RecordBackend) -> None:
    assets, _ = upload_scene(store, square_scene())
    dress = dress_scene(assets, DrawStyle())
    hero = Character(assets.scene)

    def mesh(scale: float) -> int:
        pose = hero.pose_from(scales=np.array([[scale, 1, 1]]))
        (skin,) = hero.deform(pose)
        (item,), _ = build_items(dress, [skin.positions], [skin.normals], pose.world)
        return item.mesh

    assert [mesh(1), mesh(-1), mesh(1), mesh(-2)] == [0, 1, 0, 1]
    assert len(store.meshes) == 2


def test_mirrored_bind_matrices_count(rng: Rng, store: RecordBackend) -> None:
    scene = random_scene(rng)
    skin = scene.skins[0]
    binds = np.array(skin.inverse_binds)
    binds[:, 0] *= -1
    other = replace(scene, skins=(replace(skin, inverse_binds=binds),))
    flags = [
        [part.is_mirrored for part in upload_scene(store, s)[0].parts]
        for s in (scene, other)
    ]
    skinned = [part.guide != part.node for part in upload_scene(store, scene)[0].parts]
    assert [a != b for a, b in zip(*flags, strict=True)] == skinned
    assert any(skinned)


def test_odd_worlds_do_not_fail(store: RecordBackend) -> None:
    assets, _ = upload_scene(store, square_scene())
    dress = dress_scene(assets, DrawStyle())
    world = np.full((1, 3, 4), np.nan, np.float32)
    places = np.zeros((4, 3), np.float32)
    for value in (np.nan, np.inf, 1e38, 0):
        world[:] = value
        items, _ = build_items(dress, [places], [places], world)
        assert items[0].mesh == 0


# Styles


def dressed(
    style: DrawStyle | str, store: RecordBackend, scene: Scene | None = None
) -> DrawItem:
    (item,), _ = build(scene or square_scene(Material(unlit=False)), store, style)
    return item


@pytest.mark.parametrize(
    ("style", "shading"),
    [
        ("shaded", "pixel"),
        ("gouraud", "vertex"),
        ("flat", "flat"),
        ("unlit", "unlit"),
        ("cel", "cel"),
        ("lines", "unlit"),
        ("wire", "pixel"),
        ("ghost", "pixel"),
    ],
)
def test_shadings(style: str, shading: str, store: RecordBackend) -> None:
    item = dressed(style, store)
    assert item.look is not None
    assert item.look.shading == shading
    assert (item.look.opacity < 1) == (style == "ghost")
    assert (item.strokes is not None) == (style in ("cel", "lines", "wire"))
    # Light needs normals, flat light does not.
    assert (item.normals is None) == (shading == "flat")


def test_unlit_materials_stay_unlit(store: RecordBackend) -> None:
    for style in ("shaded", "gouraud", "flat", "cel", "wire", "ghost"):
        item = dressed(style, store, square_scene(Material(unlit=True)))
        assert item.look is not None
        assert item.look.shading == "unlit"


def test_files_without_normals_are_flat(store: RecordBackend) -> None:
    scene = square_scene(primitive=square(normals=None))
    for style in ("shaded", "gouraud"):
        item = dressed(style, store, scene)
        assert item.look is not None
        assert item.look.shading == "flat"


def test_lines_are_on_white(store: RecordBackend) -> None:
    scene = square_scene(Material(base_colour=(1, 0, 0, 1), double_sided=True))
    item = dressed(DrawStyle(style="lines", line_width=3), store, scene)
    assert item.look == Look(cull="none", shading="unlit")
    assert item.strokes is not None
    assert item.strokes.silhouette
    assert item.strokes.border
    assert item.strokes.width == 3


def test_heat(rng: Rng, store: RecordBackend) -> None:
    scene = random_scene(rng)
    scene = replace(scene, meshes=tuple(_with_faces(mesh) for mesh in scene.meshes))
    joint = scene.skeleton.names[int(scene.skins[0].joints[0])]
    items, _ = build(scene, store, DrawStyle(style="heat", heat=joint))
    assert any(item.heat is not None and item.heat.any() for item in items)
    assert all(item.colours is not None for item in items)
    # Any style can fill the buffer without the colours.
    items, _ = build(scene, store, DrawStyle(heat=joint))
    assert all(item.heat is not None and item.colours is None for item in items)


def _with_faces(mesh: Mesh) -> Mesh:
    rows = [np.arange(len(p) // 3 * 3, dtype=np.uint32) for p in mesh.primitives]
    return replace(
        mesh,
        primitives=tuple(
            replace(p, indices=row)
            for p, row in zip(mesh.primitives, rows, strict=True)
        ),
    )


def test_smooth_parts_by_name(store: RecordBackend) -> None:
    nodes = skeleton(2)
    for name, shadings in (
        ("node1", ["flat", "pixel"]),
        ("paint", ["pixel", "pixel"]),
        ("square", ["pixel", "pixel"]),
    ):
        items, _ = build(
            square_scene(nodes=nodes), store, DrawStyle(smooth=(name,), style="flat")
        )
        # Whole parts need no mesh of their own.
        assert [item.look.shading for item in items if item.look] == shadings
    items, _ = build(square_scene(nodes=nodes), store, DrawStyle(smooth=()))
    assert [item.look.shading for item in items if item.look] == ["flat", "flat"]


def test_smooth_parts_by_joint(rng: Rng, store: RecordBackend) -> None:
    scene = random_scene(rng)
    scene = replace(scene, meshes=tuple(_with_faces(mesh) for mesh in scene.meshes))
    joints = [scene.skeleton.names[j] for j in scene.skins[0].joints[:2].tolist()]
    items, _ = build(scene, store, DrawStyle(smooth=tuple(joints)))
    masks = [store.meshes[item.mesh].smooth for item in items]
    mixed = [mask for mask in masks if mask is not None]
    assert mixed
    assert all(mask.any() and not mask.all() for mask in mixed)


# Refusals


def test_refusals(store: RecordBackend) -> None:
    assets, _ = upload_scene(store, square_scene())
    with pytest.raises(SettingError, match="no node 'tail'"):
        dress_scene(assets, DrawStyle(heat="tail"))
    with pytest.raises(SettingError, match="no node, mesh or material is called 'x'"):
        dress_scene(assets, DrawStyle(smooth=("x",)))
    with pytest.raises(SettingError, match="style: 'blue'"):
        style_of("blue")
    with pytest.raises(SettingError, match="which joint"):
        style_of("heat")
    with pytest.raises(SettingError, match="as a tuple"):
        DrawStyle(smooth="head")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="floor"):
        DrawStyle(floor=np.nan)
    with pytest.raises(ShapeError, match="0 parts, expected 1"):
        build_items(dress_scene(assets, DrawStyle()), [], [], np.zeros((1, 3, 4)))


def test_assets_name_their_scene(store: RecordBackend) -> None:
    assets, _ = upload_scene(store, square_scene())
    assert isinstance(assets, SceneAssets)
    assert assets.backend is store
    assert "_lock" not in repr(assets)
