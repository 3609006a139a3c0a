"""What the slow twin of the rasteriser fills: triangles and lines in the picture.

Places in the picture are counted in steps of 1/256 pixel from its top left corner, as
whole numbers, so that it is exact which of two faces a place on their edge belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexor.draw.drawlist import DrawTexture, Look
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from tests.oracle.raster.colour import light_sum, sample, unit

STEPS = 256
# What a corner carries, in one row of numbers.
POSITION, NORMAL, COLOUR = slice(0, 3), slice(3, 6), slice(6, 10)
TEXCOORD, HEAT, LIGHT = slice(10, 12), slice(12, 13), slice(13, 16)
VALUES = 16


class View:
    """A camera for pictures of one size."""

    def __init__(self, camera: Camera, size: tuple[int, int]) -> None:
        self.size = size
        self.matrix = camera.view()
        self.scale = camera.scale(size)
        self.near = camera.near
        self.has_perspective = camera.height is None
        self.height = camera.height
        self.eye = np.array(camera.eye)
        self.backward = camera.axes()[2]

    def seen(self, points: Any) -> Any:
        """Points (..., 3) as the camera has them; it looks along its -z."""
        points = np.asarray(points, np.float64)
        return points @ self.matrix[:, :3].T + self.matrix[:, 3]

    def key(self, distance: Any) -> Any:
        """What is compared: it is affine in the picture, and larger is nearer."""
        return 1 / distance if self.has_perspective else -distance

    def distance(self, key: Any) -> Any:
        """Metres along the view."""
        return 1 / key if self.has_perspective else -key

    def pixels(self, seen: Any) -> Any:
        """Where points (..., 3) of the camera are in the picture, (..., 2)."""
        scale = self.scale / -seen[..., 2] if self.has_perspective else self.scale
        width, height = self.size
        return np.stack(
            [width / 2 + seen[..., 0] * scale, height / 2 - seen[..., 1] * scale], -1
        )

    def toward(self, points: Any) -> Any:
        """Vectors from points (..., 3) of the world to the camera."""
        if self.has_perspective:
            return self.eye - points
        return np.broadcast_to(self.backward, np.shape(points))


def snapped(pixels: Any) -> list[tuple[int, int]]:
    """Places (n, 2) in pixels as whole steps."""
    return [(int(x), int(y)) for x, y in np.floor(pixels * STEPS + 0.5)]


def clip_near(corners: list[tuple[Any, Any]], near: float) -> list[tuple[Any, Any]]:
    """The part of a polygon at a distance of at least `near`.

    corners: of each, the camera's place (3,) and its values; a cut edge is always cut
    from its inner end, so that both faces at an edge get the same new corner.
    """
    kept = []
    for (a, of_a), (b, of_b) in zip(corners, corners[1:] + corners[:1], strict=True):
        if -a[2] >= near:
            kept.append((a, of_a))
        if (-a[2] >= near) != (-b[2] >= near):
            if -a[2] < near:
                a, of_a, b, of_b = b, of_b, a, of_a
            share = (-a[2] - near) / (b[2] - a[2])
            cut = a + (b - a) * share
            cut[2] = -near
            kept.append((cut, of_a + (of_b - of_a) * share))
    return kept


class Triangle:
    """Three corners in whole steps, turned so that the area is positive."""

    def __init__(self, corners: list[tuple[int, int]]) -> None:
        (ax, ay), (bx, by), (cx, cy) = corners
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        self.is_turned = area < 0
        self.area: Any = abs(area)
        self.order = [0, 2, 1] if self.is_turned else [0, 1, 2]
        self.corners = [corners[n] for n in self.order]
        # Of the edge across from each corner in the order given: its start, its way.
        starts, ways = np.empty((2, 3)), np.empty((2, 3))
        for n, (start, end) in zip(self.order, self.edges(), strict=True):
            starts[:, n] = start
            ways[:, n] = end[0] - start[0], end[1] - start[1]
        self.starts, self.ways = starts, ways

    def edges(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """The edge across from each corner."""
        a, b, c = self.corners
        return [(b, c), (c, a), (a, b)]

    def inside(self, x: Any, y: Any) -> Any:
        """Whether places (int arrays) belong to it: its inner part, and what is on a
        top edge or a left edge.
        """
        reach = max(abs(n) for corner in self.corners for n in corner)
        kind = np.int64 if reach < 1 << 29 else object
        x, y = x.astype(kind), y.astype(kind)
        result = np.full(x.shape, self.area > 0)
        for (ax, ay), (bx, by) in self.edges():
            side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
            is_top_left = by < ay or (by == ay and bx > ax)
            result &= (side >= 0 if is_top_left else side > 0).astype(bool)
        return result

    def shares(self, x: Any, y: Any) -> Any:
        """How much of each corner, in the order given, is at places (n,): (n, 3).

        Places outside, as a pixel's centre may be, are moved to the edge.
        """
        (ax, ay), (along_x, along_y) = self.starts, self.ways
        side = along_x * (y[:, None] - ay) - along_y * (x[:, None] - ax)
        result = np.maximum(side / np.float64(self.area), 0)
        return result / result.sum(1, keepdims=True)

    def slopes(self) -> tuple[Any, Any]:
        """How the shares (3,) change from a pixel to the next: to the right, down."""
        along_x, along_y = self.ways
        area = np.float64(self.area)
        return -along_y * STEPS / area, along_x * STEPS / area

    @staticmethod
    def joined(triangles: list[Triangle], which: Any) -> Triangle:
        """For `shares` and `slopes` of places (n,) of which each has its own triangle:
        its row in `triangles`, (n,).
        """
        result = object.__new__(Triangle)
        result.starts = np.array([t.starts for t in triangles])[which].swapaxes(0, 1)
        result.ways = np.array([t.ways for t in triangles])[which].swapaxes(0, 1)
        result.area = np.array([float(t.area) for t in triangles])[which, None]
        return result


@dataclass
class Surface:
    """What all faces of an item have in common.

    textures: by number, each with its levels; tint: (4,) that multiplies the colour.
    """

    look: Look
    tint: Any
    lights: tuple[Light, ...]
    textures: list[tuple[DrawTexture, list[Any]]]
    has_texcoords: bool
    has_heat: bool
    part: int


class FacePiece:
    """A triangle of a face that is wholly in front of the camera.

    corners: of each, the camera's place and its values; normal: of the face, world, of
    its front; is_smooth: whether it is shaded with the normals of its corners.
    """

    def __init__(
        self,
        view: View,
        corners: list[tuple[Any, Any]],
        surface: Surface,
        normal: Any,
        is_smooth: bool,
    ) -> None:
        seen = np.array([place for place, _ in corners])
        self.triangle = Triangle(snapped(view.pixels(seen)))
        self.values = np.array([values for _, values in corners])
        self.keys = view.key(-seen[:, 2])
        self.weights = self.keys if view.has_perspective else np.ones(3)
        self.surface = surface
        self.is_smooth: Any = is_smooth
        # Counter-clockwise with y upward is clockwise with y downward.
        self.is_back = not self.triangle.is_turned
        self.side: Any = -1 if self.is_back else 1
        self.normal = normal * self.side
        self.part = surface.part

    @staticmethod
    def joined(pieces: list[FacePiece], which: Any) -> FacePiece:
        """For places (n,) of which each is on its own piece of one surface: its row in
        `pieces`, (n,). What a piece has one of is (n, ...) here.
        """
        result = object.__new__(FacePiece)
        result.triangle = Triangle.joined([p.triangle for p in pieces], which)
        result.values = np.array([p.values for p in pieces])[which]
        result.keys = np.array([p.keys for p in pieces])[which]
        result.weights = np.array([p.weights for p in pieces])[which]
        result.normal = np.array([p.normal for p in pieces])[which]
        result.is_smooth = np.array([p.is_smooth for p in pieces])[which, None]
        result.side = np.array([p.side for p in pieces])[which, None]
        result.surface, result.part = pieces[0].surface, pieces[0].part
        return result

    @property
    def is_drawn(self) -> bool:
        """Whether anything of it can be seen."""
        return self.triangle.area > 0 and not (
            self.is_back and self.surface.look.cull == "back"
        )

    def bounds(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom in steps."""
        return _bounds(self.triangle.corners)

    def inside(self, x: Any, y: Any) -> Any:
        """Whether places belong to it."""
        return self.triangle.inside(x, y)

    def key(self, x: Any, y: Any) -> Any:
        """What is compared for depth at places (n,)."""
        return (self.triangle.shares(x, y) * self.keys).sum(1)

    def distance(self, view: View, x: Any, y: Any) -> Any:
        """Metres along the view."""
        return view.distance(self.key(x, y))

    def values_at(self, x: Any, y: Any) -> Any:
        """Values (n, VALUES) at places (n,), with perspective."""
        return self._at(x, y, slice(None))[0]

    def _at(self, x: Any, y: Any, kept: slice) -> tuple[Any, Any]:
        """Some of the values, and by what they were divided."""
        shares = self.triangle.shares(x, y)
        whole = np.maximum((shares * self.weights).sum(1), 1e-300)[:, None]
        weighted = self.values[..., kept] * self.weights[..., None]
        return (shares[..., None] * weighted).sum(1) / whole, whole

    def _texel(self, number: int, x: Any, y: Any) -> Any:
        """Colours (n, 4) of a texture at places; white without one."""
        if number < 0 or not self.surface.has_texcoords:
            return np.ones((len(x), 4))
        move = np.array(self.surface.look.texture_transform, np.float64)
        values, whole = self._at(x, y, TEXCOORD)
        weighted = self.values[..., TEXCOORD] * self.weights[..., None]
        # How they change to the right and down from pixel to pixel.
        across, down = (
            (
                (slope[..., None] * weighted).sum(-2)
                - values * (slope * self.weights).sum(-1, keepdims=True)
            )
            / whole
            for slope in self.triangle.slopes()
        )
        linear = move[:, :2].T
        return sample(
            *self.surface.textures[number],
            values @ linear + move[:, 2],
            across @ linear,
            down @ linear,
        )

    def base(self, x: Any, y: Any) -> Any:
        """Colour (n, 4) before light."""
        return self._base(self.values_at(x, y), x, y)

    def _base(self, values: Any, x: Any, y: Any) -> Any:
        look = self.surface.look
        colour = np.array(look.colour) * self.surface.tint * values[:, COLOUR]
        return colour * self._texel(look.texture, x, y)

    def normal_at(self, x: Any, y: Any) -> Any:
        """Unit normals (n, 3) of the side that is seen."""
        return self._normal(self.values_at(x, y))

    def _normal(self, values: Any) -> Any:
        smooth = unit(values[:, NORMAL]) * self.side
        return np.where(self.is_smooth, smooth, self.normal)

    def heat_at(self, x: Any, y: Any) -> Any:
        """Heat (n,); NaN if there is none."""
        if not self.surface.has_heat:
            return np.full(len(x), np.nan)
        return self.values_at(x, y)[:, HEAT][:, 0]

    def colour_at(self, x: Any, y: Any) -> Any:
        """Colour (n, 4) after light, red, green and blue cut to 0 to 1."""
        look, lights = self.surface.look, self.surface.lights
        values = self.values_at(x, y)
        base = self._base(values, x, y)
        if look.shading == "unlit":
            light = np.ones((len(x), 3))
        else:
            bands = look.cel_bands if look.shading == "cel" else None
            normals = self._normal(values)
            light = light_sum(lights, values[:, POSITION], normals, bands)
        if look.shading == "vertex":
            light = np.where(self.is_smooth, self._light_of_corners(x, y), light)
        glow = np.array(look.emissive) * self._texel(look.emissive_texture, x, y)[:, :3]
        colour = np.concatenate([base[:, :3] * light + glow, base[:, 3:]], 1)
        return np.clip(colour, 0, 1)

    def _light_of_corners(self, x: Any, y: Any) -> Any:
        """Light (n, 3) between that at the corners."""
        corners = self.values.reshape(-1, VALUES)
        side = np.repeat(self.side, 3, -1).reshape(-1, 1)
        normals = unit(corners[:, NORMAL]) * side
        light = light_sum(self.surface.lights, corners[:, POSITION], normals)
        light = light.reshape(*self.values.shape[:-1], 3)
        shares = self.triangle.shares(x, y) * self.weights
        return (shares[..., None] * light).sum(1) / shares.sum(1, keepdims=True)


class LinePiece:
    """A line in front of the camera: a rectangle, half the width longer at both ends.

    seen: its ends (2, 3) as the camera has them; colour: (4,) linear; pull: metres, or
    share of the distance, by which it is drawn nearer than it is.
    """

    def __init__(
        self,
        view: View,
        seen: Any,
        colour: Any,
        width: float,
        part: int,
        pull: float = 0.0,
    ) -> None:
        self.start, self.end = view.pixels(seen) * STEPS
        self.colour = np.clip(np.asarray(colour, np.float64), 0, 1)
        distance = -seen[:, 2]
        nearer = distance * (1 - pull) if view.has_perspective else distance - pull
        self.keys, self.pull = view.key(nearer), pull
        self.part = part
        along = self.end - self.start
        length = np.hypot(*along)
        way = along / length if length > 0 else np.array([1.0, 0.0])
        way = way * width * STEPS / 2
        side = np.array([-way[1], way[0]])
        first, last = self.start - way, self.end + way
        around = [first - side, first + side, last + side, last - side]
        corners = snapped(np.array(around) / STEPS)
        self.corners = corners
        self.halves = (
            Triangle([corners[0], corners[1], corners[2]]),
            Triangle([corners[0], corners[2], corners[3]]),
        )

    def bounds(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom in steps."""
        return _bounds(self.corners)

    def inside(self, x: Any, y: Any) -> Any:
        """Whether places belong to it."""
        return self.halves[0].inside(x, y) | self.halves[1].inside(x, y)

    def key(self, x: Any, y: Any) -> Any:
        """What is compared for depth at places (n,); beyond an end, as at the end."""
        along = self.end - self.start
        whole = along @ along
        if whole == 0:
            return np.full(len(x), self.keys.max())
        share = (
            (x - self.start[0]) * along[0] + (y - self.start[1]) * along[1]
        ) / whole
        share = np.clip(share, 0, 1)
        return self.keys[0] * (1 - share) + self.keys[1] * share

    def distance(self, view: View, x: Any, y: Any) -> Any:
        """Metres along the view to where it is, not to where it is drawn."""
        nearer = view.distance(self.key(x, y))
        return nearer / (1 - self.pull) if view.has_perspective else nearer + self.pull

    def normal_at(self, x: Any, y: Any) -> Any:
        """Lines have none."""
        return np.zeros((len(x), 3))

    def heat_at(self, x: Any, y: Any) -> Any:
        """Lines have none."""
        return np.full(len(x), np.nan)

    def colour_at(self, x: Any, y: Any) -> Any:
        """Colour (n, 4)."""
        return np.broadcast_to(self.colour, (len(x), 4))


def _bounds(corners: list[tuple[int, int]]) -> tuple[int, int, int, int]:
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)
