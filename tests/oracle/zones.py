"""Circles among the walls of zones, slow and plain.

Distances come from the definition, first contacts from halving intervals instead of
equations, nearest places from trying all that can be one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from flexor.scene.stage.zone import Zone

Point = tuple[float, float]
Side = tuple[Point, Point]
SLACK = 1e-9  # metres that a wall may get nearer without being in the way


def sides_of(zones: Sequence[Zone]) -> list[Side]:
    found: list[Side] = []
    for zone in zones:
        corners: list[Point] = [(x, z) for x, z in zone.corners.tolist()]
        found += zip(corners, corners[1:] + corners[:1], strict=True)
    return found


def nearest_on(side: Side, place: Point) -> Point:
    (ax, az), (bx, bz) = side
    wx, wz = bx - ax, bz - az
    foot = ((place[0] - ax) * wx + (place[1] - az) * wz) / (wx * wx + wz * wz)
    foot = min(max(foot, 0.0), 1.0)
    return ax + foot * wx, az + foot * wz


def distance(side: Side, place: Point) -> float:
    return math.dist(nearest_on(side, place), place)


def clearance(zones: Sequence[Zone], place: Point) -> float:
    """How far a place is from the nearest wall."""
    return min(distance(side, place) for side in sides_of(zones))


def is_free(zones: Sequence[Zone], place: Point) -> bool:
    """Whether every zone allows a place, by the angle that its corners go around it."""
    for zone in zones:
        total = 0.0
        for a, b in sides_of([zone]):
            one = math.atan2(a[1] - place[1], a[0] - place[0])
            two = math.atan2(b[1] - place[1], b[0] - place[0])
            total += math.remainder(two - one, math.tau)
        if (abs(total) > math.pi) != (zone.keeps == "in"):
            return False
    return True


def first_contact(
    side: Side, start: Point, way: Point, length: float, radius: float
) -> float:
    """How far along a way (unit) a circle meets a side; infinity if it does not."""

    def at(t: float) -> float:
        return distance(side, (start[0] + t * way[0], start[1] + t * way[1]))

    low, high = 0.0, length  # the distance is convex: its lowest place by thirds
    for _ in range(120):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        if at(one) <= at(two):
            high = two
        else:
            low = one
    lowest = (low + high) / 2
    if at(lowest) > min(radius, at(0.0)) - SLACK:
        return math.inf
    if at(0.0) <= radius:
        return 0.0
    low, high = 0.0, lowest
    for _ in range(120):
        half = (low + high) / 2
        if at(half) > radius:
            low = half
        else:
            high = half
    return high


def slide(
    zones: Sequence[Zone], start: Point, goal: Point, radius: float, most: int = 16
) -> Point:
    """Where a circle gets that may stand at `start` and wants to be at `goal`."""
    (x, z), last, left = start, None, 1.0
    wx, wz = goal[0] - x, goal[1] - z
    mx, mz = wx, wz
    for _ in range(most):
        length = math.hypot(mx, mz)
        if length < 1e-12:
            return x, z
        way = (mx / length, mz / length)
        meets = [
            (first_contact(side, (x, z), way, length, radius), side)
            for side in sides_of(zones)
        ]
        first, side = min(meets, key=lambda meet: meet[0])
        if first == math.inf:
            return x + mx, z + mz
        x, z = x + first * way[0], z + first * way[1]
        left *= 1 - first / length
        px, pz = nearest_on(side, (x, z))
        size = math.dist((px, pz), (x, z))
        nx, nz = (x - px) / size, (z - pz) / size
        into = wx * nx + wz * nz
        mx, mz = left * (wx - into * nx), left * (wz - into * nz)
        if last and first < SLACK and mx * last[0] + mz * last[1] < 0:
            return x, z
        last = (nx, nz)
    return x, z


def _walls(zones: Sequence[Zone], radius: float) -> Iterator[tuple[Point, Point, bool]]:
    """Lines (place, unit direction) and circles (middle, -) of the edges of room."""
    for (ax, az), (bx, bz) in sides_of(zones):
        size = math.dist((ax, az), (bx, bz))
        tx, tz = (bx - ax) / size, (bz - az) / size
        for side in (radius, -radius):
            yield (ax - side * tz, az + side * tx), (tx, tz), False
        yield (ax, az), (0.0, 0.0), True


def _meet_line(place: Point, way: Point, middle: Point, radius: float) -> list[Point]:
    along = (middle[0] - place[0]) * way[0] + (middle[1] - place[1]) * way[1]
    fx, fz = place[0] + along * way[0], place[1] + along * way[1]
    square = radius**2 - (fx - middle[0]) ** 2 - (fz - middle[1]) ** 2
    if square < 0:
        return []
    half = math.sqrt(square)
    return [(fx + s * way[0], fz + s * way[1]) for s in (-half, half)]


def nearest_room(zones: Sequence[Zone], place: Point, radius: float) -> Point | None:
    """The nearest place with room for a circle; None if there is none.

    It is the place itself, the nearest of a line or circle that room ends at, or where
    two of these cross.
    """
    walls = list(_walls(zones, radius))
    tries = [place]
    for at, way, is_round in walls:
        if is_round:
            far = math.dist(at, place)
            if far > 0:
                part = radius / far
                x, z = place[0] - at[0], place[1] - at[1]
                tries.append((at[0] + part * x, at[1] + part * z))
        else:
            along = (place[0] - at[0]) * way[0] + (place[1] - at[1]) * way[1]
            tries.append((at[0] + along * way[0], at[1] + along * way[1]))
    for number, (at, way, is_round) in enumerate(walls):
        for other, course, is_ring in walls[number + 1 :]:
            if is_round and is_ring:
                far = math.dist(at, other)
                if 0 < far <= 2 * radius:
                    half = ((at[0] + other[0]) / 2, (at[1] + other[1]) / 2)
                    turned = (-(other[1] - at[1]) / far, (other[0] - at[0]) / far)
                    tries += _meet_line(half, turned, at, radius)
            elif is_round:
                tries += _meet_line(other, course, at, radius)
            elif is_ring:
                tries += _meet_line(at, way, other, radius)
            else:
                slope = way[0] * course[1] - way[1] * course[0]
                if abs(slope) > 1e-9:
                    x, z = other[0] - at[0], other[1] - at[1]
                    along = (x * course[1] - z * course[0]) / slope
                    tries.append((at[0] + along * way[0], at[1] + along * way[1]))
    tries.sort(key=lambda one: math.dist(one, place))
    for one in tries:
        if clearance(zones, one) >= radius - 1e-7 and is_free(zones, one):
            return one
    return None
