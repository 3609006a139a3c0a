"""Strokes: which edges, and which of them can be seen.

Strokes on a surface that is not drawn itself must cover what the same edges cover as
plain lines.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawLines, DrawMesh, Look, Strokes
from flexor.scene.character.camera import Camera
from tests.draw.shapes import (
    Shape,
    cube,
    draw,
    floats,
    plane,
    put,
    rectangle,
    sphere,
    welded,
)

SIZE = (72, 64)
CORNER_VIEW = Camera((2.2, 1.9, 3.1), (0, 0, 0), fov=0.9)
FLAT_VIEW = Camera((2.2, 1.9, 3.1), (0, 0, 0), height=4.2)
VIEWS = pytest.mark.parametrize("camera", [CORNER_VIEW, FLAT_VIEW], ids=["eye", "flat"])


def stroked(
    backend: Backend, shape: Shape, strokes: Strokes, camera: Camera, **more: Any
) -> Any:
    """Pixels (H, W) that the strokes of a shape without surface cover."""
    item = put(backend, shape, None, strokes=strokes, **more)
    target = draw(backend, SIZE, item, camera=camera, buffers=("part",))
    return target.part >= 0


def lined(backend: Backend, points: Any, width: float, camera: Camera) -> Any:
    """Pixels that plain lines cover."""
    points = floats(np.asarray(points).reshape(-1, 2, 3))
    lines = DrawLines(points, floats([0, 0, 0, 1]), width)
    target = draw(backend, SIZE, lines=[lines], camera=camera, buffers=("part",))
    return target.part >= 0


def cube_edges(half: float = 1.0) -> list[Any]:
    """The twelve edges (2, 3)."""
    corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T * half
    return [
        np.array([a, b])
        for n, a in enumerate(corners)
        for b in corners[n + 1 :]
        if (a != b).sum() == 1
    ]


def same(have: Any, wanted: Any) -> None:
    assert wanted.any()
    assert (have != wanted).sum() <= 2


@VIEWS
def test_silhouette_of_a_cube(backend: Backend, camera: Camera) -> None:
    """From a corner: the six edges between the three seen faces and the others."""
    box = cube()
    strokes = Strokes(width=2, silhouette=True)
    have = stroked(backend, box, strokes, camera, welded=welded(box.positions))
    # An edge is outer if one of its two faces looks to the camera (x, y or z = 1).
    outer = []
    for edge in cube_edges():
        fixed = edge[0][edge[0] == edge[1]]
        if fixed.sum() == 0:
            outer.append(edge)
    assert len(outer) == 6
    same(have, lined(backend, outer, 2, camera))


@VIEWS
@pytest.mark.parametrize("is_quad", [True, False])
def test_creases_of_a_cube(backend: Backend, camera: Camera, is_quad: bool) -> None:
    """All twelve edges are bent by a quarter turn; the diagonals are not."""
    box = cube(is_quad=is_quad)
    join = welded(box.positions)
    for crease in (0.1, 1.5):
        strokes = Strokes(width=2, crease=crease)
        have = stroked(backend, box, strokes, camera, welded=join)
        same(have, lined(backend, cube_edges(), 2, camera))
    strokes = Strokes(width=2, crease=1.6)
    assert not stroked(backend, box, strokes, camera, welded=join).any()


@VIEWS
def test_wire_of_a_cube(backend: Backend, camera: Camera) -> None:
    """Quads have four edges; triangles also their diagonal."""
    strokes = Strokes(width=1.5, wire=True)
    quads = cube(is_quad=True)
    have = stroked(backend, quads, strokes, camera, welded=welded(quads.positions))
    same(have, lined(backend, cube_edges(), 1.5, camera))
    triangles = cube(is_quad=False)
    join = welded(triangles.positions)
    have = stroked(backend, triangles, strokes, camera, welded=join)
    diagonals = [triangles.positions[face[[0, 2]]] for face in triangles.faces[::2]]
    assert len(diagonals) == 6
    same(have, lined(backend, [*cube_edges(), *diagonals], 1.5, camera))


@VIEWS
def test_border_is_where_no_other_face_is(backend: Backend, camera: Camera) -> None:
    """A box without its lid has four border edges; a closed one none."""
    box = cube()
    join = welded(box.positions)
    strokes = Strokes(width=2, border=True)
    assert not stroked(backend, box, strokes, camera, welded=join).any()
    is_lid = (box.positions[box.faces][..., 1] > 0).all(1)
    open_box = Shape(box.positions, box.faces[~is_lid], box.normals)
    have = stroked(backend, open_box, strokes, camera, welded=join)
    rim = [edge for edge in cube_edges() if (edge[:, 1] > 0).all()]
    assert len(rim) == 4
    same(have, lined(backend, rim, 2, camera))


def test_faces_that_are_not_welded_do_not_meet(backend: Backend) -> None:
    """Without `welded` the faces of this cube stand alone: each edge is a border."""
    box = cube()
    have = stroked(backend, box, Strokes(width=2, border=True), CORNER_VIEW)
    same(have, lined(backend, cube_edges(), 2, CORNER_VIEW))
    for strokes in (Strokes(width=2, silhouette=True), Strokes(width=2, crease=0.1)):
        assert not stroked(backend, box, strokes, CORNER_VIEW).any()


def test_kinds_add_up(backend: Backend) -> None:
    """An edge that is both is drawn once; both kinds together cover both."""
    box = cube()
    join = welded(box.positions)
    each = [
        stroked(backend, box, strokes, CORNER_VIEW, welded=join)
        for strokes in (
            Strokes(width=2, silhouette=True),
            Strokes(width=2, crease=0.5),
            Strokes(width=2, silhouette=True, crease=0.5),
        )
    ]
    assert (each[2] == (each[0] | each[1])).all()


@pytest.mark.parametrize("height", [None, 2.6], ids=["eye", "flat"])
def test_silhouette_of_a_sphere(backend: Backend, height: float | None) -> None:
    """A ring near the outline, closed all around, and nothing inside."""
    ball = sphere(1, 32, 64)
    camera = Camera((0, 0.8, 4), (0, 0, 0), fov=0.65, height=height)
    strokes = Strokes(width=2, silhouette=True)
    have = stroked(backend, ball, strokes, camera, welded=welded(ball.positions))
    distance = math.hypot(0.8, 4)
    if height is None:
        radius = camera.scale(SIZE) * math.tan(math.asin(1 / distance))
    else:
        radius = camera.scale(SIZE)
    row, column = np.nonzero(have)
    x, y = column + 0.5 - SIZE[0] / 2, row + 0.5 - SIZE[1] / 2
    assert np.hypot(x, y).min() > radius * 0.97 - 2
    assert np.hypot(x, y).max() < radius + 2
    angles = np.floor((np.arctan2(y, x) + np.pi) / (2 * np.pi) * 90)
    assert len(np.unique(angles)) >= 90


FRONT_VIEW = Camera((0.9, 1.2, 3.6), (0, 0, 0), fov=0.9)


def red_box(backend: Backend, camera: Camera, **more: Any) -> Any:
    """Pixels (H, W) that are red in the picture of a white cube with red edges."""
    box = cube()
    item = put(
        backend,
        box,
        Look(shading="unlit"),
        strokes=Strokes(width=2, crease=0.5, colour=(1, 0, 0, 1)),
        welded=welded(box.positions),
    )
    picture = draw(backend, SIZE, item, camera=camera, **more).colour
    return (picture == [255, 0, 0, 255]).all(-1)


@pytest.mark.parametrize("order", ["depth", "sort"])
def test_surface_hides_strokes_behind_it(backend: Backend, order: Any) -> None:
    """The three hidden edges of a cube are not seen, the other nine are."""
    is_red = red_box(backend, FRONT_VIEW, order=order)
    for edge in cube_edges():
        x, y, _ = FRONT_VIEW.project(edge.mean(0), SIZE).astype(int)
        # The camera sees the faces at x = 1, y = 1 and z = 1.
        is_seen = (edge == 1).all(0).any()
        assert is_red[y - 1 : y + 2, x - 1 : x + 2].any() == is_seen, edge.tolist()


@pytest.mark.parametrize("order", ["depth", "sort"])
def test_edges_of_seen_faces_are_not_broken(backend: Backend, order: Any) -> None:
    """A stroke wins against its own surface, all along between two seen faces."""
    is_red = red_box(backend, CORNER_VIEW, order=order)
    for edge in cube_edges():
        if (edge == 1).all(0).sum() == 2:
            along = edge[0] + (edge[1] - edge[0]) * np.linspace(0.02, 0.98, 60)[:, None]
            x, y, _ = CORNER_VIEW.project(along, SIZE).astype(int).T
            assert is_red[y, x].mean() > 0.97, edge.tolist()


def test_other_things_hide_strokes(backend: Backend) -> None:
    """A wall before the cube hides them; layer 1 does not care."""
    box = cube()
    wall = rectangle(SIZE)
    right, up, back = CORNER_VIEW.axes()
    corners = np.array([(-9, 9), (-9, -9), (9, -9), (9, 9)], np.float64)
    wall.positions = floats(corners @ [right, up] + back * 3)
    front = put(backend, wall, Look(shading="unlit"), part=1)
    strokes = Strokes(width=2, crease=0.5, colour=(1, 0, 0, 1))
    join = welded(box.positions)
    for layer, is_seen in ((0, False), (1, True)):
        item = put(backend, box, None, strokes=strokes, welded=join, layer=layer)
        picture = draw(backend, SIZE, [item, front], camera=CORNER_VIEW).colour
        assert (picture[..., 1] == 0).any() == is_seen


def test_strokes_have_the_part_and_no_normal(backend: Backend) -> None:
    ground = plane()
    strokes = Strokes(width=3, border=True)
    item = put(backend, ground, None, strokes=strokes, part=9)
    target = draw(
        backend,
        SIZE,
        item,
        camera=CORNER_VIEW,
        buffers=("part", "normal", "heat", "depth"),
        background=(255, 255, 255, 255),
    )
    drawn = target.part == 9
    assert drawn.any()
    assert (target.part[~drawn] == -1).all()
    assert not target.normal.any()
    assert np.isnan(target.heat).all()
    assert (target.colour[drawn] == [0, 0, 0, 255]).all()
    # Pulled forward a little, no more.
    seen = CORNER_VIEW.project(ground.positions, SIZE)[:, 2]
    assert target.depth[drawn].min() > seen.min() * 0.9
    assert target.depth[drawn].max() <= seen.max() * 1.001


def test_seen_through_strokes(backend: Backend) -> None:
    """Alpha below one is blended and not in the buffers."""
    ground = plane()
    strokes = Strokes(width=3, border=True, colour=(1, 1, 1, 0.5))
    item = put(backend, ground, None, strokes=strokes)
    target = draw(backend, SIZE, item, camera=CORNER_VIEW, buffers=("part",))
    levels = set(np.unique(target.colour[..., 0]))
    assert {0, 188} <= levels <= {0, 188, 225}
    assert (target.part == -1).all()


def test_strokes_of_many(backend: Backend) -> None:
    """Each of N has its own silhouette, from where it stands."""
    ball = sphere(0.4, 10, 16)
    move = np.array([[-1, 0, 0], [1, 0.3, -1]], np.float32)[:, None]
    together = Shape(floats(ball.positions + move), ball.faces)
    mesh_rows = len(ball.positions)
    join = welded(ball.positions)
    mesh = backend.upload(DrawMesh(mesh_rows, ball.faces.copy(), welded=join.copy()))
    strokes = Strokes(width=2, silhouette=True)
    camera = Camera((0, 0.5, 4), (0, 0, 0))
    more = {"camera": camera, "buffers": ("part",)}
    both = DrawItem(mesh, together.positions, look=None, strokes=strokes)
    have = draw(backend, SIZE, both, **more).part >= 0
    alone = [
        DrawItem(mesh, floats(positions), look=None, strokes=strokes)
        for positions in together.positions
    ]
    wanted = draw(backend, SIZE, alone, **more).part >= 0
    assert (have == wanted).all()
    assert have[:, :36].any()
    assert have[:, 36:].any()


def test_no_strokes_asked_for(backend: Backend) -> None:
    """Nothing switched on: nothing drawn."""
    assert not stroked(backend, cube(), Strokes(), CORNER_VIEW).any()


def test_edges_that_are_not_finite_are_left_out(backend: Backend) -> None:
    box = cube()
    box.positions = box.positions.copy()
    box.positions[0] = np.nan
    have = stroked(backend, box, Strokes(width=2, wire=True), CORNER_VIEW)
    assert have.any()
