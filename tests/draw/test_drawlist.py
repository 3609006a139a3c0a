"""Draw lists: what is refused, what is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.check import check_list
from flexor.draw.drawlist import (
    DrawItem,
    DrawLines,
    DrawList,
    DrawMesh,
    DrawTexture,
    Look,
    Strokes,
)
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT
from tests.draw.shapes import floats

QUAD = [[0, 1, 2, 3]]


def mesh(**changes: Any) -> DrawMesh:
    return DrawMesh(**{"vertex_count": 4, "faces": [[0, 1, 2]], **changes})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"faces": [[0, 1]]}, r"faces: shape \(1, 2\), expected \(any, 3\)"),
        ({"faces": [[0, 1, 2, 3, 3]]}, r"faces: shape \(1, 5\)"),
        ({"faces": [0, 1, 2]}, r"faces: shape \(3,\)"),
        ({"faces": [[0, 1, 4]]}, "faces: 0 to 4, 4 vertices"),
        ({"faces": [[0, -1, 2]]}, "faces: -1 to 2, 4 vertices"),
        ({"faces": [[0, 0.5, 1]]}, "faces: cannot be made int32"),
        ({"faces": [[0, 1, 2]], "vertex_count": 0}, "faces: 0 to 2, 0 vertices"),
        ({"texcoords": np.zeros((3, 2))}, r"texcoords: shape \(3, 2\)"),
        ({"texcoords": np.zeros((4, 3))}, r"texcoords: shape \(4, 3\)"),
        ({"colours": np.zeros((4, 3))}, r"colours: shape \(4, 3\)"),
        ({"colours": np.zeros((5, 4))}, r"colours: shape \(5, 4\)"),
        ({"smooth": np.zeros(4, bool)}, r"smooth: shape \(4,\), expected \(1,\)"),
        ({"welded": np.zeros(3, int)}, r"welded: shape \(3,\), expected \(4,\)"),
        ({"welded": [0, 0, 3, 3]}, "welded: must name the vertex itself or one before"),
        ({"vertex_count": -1, "faces": np.zeros((0, 3), int)}, "vertex_count: -1"),
        ({"vertex_count": 4.5}, "vertex_count: 4.5"),
        ({"welded": [-1, 0, 0, 0]}, "welded: must name the vertex itself or one befor"),
    ],
)
def test_mesh_refusals(changes: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        mesh(**changes)


def test_mesh_takes_its_arrays() -> None:
    made = mesh(
        faces=QUAD,
        texcoords=np.zeros((4, 2)),
        colours=np.ones((4, 4)),
        smooth=[True],
        welded=[0, 1, 1, 0],
    )
    for array, kind in (
        (made.faces, np.int32),
        (made.texcoords, np.float32),
        (made.colours, np.float32),
        (made.smooth, np.bool_),
        (made.welded, np.int32),
    ):
        assert array is not None
        assert array.dtype == kind
        assert not array.flags.writeable


def test_triangles_of_quads() -> None:
    """A quad is 0 1 2 and 0 2 3; triangles are themselves; none are none."""
    two = mesh(vertex_count=6, faces=[[0, 1, 2, 3], [3, 2, 4, 5]])
    assert two.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [3, 2, 4], [3, 4, 5]]
    assert mesh().triangles.tolist() == [[0, 1, 2]]
    assert mesh(faces=np.zeros((0, 4), int)).triangles.shape == (0, 3)
    assert mesh(faces=np.zeros((0, 3), int)).triangles.shape == (0, 3)


@pytest.mark.parametrize(
    ("pixels", "text"),
    [
        (np.zeros((2, 2, 3), np.uint8), r"pixels: shape \(2, 2, 3\)"),
        (np.zeros((2, 2), np.uint8), r"pixels: shape \(2, 2\)"),
        (np.zeros((0, 2, 4), np.uint8), "expected sides of 1 to 8192 pixels"),
        (np.zeros((2, 0, 4), np.uint8), "expected sides of 1 to 8192 pixels"),
        (np.full((2, 2, 4), 256), "pixels: cannot be made uint8"),
        (np.full((2, 2, 4), 0.5), "pixels: cannot be made uint8"),
    ],
)
def test_texture_refusals(pixels: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        DrawTexture(pixels)


@pytest.mark.parametrize("side", ["wrap_s", "wrap_t"])
def test_unknown_wrap(side: str) -> None:
    pixels = np.zeros((1, 1, 4), np.uint8)
    with pytest.raises(
        SettingError, match=f"{side}: 'round', expected one of repeat, mirror, clamp"
    ):
        DrawTexture(pixels, **{side: "round"})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"alpha": "clear"}, "alpha: 'clear', expected one of opaque, mask, blend"),
        ({"cull": "front"}, "cull: 'front', expected one of back, none"),
        ({"shading": "phong"}, "shading: 'phong', expected one of pixel, vertex"),
        ({"cel_bands": 0}, "cel_bands: 0, expected 1 to 16"),
        ({"cel_bands": 17}, "cel_bands: 17, expected 1 to 16"),
        ({"opacity": -0.1}, "opacity: -0.1, expected 0 to 1"),
        ({"opacity": 1.5}, "opacity: 1.5, expected 0 to 1"),
        ({"opacity": float("nan")}, "opacity: nan, expected 0 to 1"),
    ],
)
def test_look_refusals(changes: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        Look(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"colour": (1, 1, 1)},
        {"colour": (1, 1, 1, 1, 1)},
        {"colour": "red"},
        {"emissive": (1,)},
        {"emissive": (0, 0, 0, 1)},
        {"texture_transform": ((1, 0), (0, 1))},
        {"texture_transform": ((1, 0, 0),)},
        {"texture": -0.5},
        {"emissive_texture": 0.5},
        {"cel_bands": 2.5},
        {"cutoff": "half"},
    ],
)
def test_look_has_as_many_numbers_as_it_should(changes: Any) -> None:
    """Kernels rely on it: with fewer numbers they would read something else."""
    with pytest.raises(SettingError, match=next(iter(changes))):
        Look(**changes)


@pytest.mark.parametrize(
    "changes",
    [{"colour": (0, 0, 0)}, {"colour": "black"}, {"crease": float("nan")}],
)
def test_stroke_refusals(changes: Any) -> None:
    with pytest.raises(SettingError, match=next(iter(changes))):
        Strokes(**changes)


def test_looks_can_be_compared() -> None:
    assert Look() == Look()
    assert len({Look(), Look(), Look(cutoff=0.1)}) == 2


@pytest.mark.parametrize("width", [0, -1, 1001, float("nan"), float("inf")])
def test_width_of_strokes_and_lines(width: float) -> None:
    with pytest.raises(SettingError, match=r"width: .* above 0 to 1000 pixels"):
        Strokes(width=width)
    with pytest.raises(SettingError, match=r"width: .* above 0 to 1000 pixels"):
        DrawLines(floats(np.zeros((1, 2, 3))), floats([0, 0, 0, 1]), width)


def item(**changes: Any) -> DrawItem:
    return DrawItem(**{"mesh": 0, "positions": floats(np.zeros((4, 3))), **changes})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"positions": floats(np.zeros(3))}, r"positions: shape \(3,\)"),
        ({"positions": floats(np.zeros((4, 2)))}, r"positions: shape \(4, 2\)"),
        ({"positions": floats(np.zeros((1, 1, 4, 3)))}, r"shape \(1, 1, 4, 3\)"),
        ({"positions": np.zeros((4, 3))}, "positions: float64, expected float32"),
        ({"positions": [[0, 0, 0]]}, "positions: list, expected float32"),
        (
            {"positions": floats(np.zeros((4, 6)))[:, ::2]},
            "positions: must be C-ordered",
        ),
        ({"normals": floats(np.zeros((3, 3)))}, r"normals: shape \(3, 3\)"),
        ({"normals": np.zeros((4, 3))}, "normals: float64"),
        ({"tints": floats(np.zeros((4, 4)))}, r"tints: shape \(4, 4\)"),
        ({"tints": floats(np.zeros((1, 3)))}, r"tints: shape \(1, 3\)"),
        ({"heat": floats(np.zeros(3))}, r"heat: shape \(3,\)"),
        ({"heat": np.zeros(4)}, "heat: float64"),
        ({"colours": floats(np.zeros((4, 3)))}, r"colours: shape \(4, 3\)"),
    ],
)
def test_item_refusals(changes: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        item(**changes)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"layer": 2}, "layer: 2, expected 0 or 1"),
        ({"layer": -1}, "layer: -1, expected 0 or 1"),
        ({"part": -1}, "part: -1, expected 0 or above"),
        ({"part": 1 << 31}, "part: 2147483648, expected 0 or above"),
    ],
)
def test_layer_and_part(changes: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        item(**changes)
    with pytest.raises(SettingError, match=text):
        DrawLines(floats(np.zeros((1, 2, 3))), floats([0, 0, 0, 1]), **changes)


def test_items_of_many() -> None:
    """Rows of tints are counted by N, heat and colours by V."""
    many = {"positions": floats(np.zeros((5, 4, 3)))}
    item(**many, tints=floats(np.ones((5, 4))), heat=floats(np.zeros(4)))
    item(**many, normals=floats(np.zeros((5, 4, 3))), colours=floats(np.ones((4, 4))))
    with pytest.raises(ShapeError, match=r"tints: shape \(1, 4\), expected \(5, 4\)"):
        item(**many, tints=floats(np.ones((1, 4))))
    with pytest.raises(ShapeError, match=r"normals: shape \(4, 3\)"):
        item(**many, normals=floats(np.zeros((4, 3))))


@pytest.mark.parametrize(
    ("points", "colours", "text"),
    [
        (floats(np.zeros((2, 3))), floats([0, 0, 0, 1]), r"points: shape \(2, 3\)"),
        (np.zeros((1, 2, 3)), floats([0, 0, 0, 1]), "points: float64"),
        (floats(np.zeros((1, 2, 3))), floats([0, 0, 0]), r"colours: shape \(3,\)"),
        (
            floats(np.zeros((2, 2, 3))),
            floats(np.zeros((3, 4))),
            r"colours: shape \(3, 4\), expected \(2, 4\)",
        ),
        (floats(np.zeros((1, 2, 3))), np.zeros(4), "colours: float64"),
        (floats(np.zeros((1, 2, 3))), [0, 0, 0, 1], "colours: list"),
    ],
)
def test_line_refusals(points: Any, colours: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        DrawLines(points, colours)


@pytest.mark.parametrize(
    "background",
    [(0, 0, 0), (0, 0, 0, 256), (-1, 0, 0, 255), (0, 0, 0, 0, 0), (0, 0, 0, np.nan)],
)
def test_background(background: Any) -> None:
    with pytest.raises(SettingError, match=r"background: .* four numbers 0 to 255"):
        DrawList(Camera(), background=background)


def test_unknown_order() -> None:
    with pytest.raises(SettingError, match="order: 'y', expected one of depth, sort"):
        DrawList(Camera(), order="y")  # type: ignore[arg-type]


def test_lists_become_tuples() -> None:
    made = DrawList(Camera(), [item()], [], list(DAYLIGHT))  # type: ignore[arg-type]
    assert isinstance(made.items, tuple)
    assert isinstance(made.lines, tuple)
    assert made.lights == DAYLIGHT


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"mesh": 2}, SettingError, r"items\[0\]: mesh 2 of 2 uploaded"),
        ({"mesh": 1}, ShapeError, r"items\[0\]: 4 positions for a mesh of 7 vertices"),
        ({"look": Look(texture=3)}, SettingError, "texture 3 of 3 uploaded"),
        ({"look": Look(emissive_texture=-2)}, SettingError, "texture -2 of 3 uploaded"),
    ],
)
def test_numbers_that_do_not_exist(
    changes: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        check_list(DrawList(Camera(), (item(**changes),)), [4, 7], 3)


def test_numbers_that_do() -> None:
    items = (item(), item(look=None), item(look=Look(texture=2, emissive_texture=0)))
    check_list(DrawList(Camera(), items), [4, 7], 3)
