from __future__ import annotations

import numpy as np
import pytest

from flexor.bench.draw_scene import (
    CAMERA,
    KINDS,
    assets,
    clip_from_world,
    list_for_frame,
    make_scene,
)
from flexor.errors import SettingError


@pytest.mark.parametrize(
    ("kind", "vertices", "triangles"),
    [
        ("humanoid", 5500, 10080),
        ("sphere", 5151, 10000),
        ("small_triangles", 100651, 200000),
    ],
)
def test_sizes(kind: str, vertices: int, triangles: int) -> None:
    scene = make_scene(kind, 2)
    assert scene.positions.shape == scene.normals.shape == (2, vertices, 3)
    assert scene.texcoords.shape == (vertices, 2)
    assert scene.faces.shape == (triangles, 3)
    assert scene.texture.shape == (512, 512, 4)
    np.testing.assert_allclose(np.linalg.norm(scene.normals, axis=-1), 1, rtol=1e-5)
    moved = (scene.positions[0] != scene.positions[1]).any(-1)
    assert moved.mean() > 0.9


def test_usual_frames() -> None:
    assert [usual for _, _, usual in KINDS.values()] == [64, 64, 4]


@pytest.mark.parametrize("kind", ["humanoid", "sphere"])
def test_faces_look_outward(kind: str) -> None:
    scene = make_scene(kind, 1)
    a, b, c = np.moveaxis(scene.positions[0][scene.faces].astype(np.float64), 1, 0)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert volume > 0.1


def test_small_triangles_are_three_pixels() -> None:
    scene = make_scene("small_triangles", 1)
    seen = CAMERA.project(scene.positions[0], (1280, 720))[:, :2][scene.faces]
    (x1, y1), (x2, y2) = (seen[:, n].T - seen[:, 0].T for n in (1, 2))
    area = -(x1 * y2 - x2 * y1) / 2  # rows go down
    assert area.min() > 0
    assert area.mean() == pytest.approx(3, rel=0.05)


def test_clip_matrix_is_the_camera() -> None:
    points = np.random.default_rng(1).uniform(-0.5, 0.5, (50, 3))
    size = (640, 480)
    clip = np.c_[points, np.ones(50)] @ clip_from_world(size).T
    x = (clip[:, 0] / clip[:, 3] + 1) * 320
    y = (1 - clip[:, 1] / clip[:, 3]) * 240
    expected = CAMERA.project(points, size)
    np.testing.assert_allclose(np.c_[x, y, clip[:, 3]], expected, atol=1e-3)


def test_lists_go_around() -> None:
    scene = make_scene("sphere", 2)
    first, third = (list_for_frame(scene, frame, 0, 0).items[0] for frame in (0, 2))
    assert np.shares_memory(first.positions, third.positions)
    mesh, texture = assets(scene)
    assert mesh.vertex_count == first.positions.shape[0]
    assert texture.has_mipmaps


def test_unknown_scene() -> None:
    with pytest.raises(SettingError, match="no scene 'teapot'; there are: humanoid"):
        make_scene("teapot")
