"""What is to be drawn, as plain arrays and numbers: no backend, no files, no clock.

Meshes and textures are uploaded to a backend once and then named by the number that
`upload` gave; everything that changes from frame to frame stands in the draw list.
Colours are linear, 0 to 1, unless they are called sRGB.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, check_input, freeze
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from flexor.scene.checks import check_word

__all__ = [
    "Alpha",
    "Cull",
    "DrawBackdrop",
    "DrawItem",
    "DrawLines",
    "DrawList",
    "DrawMesh",
    "DrawTexture",
    "Look",
    "Order",
    "Shading",
    "Strokes",
    "Wrap",
]

Wrap = Literal["repeat", "mirror", "clamp"]
Alpha = Literal["opaque", "mask", "blend"]
Cull = Literal["back", "none"]
Shading = Literal["pixel", "vertex", "flat", "unlit", "cel"]
Order = Literal["depth", "sort"]

LONGEST_TEXTURE = 8192
SMALLEST_LEVEL = 8  # pixels, of a side of a backdrop

RGB = tuple[float, float, float]
RGBA = tuple[float, float, float, float]


def _check_numbers(value: object, count: int, name: str) -> None:
    """Refuse what is not so many numbers: kernels read them without looking."""
    try:
        is_right = np.asarray(value, np.float64).shape == (count,)
    except (TypeError, ValueError):
        is_right = False
    if not is_right:
        raise SettingError(f"{name}: {value!r}, expected {count} numbers")


def _check_number(value: object, kind: Any, name: str) -> None:
    if not isinstance(value, kind):
        what = "a whole number" if kind is Integral else "a number"
        raise SettingError(f"{name}: {value!r}, expected {what}")


def _check_is_array(value: object, name: str) -> None:
    if not isinstance(value, np.ndarray):
        raise ShapeError(f"{name}: {type(value).__name__}, expected float32")


def _check_layer(layer: int, part: int) -> None:
    _check_number(layer, Integral, "layer")
    _check_number(part, Integral, "part")
    if layer not in (0, 1):
        raise SettingError(f"layer: {layer}, expected 0 or 1")
    if not 0 <= part < 1 << 31:
        raise SettingError(f"part: {part}, expected 0 or above")


def _check_width(width: float) -> None:
    if not 0 < width <= 1000:
        raise SettingError(f"width: {width}, expected above 0 to 1000 pixels")


@dataclass(frozen=True, slots=True, eq=False)
class DrawMesh:
    """The part of a surface that does not move; uploaded once.

    vertex_count: V; faces: int32 (F, 3) triangles, or (F, 4) quads whose corners go
    around (a quad is drawn as its triangles 0 1 2 and 0 2 3); counter-clockwise from
    the front; texcoords: float32 (V, 2), or None; colours: float32 (V, 4), or None;
    smooth: bool (F,), the faces that a smooth shading applies to while the rest is
    flat, or None for all; welded: int32 (V,), for each vertex the first one that always
    stands in the same place (as at the seams of textures), so that strokes know which
    faces meet, or None if no two do. Takes ownership of the arrays.
    """

    vertex_count: int
    faces: Ints
    texcoords: Floats | None = None
    colours: Floats | None = None
    smooth: NDArray[np.bool_] | None = None
    welded: Ints | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.vertex_count, Integral) or self.vertex_count < 0:
            count = self.vertex_count
            raise ShapeError(f"vertex_count: {count}, expected 0 or above")
        faces = np.asarray(self.faces)
        width = 4 if faces.ndim == 2 and faces.shape[1] == 4 else 3
        faces = freeze(faces, np.int32, (None, width), "faces")
        put(self, "faces", faces)
        if faces.size and not 0 <= faces.min() <= faces.max() < self.vertex_count:
            count = self.vertex_count
            raise ShapeError(f"faces: {faces.min()} to {faces.max()}, {count} vertices")
        for name, shape, kind in (
            ("texcoords", (self.vertex_count, 2), np.float32),
            ("colours", (self.vertex_count, 4), np.float32),
            ("smooth", (len(faces),), np.bool_),
            ("welded", (self.vertex_count,), np.int32),
        ):
            value = getattr(self, name)
            if value is not None:
                put(self, name, freeze(value, kind, shape, name))
        if self.welded is not None:
            if (self.welded < 0).any() or (
                self.welded > np.arange(len(self.welded))
            ).any():
                raise ShapeError("welded: must name the vertex itself or one before it")

    @property
    def triangles(self) -> Ints:
        """Corners (T, 3) of every triangle; those of a quad follow each other."""
        if self.faces.shape[1] == 3:
            return self.faces
        return self.faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


@dataclass(frozen=True, slots=True, eq=False)
class DrawTexture:
    """A picture for surfaces; uploaded once.

    pixels: uint8 (h, w, 4), sRGB and alpha, the top row first; wrap_s, wrap_t: what is
    beyond the edges; is_nearest: texels stay square when they are large; has_mipmaps:
    smaller versions are used where the picture is small. Takes ownership.
    """

    pixels: NDArray[np.uint8]
    wrap_s: Wrap = "repeat"
    wrap_t: Wrap = "repeat"
    is_nearest: bool = False
    has_mipmaps: bool = True

    def __post_init__(self) -> None:
        pixels = freeze(self.pixels, np.uint8, (None, None, 4), "pixels")
        object.__setattr__(self, "pixels", pixels)
        if not pixels.size or max(pixels.shape) > LONGEST_TEXTURE:
            raise ShapeError(
                f"pixels: shape {pixels.shape}, expected sides of 1 to "
                f"{LONGEST_TEXTURE} pixels"
            )
        for name in ("wrap_s", "wrap_t"):
            check_word(getattr(self, name), get_args(Wrap), name)


@dataclass(frozen=True, slots=True)
class Look:
    """How a surface looks.

    colour: multiplies texture and vertex colours; texture: its number, or -1;
    texture_transform: (2, 3) rows by which texture coordinates are moved first;
    alpha: "mask" leaves out what is below `cutoff`, "blend" is seen through; cull:
    "none" also draws back faces, lit from their own side; shading: light for each
    "pixel", each "vertex" (Gouraud), each "flat" face, none ("unlit"), or each pixel in
    `cel_bands` steps ("cel"); emissive: light of its own, times emissive_texture;
    opacity: share of the pixels that is drawn, in a fixed pattern (screen door).
    """

    colour: RGBA = (1.0, 1.0, 1.0, 1.0)
    texture: int = -1
    texture_transform: tuple[RGB, RGB] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    alpha: Alpha = "opaque"
    cutoff: float = 0.5
    cull: Cull = "back"
    shading: Shading = "pixel"
    cel_bands: int = 3
    emissive: RGB = (0.0, 0.0, 0.0)
    emissive_texture: int = -1
    opacity: float = 1.0

    def __post_init__(self) -> None:
        check_word(self.alpha, get_args(Alpha), "alpha")
        check_word(self.cull, get_args(Cull), "cull")
        check_word(self.shading, get_args(Shading), "shading")
        _check_numbers(self.colour, 4, "colour")
        _check_numbers(self.emissive, 3, "emissive")
        if len(self.texture_transform) != 2:
            raise SettingError("texture_transform: expected two rows of 3 numbers")
        for row in self.texture_transform:
            _check_numbers(row, 3, "texture_transform")
        _check_number(self.texture, Integral, "texture")
        _check_number(self.emissive_texture, Integral, "emissive_texture")
        _check_number(self.cel_bands, Integral, "cel_bands")
        _check_number(self.cutoff, Real, "cutoff")
        _check_number(self.opacity, Real, "opacity")
        if not 1 <= self.cel_bands <= 16:
            raise SettingError(f"cel_bands: {self.cel_bands}, expected 1 to 16")
        if not 0 <= self.opacity <= 1:
            raise SettingError(f"opacity: {self.opacity}, expected 0 to 1")


@dataclass(frozen=True, slots=True)
class Strokes:
    """Lines on the edges of a surface.

    width: pixels; colour: of the lines; silhouette: where a front face meets a back
    face; border: where a face meets no other; crease: where faces meet at more than
    this many radians; wire: at every edge.
    """

    width: float = 1.5
    colour: RGBA = (0.0, 0.0, 0.0, 1.0)
    silhouette: bool = False
    border: bool = False
    crease: float | None = None
    wire: bool = False

    def __post_init__(self) -> None:
        _check_width(self.width)
        _check_numbers(self.colour, 4, "colour")
        if self.crease is not None:
            _check_number(self.crease, Real, "crease")
            if not math.isfinite(self.crease):
                raise SettingError(f"crease: {self.crease}, expected radians")


@dataclass(frozen=True, slots=True, eq=False)
class DrawItem:
    """One surface, or N of the same shape, where they are now.

    mesh: number from `upload`; positions: float32 (V, 3) or (N, V, 3), metres, world;
    normals: the same shape, unit, or None (then the shading is flat, if it is not
    unlit); look: of the surface, or None for no surface; strokes: lines on it, or None;
    tints: float32 (N, 4) that multiply the colour of each of the N, or None; heat:
    float32 (V,), any number for each vertex, for the heat buffer, or None; part: what
    the part buffer holds, 0 or above; layer: 1 is drawn over all of 0; colours: float32
    (V, 4), in place of those of the mesh, for colours that change, or None.

    The arrays are only read, and not kept; they must not change while drawing.
    """

    mesh: int
    positions: Floats
    normals: Floats | None = None
    look: Look | None = Look()
    strokes: Strokes | None = None
    tints: Floats | None = None
    heat: Floats | None = None
    part: int = 0
    layer: int = 0
    colours: Floats | None = None

    def __post_init__(self) -> None:
        positions = self.positions
        _check_number(self.mesh, Integral, "mesh")
        _check_is_array(positions, "positions")
        if positions.ndim not in (2, 3) or positions.shape[-1] != 3:
            have = positions.shape
            raise ShapeError(f"positions: shape {have}, expected (V, 3) or (N, V, 3)")
        check_input(positions, np.float32, positions.shape, "positions")
        if self.normals is not None:
            check_input(self.normals, np.float32, positions.shape, "normals")
        count = len(positions) if positions.ndim == 3 else 1
        if self.tints is not None:
            check_input(self.tints, np.float32, (count, 4), "tints")
        if self.heat is not None:
            check_input(self.heat, np.float32, (positions.shape[-2],), "heat")
        if self.colours is not None:
            shape = (positions.shape[-2], 4)
            check_input(self.colours, np.float32, shape, "colours")
        _check_layer(self.layer, self.part)


@dataclass(frozen=True, slots=True, eq=False)
class DrawLines:
    """Straight lines.

    points: float32 (L, 2, 3), metres, world; colours: float32 (L, 4), or one (4,);
    width: pixels; layer and part as in DrawItem. Ends are square and reach half the
    width beyond the points, so that lines of a chain join.
    """

    points: Floats
    colours: Floats
    width: float = 1.0
    part: int = 0
    layer: int = 0

    def __post_init__(self) -> None:
        check_input(self.points, np.float32, (None, 2, 3), "points")
        _check_is_array(self.colours, "colours")
        shape = (4,) if self.colours.ndim == 1 else (len(self.points), 4)
        check_input(self.colours, np.float32, shape, "colours")
        _check_width(self.width)
        _check_layer(self.layer, self.part)


@dataclass(frozen=True, slots=True, eq=False)
class DrawBackdrop:
    """A picture around the viewer, infinitely far away: it turns with the camera and
    does not move with it.

    pixels: uint8 (h, w, 4), sRGB, no alpha, the top row first; w is a power of two. Its
    columns go once around, clockwise seen from above, the middle of them along -z; its
    rows are those of an upright cylinder: as far apart everywhere. low, high: tangents
    of the elevation of its lower and upper edge; beyond these the edge goes on. levels:
    uint32, the same and smaller ones, each half as wide and high, as pixels of four
    bytes. Takes ownership of the pixels.
    """

    pixels: NDArray[np.uint8]
    low: float
    high: float
    levels: tuple[NDArray[np.uint32], ...] = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        pixels = freeze(self.pixels, np.uint8, (None, None, 4), "pixels")
        put(self, "pixels", pixels)
        rows, columns = pixels.shape[:2]
        is_power = columns & (columns - 1) == 0
        if not (rows and columns and is_power) or max(rows, columns) > LONGEST_TEXTURE:
            raise ShapeError(
                f"pixels: shape {pixels.shape}, expected a width that is a power of "
                f"two, and sides of 1 to {LONGEST_TEXTURE} pixels"
            )
        for name in ("low", "high"):
            _check_number(getattr(self, name), Real, name)
        if not -1e3 <= self.low < self.high <= 1e3:
            raise SettingError(
                f"low, high: {self.low}, {self.high}, expected tangents, low below high"
            )
        found, level = [], pixels
        while True:
            level = np.ascontiguousarray(level)
            level.flags.writeable = False
            found.append(level.view(np.uint32)[..., 0])
            if min(level.shape[:2]) < 2 * SMALLEST_LEVEL:
                break
            rows = level.shape[0] // 2 * 2
            four = level[:rows].reshape(rows // 2, 2, -1, 2, 4).astype(np.uint16)
            level = ((four.sum((1, 3)) + 2) // 4).astype(np.uint8)
        put(self, "levels", tuple(found))


@dataclass(frozen=True, slots=True, eq=False)
class DrawList:
    """A whole picture.

    background: sRGB and alpha, 0 to 255; backdrop: what is drawn in its place, or None;
    order: "depth" keeps the nearest surface of
    each pixel, "sort" draws polygons from far to near by one point of each. Blended
    surfaces are always drawn last and sorted so.
    """

    camera: Camera
    items: tuple[DrawItem, ...] = ()
    lines: tuple[DrawLines, ...] = ()
    lights: tuple[Light, ...] = DAYLIGHT
    background: tuple[int, int, int, int] = (255, 255, 255, 255)
    order: Order = "depth"
    backdrop: DrawBackdrop | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(self.items))
        object.__setattr__(self, "lines", tuple(self.lines))
        object.__setattr__(self, "lights", tuple(self.lights))
        check_word(self.order, get_args(Order), "order")
        if not isinstance(self.backdrop, DrawBackdrop | None):
            raise SettingError(f"backdrop: {self.backdrop!r}, expected a DrawBackdrop")
        for light in self.lights:
            if not isinstance(light, Light):
                raise SettingError(f"lights: {light!r}, expected lights")
        try:
            levels = tuple(operator.index(level) for level in self.background)
        except TypeError:
            levels = ()
        object.__setattr__(self, "background", levels)
        if len(levels) != 4 or not 0 <= min(levels) <= max(levels) <= 255:
            raise SettingError(
                f"background: {self.background}, expected four numbers 0 to 255"
            )
