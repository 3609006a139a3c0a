"""The slow twin of the rasteriser: the same picture by the shortest way, in float64.

Faces and lines become pieces (`pieces`); each sample of each pixel remembers the
piece that won it; then every piece colours its pixels (`colour`).

Which kernels do the same: `draw_frame` and `draw_tile` are `draw_slow`;
`place_vertices` is `View`; `cut_triangle` and `cut_polygon` are `clip_near`; `lay_line`
is `LinePiece`; `lay_stroke` is `stroke_edges`; `fill_bins` finds the pixels near a
piece (`_near`); `keep_nearest` and `keep_masked` are `Canvas.add`; `make_room` and
`shade` are `Canvas.colour` and `Canvas.blend`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np

from flexor.draw.drawlist import DrawItem, DrawLines, DrawList, DrawMesh, DrawTexture
from flexor.draw.target import Target
from tests.oracle.raster import pieces
from tests.oracle.raster.colour import BAYER, decode, encode, levels_of, unit
from tests.oracle.raster.pieces import FacePiece, LinePiece, Surface, View
from tests.oracle.raster.strokes import stroke_edges

# Samples of a pixel, from its centre, in steps of 1/16 pixel.
OFFSETS = {1: ((0, 0),), 4: ((-2, -6), (6, -2), (-6, 2), (2, 6))}
PULL, MOST_PULL = 2.5, 0.01

Piece = FacePiece | LinePiece


@dataclass
class Group:
    """What is drawn at one go: a face or a line.

    distance: of its sorting point; pieces: what is left of it after clipping; rank: its
    place from far to near among all, which stands for depth if everything is sorted.
    """

    distance: float
    pieces: list[Piece]
    rank: int | None = None


@dataclass
class Layer:
    """Groups in the order of the list: surfaces, lines, and what is seen through."""

    surfaces: list[Group] = field(default_factory=list)
    lines: list[Group] = field(default_factory=list)
    blended: list[Group] = field(default_factory=list)


def draw_slow(
    draw_list: DrawList,
    target: Target,
    meshes: Sequence[DrawMesh],
    textures: Sequence[DrawTexture],
) -> Any:
    """Fill the arrays of `target`; gives its colour (H, W, 4)."""
    width, height = target.size
    view = View(draw_list.camera, target.size)
    levels = [(texture, levels_of(texture)) for texture in textures]
    layers, target.skipped = gather(draw_list, view, meshes, levels)
    alpha = draw_list.background[3] / 255
    # Red, green and blue are kept times alpha.
    picture = np.empty((height, width, 4))
    picture[:] = [*(decode(draw_list.background[:3]) * alpha), alpha]
    for number, layer in enumerate(layers):
        opaque = [*layer.surfaces, *layer.lines]
        if draw_list.order == "sort":
            all_of_it = sorted([*opaque, *layer.blended], key=_far_to_near)
            for rank, group in enumerate(all_of_it):
                group.rank = rank
            opaque.sort(key=_far_to_near)
        canvas = Canvas(target.size, target.samples)
        for group in opaque:
            canvas.add(group)
        canvas.colour(picture)
        if number == 0:
            canvas.fill_buffers(view, target)
        # Each sample on its own, so that two triangles with an edge do not overlap.
        copies = np.repeat(picture[:, :, None], target.samples, 2)
        for group in sorted(layer.blended, key=_far_to_near):
            canvas.blend(group, copies)
        picture = copies.mean(2)
    whole = picture[..., 3:]
    straight = picture[..., :3] / np.where(whole > 0, whole, 1)
    target.colour[..., :3] = encode(straight)
    target.colour[..., 3] = np.floor(np.clip(whole[..., 0], 0, 1) * 255 + 0.5)
    target.colour[whole[..., 0] == 0] = draw_list.background
    return target.colour


def _far_to_near(group: Group) -> float:
    return -group.distance


def gather(
    draw_list: DrawList, view: View, meshes: Sequence[DrawMesh], levels: Any
) -> tuple[tuple[Layer, Layer], int]:
    """Everything as groups by layer, and how many triangles were not finite."""
    layers = (Layer(), Layer())
    skipped = 0
    for item in draw_list.items:
        if item.look is None:
            continue
        layer = layers[item.layer]
        goes_to = layer.blended if item.look.alpha == "blend" else layer.surfaces
        mesh = meshes[item.mesh]
        for instance in range(len(_instances(item.positions))):
            groups, bad = face_groups(item, instance, mesh, view, draw_list, levels)
            goes_to.extend(groups)
            skipped += bad
    for lines in draw_list.lines:
        _add_lines(layers[lines.layer], lines, view)
    for item in draw_list.items:
        if item.strokes is None:
            continue
        mesh = meshes[item.mesh]
        for positions in _instances(item.positions).astype(np.float64):
            edges = stroke_edges(mesh, positions, view, item.strokes)
            points = positions[np.array(edges, np.int64).reshape(-1, 2)]
            points = points.astype(np.float32)
            colour = np.array(item.strokes.colour, np.float32)
            lines = DrawLines(points, colour, item.strokes.width, item.part)
            _add_lines(layers[item.layer], lines, view, _pull(view, lines.width))
    return layers, skipped


def _instances(array: Any) -> Any:
    return array if array.ndim == 3 else array[None]


def face_groups(
    item: DrawItem,
    instance: int,
    mesh: DrawMesh,
    view: View,
    draw_list: DrawList,
    levels: Any,
) -> tuple[list[Group], int]:
    """Every face of one of the item's N surfaces."""
    assert item.look is not None
    positions = _instances(item.positions)[instance].astype(np.float64)
    tint = np.ones(4) if item.tints is None else item.tints[instance].astype(float)
    surface = Surface(
        item.look,
        tint,
        draw_list.lights,
        levels,
        mesh.texcoords is not None,
        item.heat is not None,
        item.part,
    )
    values = np.zeros((mesh.vertex_count, pieces.VALUES))
    values[:, pieces.POSITION] = positions
    values[:, pieces.COLOUR] = 1
    for part, array in (
        (pieces.COLOUR, mesh.colours if item.colours is None else item.colours),
        (pieces.TEXCOORD, mesh.texcoords),
        (pieces.HEAT, None if item.heat is None else item.heat[:, None]),
        (pieces.NORMAL, None if item.normals is None else _instances(item.normals)),
    ):
        if array is not None:
            values[:, part] = array[instance] if array.ndim == 3 else array
    is_smooth = item.normals is not None and item.look.shading != "flat"
    is_sorted = draw_list.order == "sort" or item.look.alpha == "blend"
    is_finite = np.isfinite(positions).all(1)
    known = np.where(is_finite[:, None], positions, 0)
    seen = view.seen(known)
    # The two triangles of a quad, or the one of a triangle.
    halves = [(0, 1, 2), (0, 2, 3)][: mesh.faces.shape[1] - 2]
    normals = []
    for triangle in halves:
        rows = mesh.faces[:, triangle]
        whole = is_finite[rows].all(1)[:, None]
        a, b, c = (np.where(whole, known[rows[:, n]], 0) for n in range(3))
        normals.append(unit(np.cross(b - a, c - a)))
    groups, skipped = [], 0
    for number, face in enumerate(mesh.faces):
        found: list[Piece] = []
        smooth = is_smooth and (mesh.smooth is None or bool(mesh.smooth[number]))
        for half, triangle in enumerate(halves):
            corners = [face[n] for n in triangle]
            if not is_finite[corners].all():
                skipped += 1
                continue
            normal = normals[half][number]
            cut = [(seen[row], values[row]) for row in corners]
            around = pieces.clip_near(cut, view.near)
            for n in range(1, len(around) - 1):
                three = [around[0], around[n], around[n + 1]]
                piece = FacePiece(view, three, surface, normal, smooth)
                if piece.is_drawn:
                    found.append(piece)
        if found:
            distance = 0.0
            if is_sorted:
                distance = -view.seen(sorting_point(positions[face]))[2]
            groups.append(Group(distance, found))
    return groups, skipped


def sorting_point(corners: Any) -> Any:
    """The one point (3,) of a face (n, 3) that decides what is farther: the centroid of
    a triangle; where the diagonals of a quad cross, or come nearest to each other.
    """
    if len(corners) == 3 or not np.isfinite(corners).all():
        return np.nan_to_num(corners).mean(0)
    a, b, c, d = corners
    first, second, between = c - a, d - b, b - a
    across = np.cross(first, second)
    whole = across @ across
    if whole <= 1e-20 * (first @ first) * (second @ second):
        return corners.mean(0)
    on_first = a + first * (np.cross(between, second) @ across / whole)
    on_second = b + second * (np.cross(between, first) @ across / whole)
    return (on_first + on_second) / 2


def _add_lines(layer: Layer, lines: DrawLines, view: View, pull: float = 0.0) -> None:
    colours = np.broadcast_to(lines.colours, (len(lines.points), 4))
    for points, colour in zip(lines.points, colours, strict=True):
        if not np.isfinite(points).all():
            continue
        ends = view.seen(points)
        middle = -ends[:, 2].mean()
        # A line is a polygon of two corners; each cut point comes twice.
        kept = pieces.clip_near([(end, np.zeros(0)) for end in ends], view.near)
        if len(kept) < 2:
            continue
        seen = np.array([kept[0][0], kept[1][0]])
        piece = LinePiece(view, seen, colour, lines.width, lines.part, pull)
        goes_to = layer.lines if colour[3] >= 1 else layer.blended
        goes_to.append(Group(float(middle), [piece]))


def _pull(view: View, width: float) -> float:
    """By how many metres, or how much of the distance, strokes are drawn nearer."""
    whole = 1.0 if view.height is None else view.height
    return min(PULL * width / view.scale, MOST_PULL * whole)


class Canvas:
    """The samples of one layer: who won each, and how near it is.

    x, y: int (H, W, S), the samples in steps; pattern: int (H, W), of the screen door;
    winners: int (H, W, S), row in `pieces` or -1; keys: float64 (H, W, S).
    """

    def __init__(self, size: tuple[int, int], samples: int) -> None:
        self.size, self.offsets = size, np.array(OFFSETS[samples]) * 16
        y, x = np.mgrid[: size[1], : size[0]]
        self.x = (x * 256 + 128)[..., None] + self.offsets[:, 0]
        self.y = (y * 256 + 128)[..., None] + self.offsets[:, 1]
        self.pattern = BAYER[y & 7, x & 7]
        self.pieces: list[Piece] = []
        shape = (size[1], size[0], samples)
        self.winners = np.full(shape, -1)
        self.keys = np.full(shape, -np.inf)

    def _near(self, piece: Piece) -> tuple[Any, Any, tuple[slice, slice]]:
        """Samples (h, w, S) around a piece, in steps, and which pixels these are."""
        left, top, right, bottom = piece.bounds()
        width, height = self.size
        columns = slice(
            min(max(left // 256 - 1, 0), width), min(max(right // 256 + 2, 0), width)
        )
        rows = slice(
            min(max(top // 256 - 1, 0), height), min(max(bottom // 256 + 2, 0), height)
        )
        return self.x[rows, columns], self.y[rows, columns], (rows, columns)

    def _covered(self, group: Group) -> Iterator[tuple[Piece, Any, Any, Any]]:
        """Pixels that the pieces of a group reach: the piece, what is compared for
        depth, which samples are covered and nearest, each (h, w, S), and which pixels
        these are.
        """
        for piece in group.pieces:
            x, y, where = self._near(piece)
            covered = piece.inside(x, y)
            if isinstance(piece, FacePiece):
                # Pixels that the screen door lets through.
                opacity = piece.surface.look.opacity
                covered &= (self.pattern[where] < opacity * 64)[..., None]
                covered &= _mask(piece, x, y, covered)[..., None]
            if covered.any():
                keys = np.full(x.shape, float(group.rank or 0))
                if group.rank is None:
                    keys[covered] = piece.key(x[covered], y[covered])
                covered &= keys > self.keys[where]
                yield piece, keys, covered, where

    def add(self, group: Group) -> None:
        """Let a group win samples."""
        for piece, keys, covered, where in self._covered(group):
            self.winners[where][covered] = len(self.pieces)
            self.keys[where][covered] = keys[covered]
            self.pieces.append(piece)

    def _won(self) -> tuple[Any, Any, Any, Any]:
        """Who won samples of which pixels: row in `pieces`, row and column (n,), and
        samples (n, S).
        """
        found: list[Any] = [], [], [], []
        for n in range(len(self.offsets)):
            won = self.winners == self.winners[..., n : n + 1]
            is_first = (self.winners[..., n] >= 0) & ~won[..., :n].any(-1)
            rows, columns = np.nonzero(is_first)
            number = self.winners[rows, columns, n]
            for array, part in zip(
                found, (number, rows, columns, won[rows, columns]), strict=True
            ):
                array.append(part)
        number, rows, columns, samples = (np.concatenate(parts) for parts in found)
        return number, rows, columns, samples

    def _together(self, number: Any) -> Iterator[tuple[Piece, Any]]:
        """Places (n,) by what is on them: a line, or all faces of one surface together;
        and which places these are.
        """
        kinds: dict[int, list[int]] = {}
        for row in np.unique(number).tolist():
            piece = self.pieces[row]
            kind = piece.surface if isinstance(piece, FacePiece) else piece
            kinds.setdefault(id(kind), []).append(row)
        for rows in kinds.values():
            these = np.nonzero(np.isin(number, rows))[0]
            faces = [p for p in (self.pieces[r] for r in rows) if _is_face(p)]
            if faces:
                which = np.searchsorted(rows, number[these])
                yield FacePiece.joined(faces, which), these
            else:
                yield self.pieces[rows[0]], these

    def _mean(self, rows: Any, columns: Any, samples: Any) -> Any:
        """The mean place of samples in steps (n, 2)."""
        centre = np.stack([columns, rows], 1) * 256.0 + 128
        return centre + samples @ self.offsets / samples.sum(1, keepdims=True)

    def colour(self, picture: Any) -> None:
        """Put the mean of the samples into a picture (H, W, 4), linear, times alpha."""
        picture *= (self.winners < 0).mean(-1, keepdims=True)
        number, rows, columns, samples = self._won()
        at = self._mean(rows, columns, samples)
        for piece, n in self._together(number):
            colour = piece.colour_at(at[n, 0], at[n, 1])
            share = samples[n].mean(1)
            colour = np.concatenate([colour[:, :3], np.ones((len(n), 1))], 1)
            np.add.at(picture, (rows[n], columns[n]), colour * share[:, None])

    def blend(self, group: Group, copies: Any) -> None:
        """Draw a group that is seen through over the samples (H, W, S, 4)."""
        for piece, _, covered, where in self._covered(group):
            rows, columns = np.nonzero(covered.any(-1))
            if not len(rows):
                continue
            samples = covered[rows, columns]
            rows, columns = rows + where[0].start, columns + where[1].start
            at = self._mean(rows, columns, samples)
            colour = piece.colour_at(at[:, 0], at[:, 1])
            share = (colour[:, 3:] * samples)[..., None]
            colour = np.concatenate([colour[:, :3], np.ones((len(rows), 1))], 1)
            old = copies[rows, columns]
            copies[rows, columns] = old * (1 - share) + colour[:, None] * share

    def fill_buffers(self, view: View, target: Target) -> None:
        """Depth, normal, part and heat of the piece nearest in each pixel."""
        for array, empty in (
            (target.depth, np.inf),
            (target.normal, 0),
            (target.part, -1),
            (target.heat, np.nan),
        ):
            if array is not None:
                array[:] = empty
        number, rows, columns, samples = self._won()
        keys = np.where(samples, self.keys[rows, columns], -np.inf).max(1)
        # Of those in a pixel the nearest; of equal ones the first.
        order = np.lexsort((number, -keys, columns, rows))
        places = np.stack([rows[order], columns[order]], 1)
        is_first = np.ones(len(order), bool)
        is_first[1:] = (places[1:] != places[:-1]).any(1)
        order = order[is_first]
        number, rows, columns = number[order], rows[order], columns[order]
        x, y = columns * 256 + 128, rows * 256 + 128
        for piece, n in self._together(number):
            where = rows[n], columns[n]
            if target.depth is not None:
                target.depth[where] = piece.distance(view, x[n], y[n])
            if target.normal is not None:
                target.normal[where] = piece.normal_at(x[n], y[n])
            if target.part is not None:
                target.part[where] = piece.part
            if target.heat is not None:
                target.heat[where] = piece.heat_at(x[n], y[n])


def _is_face(piece: Piece) -> TypeGuard[FacePiece]:
    return isinstance(piece, FacePiece)


def _mask(piece: FacePiece, x: Any, y: Any, covered: Any) -> Any:
    """Pixels (h, w) whose alpha at the centre is not below the cutoff."""
    kept = np.ones(covered.shape[:2], bool)
    look = piece.surface.look
    if look.alpha == "mask":
        touched = covered.any(-1)
        centre_x, centre_y = x.mean(-1)[touched], y.mean(-1)[touched]
        kept[touched] = piece.base(centre_x, centre_y)[:, 3] >= look.cutoff
    return kept
