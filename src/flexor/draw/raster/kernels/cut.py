"""What reaches behind the camera or far beside the picture is cut before projecting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flexor.draw.raster import layout as at
from flexor.draw.raster.layout import CORNER, LINE_PIECES, MOST_CORNERS
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.numbers import float32

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats

F = float32
Corners = tuple[float, float, float]
Row = tuple[float, float, float, float]  # x, y, 1/distance and depth


@inline
def see(view: Doubles, x: float, y: float, z: float) -> Corners:
    """A world point as the camera sees it: across and down in 1/256 pixel at a distance
    of one metre (or at any, without perspective), and distance.
    """
    scale = view[at.SCALE]
    across = (view[0] * x + view[1] * y + view[2] * z + view[3]) * scale
    down = -(view[4] * x + view[5] * y + view[6] * z + view[7]) * scale
    return across, down, view[8] * x + view[9] * y + view[10] * z + view[11]


@inline
def beyond(
    plane: int, view: Doubles, is_flat: int, across: float, down: float, distance: float
) -> float:
    """How far a point is inside one of five planes: near, right, left, bottom, top.

    The sides stand beyond where vertices need no cut: none of those is ever cut away.
    """
    if plane == 0:
        return distance - view[at.NEAR]
    middle = 1.0 if is_flat else distance
    reach = at.GUARD * middle
    if plane == 1:
        return reach - (across + view[at.CENTRE_X] * middle)
    if plane == 2:
        return reach + (across + view[at.CENTRE_X] * middle)
    if plane == 3:
        return reach - (down + view[at.CENTRE_Y] * middle)
    return reach + (down + view[at.CENTRE_Y] * middle)


@part
def cut_polygon(view: Doubles, is_flat: int, corners: int, room: Doubles) -> int:
    """Cut a polygon in the first half of `room` by all planes; gives its corners left,
    which stand in the first half again.
    """
    half = (MOST_CORNERS + 1) * CORNER
    for plane in range(5):
        kept = 0
        for i in range(corners):
            a, b = i * CORNER, (i + 1) % corners * CORNER
            in_a = beyond(plane, view, is_flat, room[a], room[a + 1], room[a + 2])
            in_b = beyond(plane, view, is_flat, room[b], room[b + 1], room[b + 2])
            if in_a >= 0 and kept < MOST_CORNERS:
                for k in range(CORNER):
                    room[half + kept * CORNER + k] = room[a + k]
                kept += 1
            if (in_a >= 0) != (in_b >= 0) and kept < MOST_CORNERS:
                # From the inside out, so that two triangles with this edge agree.
                if in_a < 0:
                    a, b, in_a, in_b = b, a, in_b, in_a
                share = in_a / (in_a - in_b)
                for k in range(CORNER):
                    cut = room[a + k] + (room[b + k] - room[a + k]) * share
                    room[half + kept * CORNER + k] = cut
                kept += 1
        corners = kept
        for k in range(corners * CORNER):
            room[k] = room[half + k]
        if corners < 3:
            return 0
    return corners


@inline
def land(
    view: Doubles,
    is_flat: int,
    across: float,
    down: float,
    distance: float,
    pull: float,
) -> Row:
    """Screen row of a point that was cut: x, y in 1/256 pixel, not rounded; 1/distance
    and depth, pulled forward by `pull` metres, or its share of the distance.
    """
    if is_flat:
        return (
            view[at.CENTRE_X] + across,
            view[at.CENTRE_Y] + down,
            1.0,
            pull - distance,
        )
    near_by = 1.0 / distance
    return (
        view[at.CENTRE_X] + across * near_by,
        view[at.CENTRE_Y] + down * near_by,
        near_by,
        near_by / (1.0 - pull),
    )


@inline
def snap(value: Any) -> int:
    return math.floor(value + 0.5)


@inline
def _put_corner(
    pieces: Floats, to: int, x: float, y: float, near_by: float, depth: float
) -> None:
    pieces[to], pieces[to + 1] = F(snap(x)), F(snap(y))
    pieces[to + 2], pieces[to + 3] = F(near_by), F(depth)


@inline
def _put_rectangle(
    pieces: Floats, piece: int, p: Row, q: Row, ux: float, uy: float, pull: float
) -> None:
    """Two pieces around p and q, which are x, y, 1/distance and depth; u: along the
    line, as long as half its width; pull: what depth has been pulled forward by.
    """
    for k in range(2):
        row = (piece + k) * at.PIECE_FLOATS
        for corner in range(3):
            # Corners 0 1 2 of the rectangle, then 0 2 3.
            which = corner if k == 0 or corner == 0 else corner + 1
            end = q if which == 1 or which == 2 else p
            aside = 1.0 if which <= 1 else -1.0
            x, y = end[0] - aside * uy, end[1] + aside * ux
            _put_corner(pieces, row + 4 * corner, x, y, end[2], end[3])
            pieces[row + at.PIECE_SHARES + corner] = F(pull - end[3])


@part
def lay_line(
    view: Doubles,
    is_flat: int,
    pull: float,
    width: float,
    x0: float,
    y0: float,
    z0: float,
    x1: float,
    y1: float,
    z1: float,
    piece: int,
    pieces: Floats,
) -> int:
    """A line from one world point to another as pieces, rows from `piece` on.

    width: pixels. Ends are square and reach half of it further, at the depth of the
    ends. Gives how many pieces, at most LINE_PIECES; 0 if nothing can be seen.
    """
    a0, b0, d0 = see(view, x0, y0, z0)
    a1, b1, d1 = see(view, x1, y1, z1)
    for plane in range(5):
        in_0 = beyond(plane, view, is_flat, a0, b0, d0)
        in_1 = beyond(plane, view, is_flat, a1, b1, d1)
        if not (in_0 >= 0 or in_1 >= 0):
            return 0
        if in_0 < 0:
            share = in_1 / (in_1 - in_0)
            a0, b0 = a1 + (a0 - a1) * share, b1 + (b0 - b1) * share
            d0 = d1 + (d0 - d1) * share
        elif in_1 < 0:
            share = in_0 / (in_0 - in_1)
            a1, b1 = a0 + (a1 - a0) * share, b0 + (b1 - b0) * share
            d1 = d0 + (d1 - d0) * share
    p = land(view, is_flat, a0, b0, d0, pull)
    q = land(view, is_flat, a1, b1, d1, pull)
    ux, uy = q[0] - p[0], q[1] - p[1]
    length = math.sqrt(ux * ux + uy * uy)
    half = width * (at.SUB / 2.0)
    reach = half / length if length > 0 else 1e9
    if length > 0:
        ux, uy = ux * reach, uy * reach
    else:
        ux, uy = half, 0.0
    # Where depth hardly changes over an end, the rectangle is just made longer.
    if reach * abs(q[3] - p[3]) < 1e-3 * min(abs(p[3]), abs(q[3])):
        near_by, depth = (q[2] - p[2]) * reach, (q[3] - p[3]) * reach
        before = (p[0] - ux, p[1] - uy, p[2] - near_by, p[3] - depth)
        after = (q[0] + ux, q[1] + uy, q[2] + near_by, q[3] + depth)
        _put_rectangle(pieces, piece, before, after, ux, uy, pull)
        return 2
    before = (p[0] - ux, p[1] - uy, p[2], p[3])
    after = (q[0] + ux, q[1] + uy, q[2], q[3])
    _put_rectangle(pieces, piece, before, p, ux, uy, pull)
    _put_rectangle(pieces, piece + 2, p, q, ux, uy, pull)
    _put_rectangle(pieces, piece + 4, q, after, ux, uy, pull)
    return LINE_PIECES
