"""What every backend does: numbers, refusals, empty pictures, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend, backend_names, open_backend
from flexor.draw.drawlist import (
    DrawItem,
    DrawLines,
    DrawList,
    DrawMesh,
    DrawTexture,
    Look,
    Strokes,
)
from flexor.draw.record.backend import RecordBackend
from flexor.draw.target import init_target
from flexor.errors import BackendError, SettingError, ShapeError
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from tests.draw.shapes import (
    SEEN_THROUGH,
    UNLIT,
    Shape,
    checker,
    cube,
    draw,
    floats,
    pixel_camera,
    plane,
    put,
    put_texture,
    rectangle,
    sphere,
    welded,
)

SIZE = (24, 18)
ALL = ("depth", "normal", "part", "heat")


def test_unknown_name() -> None:
    with pytest.raises(SettingError, match="no backend 'paint'; there are: raster"):
        open_backend("paint")


def test_all_can_be_opened() -> None:
    assert backend_names() == ["raster", "record"]
    for name in backend_names():
        open_backend(name).close()


def test_meshes_and_textures_are_counted_apart(any_backend: Backend) -> None:
    mesh = rectangle(SIZE).mesh()
    texture = DrawTexture(checker(4))
    uploads = [any_backend.upload(a) for a in (mesh, texture, mesh, mesh, texture)]
    assert uploads == [0, 0, 1, 2, 1]


def test_gives_the_colour_of_the_target(any_backend: Backend) -> None:
    target = init_target(SIZE)
    draw_list = DrawList(pixel_camera(SIZE), background=(1, 2, 3, 4))
    assert any_backend.draw(draw_list, target) is target.colour
    assert (target.colour == [1, 2, 3, 4]).all()


@pytest.mark.parametrize("samples", [1, 4])
def test_nothing_to_draw(any_backend: Backend, samples: int) -> None:
    """No items; items without faces, without vertices, without any of N, and without
    a look: the background, and empty buffers.
    """
    none = DrawMesh(0, np.zeros((0, 3), np.int32))
    no_faces = DrawMesh(4, np.zeros((0, 3), np.int32))
    no_quads = DrawMesh(4, np.zeros((0, 4), np.int32))
    shape = rectangle(SIZE)
    numbers = [any_backend.upload(m) for m in (none, no_faces, no_quads, shape.mesh())]
    wire = Strokes(wire=True)
    items = [
        DrawItem(numbers[0], floats(np.zeros((0, 3)))),
        DrawItem(numbers[0], floats(np.zeros((3, 0, 3))), strokes=wire),
        DrawItem(numbers[1], shape.positions, strokes=wire),
        DrawItem(numbers[2], shape.positions, strokes=wire),
        DrawItem(numbers[3], floats(np.zeros((0, 4, 3))), strokes=wire),
        DrawItem(numbers[3], shape.positions, look=None),
        DrawItem(numbers[3], floats(np.zeros((0, 4, 3))), look=SEEN_THROUGH),
    ]
    lines = DrawLines(floats(np.zeros((0, 2, 3))), floats([1, 1, 1, 1]))
    for some, more in ((items, [lines]), ([], []), (items[:1], [])):
        for order in ("depth", "sort"):
            target = draw(
                any_backend,
                SIZE,
                some,
                lines=more,
                samples=samples,
                buffers=ALL,
                order=order,
            )
            assert (target.colour == [0, 0, 0, 255]).all()
            assert (target.depth == np.inf).all()
            assert (target.normal == 0).all()
            assert (target.part == -1).all()
            assert np.isnan(target.heat).all()
            assert target.skipped == 0


def test_one_pixel(backend: Backend) -> None:
    size = (1, 1)
    item = put(backend, rectangle(size), heat=floats([2, 2, 2, 2]), part=3)
    for samples in (1, 4):
        target = draw(backend, size, item, samples=samples, buffers=ALL)
        assert target.colour.tolist() == [[[255] * 4]]
        assert target.part.tolist() == [[3]]
        assert target.heat.tolist() == [[2]]
        assert target.depth.tolist() == [[100]]


def item_of(mesh: int, **more: Any) -> DrawItem:
    return DrawItem(mesh, floats(np.zeros((more.pop("vertices", 4), 3))), **more)


@pytest.mark.parametrize(
    ("item", "error", "text"),
    [
        (item_of(1), SettingError, r"items\[1\]: mesh 1 of 1 uploaded"),
        (item_of(-1), SettingError, r"items\[1\]: mesh -1 of 1 uploaded"),
        (item_of(0, vertices=5), ShapeError, r"items\[1\]: 5 positions .* 4 vertices"),
        (item_of(0, look=Look(texture=1)), SettingError, "texture 1 of 1 uploaded"),
        (item_of(0, look=Look(texture=-2)), SettingError, "texture -2 of 1 uploaded"),
        (
            item_of(0, look=Look(emissive_texture=4)),
            SettingError,
            "texture 4 of 1 uploaded",
        ),
    ],
)
def test_wrong_numbers(
    any_backend: Backend, item: DrawItem, error: type[Exception], text: str
) -> None:
    """Refused before anything is drawn."""
    any_backend.upload(DrawMesh(4, np.array([[0, 1, 2]])))
    any_backend.upload(DrawTexture(checker(2)))
    target = init_target(SIZE)
    target.colour[:] = 77
    with pytest.raises(error, match=text):
        any_backend.draw(DrawList(Camera(), [item_of(0), item]), target)
    assert (target.colour == 77).all()


def test_closed(any_backend: Backend) -> None:
    """Closing again is allowed, using it is not."""
    mesh = rectangle(SIZE).mesh()
    any_backend.upload(mesh)
    any_backend.close()
    any_backend.close()
    with pytest.raises(BackendError, match="closed"):
        any_backend.upload(mesh)
    with pytest.raises(BackendError, match="closed"):
        any_backend.draw(DrawList(Camera()), init_target(SIZE))


def test_backends_know_nothing_of_each_other(any_backend: Backend) -> None:
    other = type(any_backend)()
    any_backend.upload(rectangle(SIZE).mesh())
    with pytest.raises(SettingError, match="mesh 0 of 0 uploaded"):
        other.draw(DrawList(Camera(), [item_of(0)]), init_target(SIZE))


def test_record_keeps_lists() -> None:
    backend = RecordBackend()
    shape = rectangle(SIZE)
    item = put(backend, shape)
    draw(backend, SIZE, item)
    draw(backend, SIZE)
    assert [len(kept.items) for kept in backend.lists] == [1, 0]
    assert backend.lists[0].items[0] is item
    assert len(backend.meshes) == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"colour": np.zeros((18, 24, 3), np.uint8)}, "colour: shape"),
        ({"colour": np.zeros((18, 24, 4), np.float32)}, "colour: float32"),
        ({"colour": np.zeros((18, 48, 4), np.uint8)[:, ::2]}, "colour: .*C-ordered"),
        ({"depth": np.zeros((18, 23), np.float32)}, "depth: shape"),
        ({"normal": np.zeros((18, 24), np.float32)}, "normal: shape"),
        ({"part": np.zeros((18, 24), np.int64)}, "part: int64"),
        ({"heat": np.zeros((24, 18), np.float32)}, "heat: shape"),
    ],
)
def test_wrong_arrays_in_the_target(
    raster: Backend, change: dict[str, Any], text: str
) -> None:
    """Kernels write where these arrays are: what does not fit is refused."""
    target = init_target(SIZE)
    for name, array in change.items():
        setattr(target, name, array)
    with pytest.raises(ShapeError, match=text):
        raster.draw(DrawList(Camera()), target)


def test_arrays_that_cannot_be_written(raster: Backend) -> None:
    target = init_target(SIZE)
    target.colour.flags.writeable = False
    with pytest.raises(ShapeError, match="written"):
        raster.draw(DrawList(Camera()), target)


def test_inputs_may_be_read_only_and_stay_as_they_are(backend: Backend) -> None:
    shape = rectangle(SIZE)
    kept = []
    for array in (shape.positions, shape.normals):
        array.flags.writeable = False
        kept.append(array.copy())
    heat = floats([1, 2, 3, 4])
    heat.flags.writeable = False
    item = put(backend, shape, Look(), heat=heat)
    target = draw(backend, SIZE, item, buffers=ALL)
    assert (target.part == 0).all()
    assert (shape.positions == kept[0]).all()
    assert (shape.normals == kept[1]).all()


def everything(backend: Backend) -> dict[str, Any]:
    """A picture with every feature in it."""
    number = put_texture(backend, checker(16, 2, 40, 240))
    alpha = checker(16, 4)
    alpha[..., 3] = alpha[..., 0]
    holes = put_texture(backend, alpha, is_nearest=True)
    box, ball, ground = cube(0.6), sphere(0.7, 16, 24), plane(3.0, 6, -0.7)

    def moved(shape: Shape, *way: float) -> Shape:
        positions = floats(shape.positions + np.array(way, np.float32))
        return Shape(positions, shape.faces, shape.normals, shape.texcoords)

    strokes = Strokes(width=1.5, silhouette=True, crease=0.8)
    swarm = floats(
        ball.positions * 0.3 + np.random.default_rng(1).uniform(-1.5, 1.5, (40, 1, 3))
    )
    mesh = backend.upload(ball.mesh())
    tints = floats(np.random.default_rng(2).uniform(0, 1, (40, 4)))
    items = [
        put(backend, ground, Look(texture=number)),
        put(backend, moved(box, -1, 0, 0), Look(shading="flat"), strokes=strokes),
        put(
            backend,
            moved(ball, 1, 0, 0),
            Look(shading="cel"),
            strokes=strokes,
            welded=welded(ball.positions),
            part=2,
        ),
        put(backend, moved(box, 0, 0.4, 1), Look(texture=holes, alpha="mask")),
        put(
            backend,
            moved(ball, 0, 0.3, 1.6),
            Look(colour=(0.2, 0.5, 1, 0.4), alpha="blend", shading="vertex"),
        ),
        put(backend, moved(box, 0.6, 1, 0), Look(opacity=0.4, cull="none"), part=5),
        DrawItem(mesh, swarm, swarm, Look(shading="vertex"), tints=tints, part=6),
    ]
    rng = np.random.default_rng(3)
    points = floats(rng.uniform(-2, 2, (60, 2, 3)))
    lines = [
        DrawLines(points, floats(rng.uniform(0, 1, (60, 4))), 1.3),
        DrawLines(points[:9], floats([1, 0, 0, 1]), 3, layer=1, part=9),
    ]
    lights = (*DAYLIGHT, Light("point", (1, 0.4, 0.2), position=(0, 1, 1)))
    camera = Camera((2.0, 1.5, 4.0), (0, 0, 0), fov=0.8)
    return {"items": items, "lines": lines, "lights": lights, "camera": camera}


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("order", ["depth", "sort"])
def test_same_bytes_for_any_number_of_threads(
    raster: Backend, monkeypatch: pytest.MonkeyPatch, order: Any, samples: int
) -> None:
    given = everything(raster)
    pictures = []
    for threads in ("1", "2", "3", "8", "1"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        target = draw(
            raster, (301, 187), samples=samples, buffers=ALL, order=order, **given
        )
        pictures.append(target)
    for other in pictures[1:]:
        assert (other.colour == pictures[0].colour).all()
        for name in ALL:
            one, two = getattr(pictures[0], name), getattr(other, name)
            assert one.tobytes() == two.tobytes(), name


def test_several_threads_draw_at_once(raster: Backend) -> None:
    """Pictures of different sizes and lists, many times, on one backend."""
    given = everything(raster)
    extra = put(raster, sphere(0.5), Look())
    jobs = [
        ((120, 90), given),
        ((65, 33), {**given, "items": [extra]}),
        ((90, 120), {**given, "order": "sort"}),
        ((7, 5), {**given, "lines": []}),
    ]
    wanted = [draw(raster, size, samples=4, **how).colour for size, how in jobs]

    def again(number: int) -> bool:
        size, how = jobs[number % len(jobs)]
        picture = draw(raster, size, samples=4, **how).colour
        if number % 5 == 0:
            put(raster, sphere(0.5, 4, 6), UNLIT)
        return bool((picture == wanted[number % len(jobs)]).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(again, range(60)))


def test_sizes_may_change_from_picture_to_picture(raster: Backend) -> None:
    """What is kept for the next picture fits, whatever that is."""
    given = everything(raster)
    sizes = [(200, 100), (8, 8), (1, 1), (100, 200), (64, 32), (65, 33), (200, 100)]
    first = {}
    for size in sizes * 2:
        for samples in (1, 4):
            picture = draw(raster, size, samples=samples, **given).colour
            fresh = first.setdefault((size, samples), picture.copy())
            assert (picture == fresh).all()


def test_a_large_picture_has_all_its_tiles(raster: Backend) -> None:
    size = (1000, 700)
    item = put(raster, rectangle(size, (10.5, 20.5, 990.5, 690.5)))
    part = draw(raster, size, item, buffers=("part",)).part
    wanted = np.full((700, 1000), -1)
    wanted[20:690, 10:990] = 0
    assert (part == wanted).all()
