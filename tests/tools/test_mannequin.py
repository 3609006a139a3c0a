"""The built-in figure: a sound mesh, feet that stay put, loops without a jump."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from tests.made import kept

LEFT = ("l-hip", "l-hip-roll", "l-knee", "l-knee-roll", "l-ankle", "l-foot", "l-toe")
LOOPS = ["idle", "walk", "run", "stance", "sidestep", "cheer"]
CLIPS = [
    *("idle", "walk", "run", "punch", "kick", "jump", "fall", "stance", "guard"),
    *("parry", "hit", "recoil", "sidestep", "spin-kick", "cheer"),
]
FINGERS = ("thumb", "index", "middle", "ring", "pinky")


@cache
def hero() -> Character:
    return flexor.samples.mannequin()


def welded() -> tuple[Any, Any]:
    """Distinct positions and faces; seams of the texture are closed."""
    (primitive,) = hero().meshes[0].primitives
    points, rows = np.unique(primitive.positions, axis=0, return_inverse=True)
    return points, rows[primitive.triangles()]


def skin_at(clip: str, times: Any) -> Any:
    (part,) = hero().deform_many(hero().pose_many(clip, times))
    return part.positions


def test_nodes_are_those_of_the_table() -> None:
    names = hero().skeleton.names
    assert names[0] == "hips"
    assert names[1:8] == LEFT
    assert names[8:15] == tuple("r" + name[1:] for name in LEFT)
    assert names[15:20] == ("spine0", "spine1", "chest", "neck", "head")
    for side in "lr":
        arm = ("shoulder", "arm", "arm-roll", "elbow", "elbow-roll", "wrist", "hand")
        assert {f"{side}-{part}" for part in arm} <= set(names)
        for finger in FINGERS:
            assert sum(n.startswith(f"{side}-{finger}") for n in names) == 3
    parents = hero().skeleton.parents
    assert (parents < np.arange(len(names))).all(), "parents come first"


def test_size_and_stance() -> None:
    (part,) = hero().deform(hero().pose())
    low, high = part.positions.min(0), part.positions.max(0)
    assert 1.75 < high[1] < 1.85
    assert abs(low[1]) < 0.01
    assert abs(low[0] + high[0]) < 1e-3, "left and right are the same"
    toe, heel = hero().skeleton.index("l-toe"), hero().skeleton.index("l-ankle")
    world = hero().pose().world
    assert world[toe, 2, 3] > world[heel, 2, 3], "it looks along +z"
    assert world[toe, 0, 3] > 0, "its left is +x"


def test_skin_is_one_closed_surface() -> None:
    points, faces = welded()
    assert 3500 <= len(points) <= 4500
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    distinct, uses = np.unique(edges, axis=0, return_counts=True)
    assert (uses == 2).all()
    assert len(points) - len(distinct) + len(faces) == 2, "a sphere by its genus"
    corners = points[faces].astype(np.float64)
    volume = np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    assert 0.03 < volume / 6 < 0.09, "faces look outward; the size of a body"
    sides = corners[:, 1:] - corners[:, :1]
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
    assert area.min() > 1e-6


def test_normals_agree_with_the_faces() -> None:
    (primitive,) = hero().meshes[0].primitives
    corners = primitive.positions[primitive.triangles()].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    assert primitive.normals is not None
    mean = primitive.normals[primitive.triangles()].mean(1)
    assert (np.einsum("fi,fi->f", across, mean) > 0.3).all()


def test_weights_are_few_and_whole() -> None:
    (primitive,) = hero().meshes[0].primitives
    assert primitive.skin is not None
    np.testing.assert_allclose(primitive.skin.weights.sum(1), 1, atol=1e-6)
    assert primitive.skin.weights.shape[1] == 4
    names = np.array(hero().skeleton.names)[primitive.skin.joints]
    sides = np.char.startswith(names, "l-") & (primitive.skin.weights > 0.1)
    left = sides.any(1)
    assert (primitive.positions[left, 0] > -0.02).all(), "nothing hangs across the body"


def test_clips_are_there_and_say_their_speed() -> None:
    clips = hero().clips
    assert list(clips) == CLIPS
    extras = {name: (clip.carried or {})["extras"] for name, clip in clips.items()}
    assert 1.0 < extras["walk"]["speed"] < 1.8
    assert 2.5 < extras["run"]["speed"] < 4.5
    assert extras["sidestep"]["velocity"] == [1.1, 0, 0]
    assert extras["sidestep"]["speed"] == 1.1
    assert [name for name in clips if extras[name]["loop"]] == LOOPS
    moving = [name for name in clips if extras[name]["speed"]]
    assert moving == ["walk", "run", "sidestep"]
    assert moving == [name for name in clips if "velocity" in extras[name]]


def test_joints_that_are_held_have_two_keys() -> None:
    tracks = hero().clips["kick"].tracks
    thumb = hero().skeleton.index("l-thumb0")
    (held,) = (track for track in tracks if track.node == thumb)
    assert len(held.times) == 2
    assert held.times[-1] == tracks[0].times[-1]
    np.testing.assert_array_equal(held.values[0], held.values[1])


@pytest.mark.slow
@pytest.mark.parametrize("clip", LOOPS)
def test_loops_close_without_a_jump(clip: str) -> None:
    duration = hero().clips[clip].duration
    step = 1 / 60
    times = np.arange(0, duration + step / 2, step)
    points = skin_at(clip, times).astype(np.float64)
    assert np.abs(points[-1] - points[0]).max() < 1e-5
    around = np.concatenate([points[:-1], points[:2]])
    speed = np.diff(around, axis=0) / step
    change = np.linalg.norm(np.diff(speed, axis=0), axis=-1).max(axis=1)
    assert change[-1] <= change[:-1].max(), "the seam is no rougher than the rest"


@pytest.mark.slow
@pytest.mark.parametrize("clip", ["walk", "run", "sidestep"])
def test_feet_in_contact_do_not_slide(clip: str) -> None:
    duration = hero().clips[clip].duration
    velocity = (hero().clips[clip].carried or {})["extras"]["velocity"]
    times = np.arange(0, 2 * duration, 1 / 240)
    points = skin_at(clip, times % duration).astype(np.float64)
    points += np.multiply.outer(times, velocity)[:, None]  # the ground stands still
    touches = points[:, :, 1] < 0.005
    assert touches.any(axis=1).mean() > 0.4, "it stands on the ground for a good part"
    worst = 0.0
    for vertex in np.nonzero(touches.any(0))[0]:
        on = touches[:, vertex].astype(int)
        changes = np.nonzero(np.diff(np.concatenate([[0], on, [0]])))[0]
        for start, end in changes.reshape(-1, 2):
            path = points[start:end, vertex][:, [0, 2]]
            gap = np.linalg.norm(path - path[0], axis=1).max()
            worst = max(worst, float(gap))
    assert worst < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("clip", CLIPS)
def test_nothing_goes_through_the_floor(clip: str) -> None:
    times = np.arange(0, hero().clips[clip].duration, 1 / 60)
    assert skin_at(clip, times)[:, :, 1].min() > -0.03


def made_by(make: Callable[[], Any]) -> Any:
    """What the maker gives, made once for each state of its source and its tools."""
    tools = ("numpy", "scipy", "scikit-image", "fast-simplification", "pillow")
    folder = Path(inspect.getfile(make)).parent
    texts = [(file.name, file.read_bytes()) for file in sorted(folder.glob("*.py"))]
    return kept(make, texts, [(name, version(name)) for name in tools])()


@pytest.mark.slow
def test_making_it_again_gives_the_same() -> None:
    pytest.importorskip("skimage", reason="the maker needs flexor[sample]")
    pytest.importorskip("fast_simplification", reason="the maker needs flexor[sample]")
    from PIL import Image

    from tools.mannequin.field import BodyField
    from tools.mannequin.make import make_mannequin
    from tools.mannequin.nodes import build_nodes
    from tools.mannequin.scene import make_scene

    made, shipped = make_scene(made_by(make_mannequin)), hero().scene
    assert made.skeleton.names == shipped.skeleton.names
    for name in ("translations", "rotations"):
        a, b = getattr(made.skeleton, name), getattr(shipped.skeleton, name)
        np.testing.assert_allclose(a, b, atol=1e-6)
    for name, clip in shipped.clips.items():
        for a, b in zip(made.clips[name].tracks, clip.tracks, strict=True):
            assert (a.node, a.path) == (b.node, b.path)
            np.testing.assert_allclose(a.values, b.values, atol=1e-5)
    a, b = made.meshes[0].primitives[0], shipped.meshes[0].primitives[0]
    if np.array_equal(a.triangles(), b.triangles()):
        for field in dataclasses.fields(a):
            if field.name in ("positions", "normals"):
                pair = getattr(a, field.name), getattr(b, field.name)
                np.testing.assert_allclose(*pair, atol=1e-5)
        np.testing.assert_allclose(a.skin.weights, b.skin.weights, atol=1e-4)
        # On another processor the surface can be laid out otherwise in the texture.
        grains = [
            np.asarray(Image.open(BytesIO(one.images[0].data)).convert("RGB"), int)
            for one in (made, shipped)
        ]
        assert grains[0].shape == grains[1].shape
        if np.allclose(a.texcoords[0], b.texcoords[0], atol=1e-4):
            assert np.abs(grains[0] - grains[1]).max() <= 2
        colours = [grain.mean((0, 1)) for grain in grains]
        np.testing.assert_allclose(*colours, atol=6)
        assert 0 <= a.texcoords[0].min() < a.texcoords[0].max() <= 1
        return
    # On another processor the last bit of the field can differ, and with it the order
    # in which edges are collapsed: then the surface must still be the same one.
    assert len(a) == pytest.approx(len(b), rel=0.02)
    distance = BodyField(build_nodes()).distance(b.positions.astype(np.float64))
    assert np.abs(distance).max() < 1e-3
