"""Which triangles touch which tiles.

The stream of elements (triangles, edges, lines) is divided into chunks. Each chunk
turns its elements into refs: rows of triangles, or of pieces where an element had to be
cut or is a line; culls them; and sorts what is left by tile. Chunks do not touch each
other's rows, so any thread can take any of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.cover import side
from flexor.draw.raster.kernels.cut import cut_polygon, land, lay_line, see, snap
from flexor.draw.raster.kernels.refs import (
    INSTANCE_OF,
    OF_ITEM,
    VERTEX_OF,
    Corners,
    Spots,
    corners_of,
    find_row,
    nobody,
    own,
)
from flexor.draw.raster.layout import CORNER, LINE_PIECES, Scene, Space
from flexor.maths.kernels.borrow import floats_at, ints_at
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.lanes import take
from flexor.maths.kernels.numbers import float32, float64, int64

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Longs

F = float32


@inline
def tiles_of(frame: Longs, x0: int, y0: int, x1: int, y1: int, x2: int, y2: int) -> int:
    """The tiles that a triangle's samples can lie in, packed: first and last column and
    row, eight bits each; -1 if none.
    """
    spread = at.SPREAD if frame[at.SAMPLES] > 1 else 0
    left = max((min(x0, x1, x2) + 127 - spread) >> 8, 0)
    right = min((max(x0, x1, x2) - 128 + spread) >> 8, frame[at.WIDTH] - 1)
    top = max((min(y0, y1, y2) + 127 - spread) >> 8, 0)
    bottom = min((max(y0, y1, y2) - 128 + spread) >> 8, frame[at.HEIGHT] - 1)
    if left > right or top > bottom:
        return -1
    return (
        left // at.TILE_W
        | right // at.TILE_W << 8
        | top // at.TILE_H << 16
        | bottom // at.TILE_H << 24
    )


@inline
def covers_none(frame: Longs, corners: Spots) -> bool:
    """Whether a triangle is so small that no sample lies in it: only where a look at
    one or two tells, and each pixel has one sample.
    """
    x0, y0, x1, y1, x2, y2 = corners
    left, right = (min(x0, x1, x2) + 127) >> 8, (max(x0, x1, x2) - 128) >> 8
    top, bottom = (min(y0, y1, y2) + 127) >> 8, (max(y0, y1, y2) - 128) >> 8
    if frame[at.SAMPLES] > 1 or right - left + bottom - top > 1:
        return False
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area < 0:
        x1, y1, x2, y2 = x2, y2, x1, y1
    x, y = left * 256 + 128, top * 256 + 128
    first = (
        side(x0, y0, x1, y1, x, y)
        | side(x1, y1, x2, y2, x, y)
        | side(x2, y2, x0, y0, x, y)
    )
    x, y = right * 256 + 128, bottom * 256 + 128
    last = (
        side(x0, y0, x1, y1, x, y)
        | side(x1, y1, x2, y2, x, y)
        | side(x2, y2, x0, y0, x, y)
    )
    return first < 0 and last < 0


@inline
def add_ref(
    frame: Longs,
    chunk: int,
    count: int,
    ref: int,
    is_two_sided: bool,
    corners: Spots,
    refs: Ints,
    starts: Ints,
) -> int:
    """Keep a triangle if it can be seen; gives the new count of refs.

    corners: x and y of three. Counts past the room there is, without writing.
    """
    x0, y0, x1, y1, x2, y2 = corners
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    # Seen from the front they go around counter-clockwise, and y points down.
    if area == 0 or (area > 0 and not is_two_sided):
        return count
    tiles = tiles_of(frame, x0, y0, x1, y1, x2, y2)
    if tiles < 0 or covers_none(frame, corners):
        return count
    if count < frame[at.REF_ROOM]:
        refs[chunk, 2 * count] = ref
        refs[chunk, 2 * count + 1] = tiles
        for row in range(tiles >> 16 & 255, (tiles >> 24 & 255) + 1):
            for column in range(tiles & 255, (tiles >> 8 & 255) + 1):
                starts[chunk, row * frame[at.TILES_X] + column + 1] += 1
    return count + 1


@inline
def sides_of(frame: Longs, screen: Floats, row: int) -> int:
    """What a vertex is beyond: see `layout`."""
    x, y = take(screen, row), take(screen, row + 1)
    if take(screen, row + 2) < F(0):
        return int64(x)
    far = F(at.ASIDE)
    sides = at.TOO_LEFT if x < -far else 0
    sides |= at.TOO_RIGHT if x > F(frame[at.WIDTH] * at.SUB) + far else 0
    sides |= at.TOO_HIGH if y < -far else 0
    sides |= at.TOO_LOW if y > F(frame[at.HEIGHT] * at.SUB) + far else 0
    return int64(sides)


@inline
def piece_corners(pieces: Floats, piece: int) -> Spots:
    """X and y of the corners of a piece."""
    i = piece * at.PIECE_FLOATS
    return (
        int64(pieces[i]),
        int64(pieces[i + 1]),
        int64(pieces[i + 4]),
        int64(pieces[i + 5]),
        int64(pieces[i + 8]),
        int64(pieces[i + 9]),
    )


@part
def cut_triangle(
    view: Doubles,
    frame: Longs,
    items: Longs,
    screen: Floats,
    item: int,
    instance: int,
    a: int,
    b: int,
    c: int,
    piece: int,
    last: int,
    room: Doubles,
    pieces: Floats,
) -> int:
    """Cut one triangle; gives how many pieces it makes, rows from `piece` on.

    Rows from `last` on are not written.
    """
    vertices = items[item + at.VERTICES]
    base = items[item + at.FIRST_VERTEX] + instance * vertices
    positions = floats_at(
        items[item + at.POSITIONS], vertices * items[item + at.INSTANCES] * 3
    )
    for corner in range(3):
        vertex = a if corner == 0 else (b if corner == 1 else c)
        p = 3 * (instance * vertices + vertex)
        across, down, distance = see(
            view,
            float64(positions[p]),
            float64(positions[p + 1]),
            float64(positions[p + 2]),
        )
        to = corner * CORNER
        room[to], room[to + 1], room[to + 2] = across, down, distance
        room[to + 3] = 1.0 if corner == 1 else 0.0
        room[to + 4] = 1.0 if corner == 2 else 0.0
    is_flat = frame[at.IS_FLAT_VIEW]
    count = cut_polygon(view, is_flat, 3, room)
    made = 0
    for i in range(1, count - 1):
        if piece + made < last:
            row = (piece + made) * at.PIECE_FLOATS
            for corner in range(3):
                p = (0 if corner == 0 else i + corner - 1) * CORNER
                x, y, near_by, depth = land(
                    view, is_flat, room[p], room[p + 1], room[p + 2], 0.0
                )
                x, y = snap(x), snap(y)
                # A corner that was not cut is where it is in other triangles.
                one, two = room[p + 3], room[p + 4]
                if (one == 0 or one == 1) and (two == 0 or two == 1):
                    vertex = b if one == 1 else (c if two == 1 else a)
                    k = 4 * (base + vertex)
                    if screen[k + 2] > F(0):
                        x, y = screen[k], screen[k + 1]
                        near_by, depth = screen[k + 2], screen[k + 3]
                to = row + 4 * corner
                pieces[to], pieces[to + 1] = F(x), F(y)
                pieces[to + 2], pieces[to + 3] = F(near_by), F(depth)
                to = row + at.PIECE_SHARES + 2 * corner
                pieces[to], pieces[to + 1] = F(room[p + 3]), F(room[p + 4])
        made += 1
    return made


@inline
def normal_of(p: Floats, a: int, b: int, c: int) -> Corners:
    """Normal of a triangle of positions, as long as twice its area."""
    ux, uy, uz = p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]
    vx, vy, vz = p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@inline
def is_stroke(
    view: Doubles,
    frame: Longs,
    kinds: int,
    crease: float,
    p: Floats,
    a: int,
    b: int,
    c: int,
    d: int,
) -> bool:
    """Whether the edge a b, with faces a b c and b a d (d below 0: none), is drawn."""
    if kinds & at.AT_ALL:
        return True
    if d < 0:
        return kinds & at.AT_BORDER != 0
    nx, ny, nz = normal_of(p, a, b, c)
    mx, my, mz = normal_of(p, b, a, d)
    if kinds & at.AT_SILHOUETTE:
        # From the surface to the eye; without perspective it is the same everywhere.
        ex, ey, ez = F(view[at.EYE]), F(view[at.EYE + 1]), F(view[at.EYE + 2])
        if not frame[at.IS_FLAT_VIEW]:
            ex, ey, ez = ex - p[a], ey - p[a + 1], ez - p[a + 2]
        if (nx * ex + ny * ey + nz * ez > 0) != (mx * ex + my * ey + mz * ez > 0):
            return True
    if kinds & at.AT_CREASE:
        both = (nx * nx + ny * ny + nz * nz) * (mx * mx + my * my + mz * mz)
        inner = nx * mx + ny * my + nz * mz
        return inner < crease * F(math.sqrt(both))
    return False


@part
def lay_stroke(
    element: int,
    kind: int,
    piece: int,
    last: int,
    view: Doubles,
    frame: Longs,
    items: Longs,
    looks: Floats,
    lines: Longs,
    widths: Floats,
    pieces: Floats,
) -> int:
    """The pieces of an edge (kind 1) or a line (kind 2), rows from `piece` on; gives
    how many, or would be if `last` leaves no room; -1 if a point is not finite.
    """
    if piece + LINE_PIECES > last:
        return LINE_PIECES
    is_flat = frame[at.IS_FLAT_VIEW]
    if kind == 2:
        row = find_row(lines, at.LINE_INTS, at.FIRST_LINE, element)
        line = row * at.LINE_INTS
        points = floats_at(lines[line + at.LINE_POINTS], lines[line + at.LINES] * 6)
        p = 6 * (element - lines[line + at.FIRST_LINE])
        for k in range(6):
            if not abs(points[p + k]) < np.inf:
                return -1
        x0, y0, z0 = points[p], points[p + 1], points[p + 2]
        x1, y1, z1 = points[p + 3], points[p + 4], points[p + 5]
        width = float64(widths[row])
        pull = 0.0
    else:
        row = find_row(items, at.ITEM_INTS, at.FIRST_EDGE, element)
        item, look = row * at.ITEM_INTS, row * at.ITEM_FLOATS
        instance, edge = divmod(
            element - items[item + at.FIRST_EDGE], items[item + at.EDGES_EACH]
        )
        edges = ints_at(items[item + at.EDGES], items[item + at.EDGES_EACH] * 4)
        total = items[item + at.VERTICES] * items[item + at.INSTANCES]
        points = floats_at(items[item + at.POSITIONS], total * 3)
        base = instance * items[item + at.VERTICES]
        a, b = 3 * (base + edges[4 * edge]), 3 * (base + edges[4 * edge + 1])
        c, d = 3 * (base + edges[4 * edge + 2]), edges[4 * edge + 3]
        if d >= 0:
            d = 3 * (base + d)
        for k in range(3):
            if not (abs(points[a + k]) < np.inf and abs(points[b + k]) < np.inf):
                return -1
        kinds = items[item + at.STROKE_KINDS]
        if not is_stroke(
            view, frame, kinds, looks[look + at.CREASE], points, a, b, c, d
        ):
            return 0
        x0, y0, z0 = points[a], points[a + 1], points[a + 2]
        x1, y1, z1 = points[b], points[b + 1], points[b + 2]
        width = float64(looks[look + at.STROKE_WIDTH])
        pull = min(view[at.PULL] * width, view[at.MOST_PULL])
    return lay_line(
        view,
        is_flat,
        pull,
        width,
        float64(x0),
        float64(y0),
        float64(z0),
        float64(x1),
        float64(y1),
        float64(z1),
        piece,
        pieces,
    )


@inline
def element_at(
    place: int, segment: int, segments: Longs, order: Ints
) -> tuple[int, int]:
    """The element at a place of the stream, and its segment; that before is given."""
    row = segment * at.SEGMENT_INTS
    last = len(segments) - at.SEGMENT_INTS
    while row < last and take(segments, row + at.SEGMENT_INTS) <= place:
        row += at.SEGMENT_INTS
    element = place - take(segments, row + at.SEGMENT_FIRST)
    sorted_from = take(segments, row + at.SEGMENT_ORDER)
    if sorted_from >= 0:
        element = int64(take(order, element + sorted_from))
    else:
        element += take(segments, row + at.SEGMENT_BASE)
    return element, row // at.SEGMENT_INTS


@inline
def sort_by_tile(
    frame: Longs, chunk: int, count: int, refs: Ints, starts: Ints, lists: Ints
) -> None:
    """From counts (in the row after each tile's) to starts, and the refs to lists."""
    tile_count = frame[at.TILES_X] * frame[at.TILES_Y]
    before = 0
    for tile in range(tile_count + 1):
        here = starts[chunk, tile]
        starts[chunk, tile] = before
        before += here
    # Now starts[t + 1] is where tile t begins; it moves to where tile t ends.
    starts[chunk, 0] = 0
    for i in range(count):
        ref, tiles = refs[chunk, 2 * i], refs[chunk, 2 * i + 1]
        for row in range(tiles >> 16 & 255, (tiles >> 24 & 255) + 1):
            for column in range(tiles & 255, (tiles >> 8 & 255) + 1):
                tile = row * frame[at.TILES_X] + column + 1
                lists[chunk, starts[chunk, tile]] = ref
                starts[chunk, tile] += 1


@part
def fill_bins(chunk: int, scene: Scene, space: Space, room: Doubles) -> None:
    """Sort the elements of one chunk into tiles.

    Afterwards lists[chunk, starts[chunk, t]:starts[chunk, t + 1]] are the refs of tile
    t, in the order of the stream; found[chunk] tells what there was or would have been.
    room: CUT_ROOM numbers.
    """
    view, frame, items = scene.camera, scene.frame, scene.items
    segments, chunks = scene.segments, scene.chunks
    screen, pieces, refs = space.screen, space.pieces, space.refs
    starts, found = space.starts, space.found
    tile_count = frame[at.TILES_X] * frame[at.TILES_Y]
    for tile in range(tile_count + 1):
        starts[chunk, tile] = 0
    triangles, edges = frame[at.TRIANGLE_COUNT], frame[at.EDGE_COUNT]
    first_ref = triangles  # pieces come after all triangles
    first_piece = chunk * frame[at.PIECE_ROOM]
    last_piece = first_piece + frame[at.PIECE_ROOM]
    count, made, skipped = 0, first_piece, 0
    segment = find_row(
        segments, at.SEGMENT_INTS, at.SEGMENT_FIRST, chunks[chunk, at.CHUNK_FIRST]
    )
    owner = nobody()
    for place in range(chunks[chunk, at.CHUNK_FIRST], chunks[chunk, at.CHUNK_LAST]):
        element, segment = element_at(place, segment, segments, scene.order)
        if element >= triangles:
            kind = 1 if element < triangles + edges else 2
            own_number = element - triangles - (edges if kind == 2 else 0)
            laid = lay_stroke(
                own_number, kind, made, last_piece, view, frame, items, scene.looks,
                scene.lines, scene.widths, pieces,
            )  # fmt: skip
            is_two_sided = True
            if laid < 0:
                skipped += 1
                continue
        else:
            owner = own(items, element, owner)
            a, b, c = corners_of(items, element, owner)
            base = owner[VERTEX_OF]
            is_two_sided = take(items, owner[OF_ITEM] + at.IS_TWO_SIDED) != 0
            i, j, k = 4 * (base + a), 4 * (base + b), 4 * (base + c)
            near_a, near_b = take(screen, i + 2), take(screen, j + 2)
            near_c = take(screen, k + 2)
            if near_a > F(0) and near_b > F(0) and near_c > F(0):
                spots = (
                    int64(take(screen, i)),
                    int64(take(screen, i + 1)),
                    int64(take(screen, j)),
                    int64(take(screen, j + 1)),
                    int64(take(screen, k)),
                    int64(take(screen, k + 1)),
                )
                count = add_ref(
                    frame, chunk, count, element, is_two_sided, spots, refs, starts
                )
                continue
            if near_a != near_a or near_b != near_b or near_c != near_c:
                skipped += 1
                continue
            beyond = sides_of(frame, screen, i) & sides_of(frame, screen, j)
            if beyond & sides_of(frame, screen, k):
                continue
            laid = cut_triangle(
                view, frame, items, screen, owner[OF_ITEM], owner[INSTANCE_OF],
                a, b, c, made, last_piece, room, pieces,
            )  # fmt: skip
        for piece in range(made, min(made + laid, last_piece)):
            space.sources[piece] = element
            count = add_ref(
                frame, chunk, count, first_ref + piece, is_two_sided,
                piece_corners(pieces, piece), refs, starts,
            )  # fmt: skip
        made += laid
    total = 0
    for tile in range(tile_count):
        total += starts[chunk, tile + 1]
    found[chunk, at.FOUND_REFS], found[chunk, at.FOUND_LIST] = count, total
    found[chunk, at.FOUND_PIECES], found[chunk, at.FOUND_SKIPPED] = (
        made - first_piece,
        skipped,
    )
    if count <= frame[at.REF_ROOM] and total <= frame[at.LIST_ROOM]:
        sort_by_tile(frame, chunk, count, refs, starts, space.lists)
