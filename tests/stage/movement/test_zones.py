"""Zones hold whoever walks, runs or dashes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from flexor.scene.stage.zone import Zone
from flexor.stage.movement.kernels import zones as kernel_zones
from flexor.stage.movement.zones import keep_in_zones, make_zones
from tests.oracle import zones as oracle
from tests.stage.movement.zone_shapes import SQUARE

RADIUS = 0.3


DASH = 0.5  # metres a tick: 30 metres a second


SQUARE_OF_4 = [(0, 0), (4, 0), (4, 4), (0, 4)]


L_SHAPE = [(0, 0), (6, 0), (6, 2), (2, 2), (2, 6), (0, 6)]


def round_of(count: int, radius: float) -> Any:
    turns = np.arange(count) * math.tau / count
    return radius * np.stack([np.cos(turns), np.sin(turns)], 1)


def star(points: int = 5, outer: float = 4.0, inner: float = 1.6) -> Any:
    return round_of(2 * points, 1.0) * np.tile([outer, inner], points)[:, None]


def spiral() -> Any:
    """A corridor 1.6 m wide, of two and a half turns, with walls 0.6 m thick."""
    turns = np.linspace(0.5, 5 * np.pi, 60)
    ways = np.stack([np.cos(turns), np.sin(turns)], 1)
    inner = ways * (0.35 * turns)[:, None]
    outer = ways * (0.35 * turns + 1.6)[:, None]
    return np.concatenate([inner, outer[::-1]])


def box(x: float, z: float, width: float, depth: float, **more: Any) -> Zone:
    corners = [(x, z), (x + width, z), (x + width, z + depth), (x, z + depth)]
    return Zone(np.array(corners, float), **{"keeps": "out", **more})


PLACES = {
    "square": [Zone(SQUARE)],
    "ring": [Zone(round_of(12, 6)), box(1, 1, 1, 1), Zone(star(4, 1, 0.4) - 2, "out")],
    "L": [Zone(L_SHAPE[::-1])],
    "star": [Zone(star())],
    "spiral": [Zone(spiral())],
    "overlapping": [Zone(round_of(9, 5)), box(4, -1, 3, 2), box(-1, -6, 1, 4)],
}


def kept(
    zones: list[Zone], before: Any, place: Any, radius: float = RADIUS
) -> tuple[Any, bool, Any]:
    """Where one character gets, whether it touched a wall, and the normal."""
    out = np.array([place], float)
    touched, normals = np.zeros(1, bool), np.zeros((1, 2))
    keep_in_zones(
        make_zones(zones),
        np.array([before], float),
        out,
        np.array([radius]),
        touched=touched,
        normals=normals,
    )
    return out[0], bool(touched[0]), normals[0]


def measure(zones: list[Zone], places: Any) -> tuple[Any, Any]:
    """Which places are allowed, and how far each is from the nearest wall."""
    free, least = np.ones(len(places), bool), np.full(len(places), np.inf)
    for zone in zones:
        a, b = zone.corners, np.roll(zone.corners, -1, 0)
        way, from_a = b - a, places[:, None] - a
        foot = np.clip((from_a * way).sum(-1) / (way * way).sum(-1), 0, 1)
        away = from_a - foot[..., None] * way
        least = np.minimum(least, np.hypot(away[..., 0], away[..., 1]).min(1))
        is_past = (a[:, 1] > places[:, None, 1]) != (b[:, 1] > places[:, None, 1])
        turn = way[:, 0] * from_a[..., 1] - way[:, 1] * from_a[..., 0]
        is_left = (turn > 0) == (b[:, 1] > a[:, 1])
        free &= ((is_past & is_left).sum(1) % 2 == 1) == (zone.keeps == "in")
    return free, least


def wander(rng: Any, heading: Any, places: Any) -> Any:
    """Half of the walkers dash, half walk; now and then one turns about."""
    count = len(heading)
    heading += rng.normal(0, 0.2, count)
    heading[rng.random(count) < 0.05] += rng.uniform(0, math.tau)
    speed = np.where(rng.random(count) < 0.5, DASH, 0.03)
    return places + np.stack([np.cos(heading), np.sin(heading)], 1) * speed[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
def test_walks_and_dashes_stay_inside(name: str, rng: np.random.Generator) -> None:
    zones, count = PLACES[name], 1000
    tables, radii = make_zones(zones), np.full(count, RADIUS)
    places = rng.uniform(-6, 6, (count, 2))  # some are put back first
    keep_in_zones(tables, places.copy(), places, radii)
    heading, most, gone = rng.uniform(0, math.tau, count), 0.0, np.zeros(count)
    for _ in range(100):
        before, wanted = places, wander(rng, heading, places)
        places = np.empty_like(wanted)
        keep_in_zones(tables, before, wanted, radii, out=places)
        free, clear = measure(zones, places)
        assert free.all()
        most = max(most, float((RADIUS - clear).max()))
        moved = np.hypot(*(places - before).T)
        # No way is longer than what was wanted: nobody is thrown over a wall.
        assert (moved <= np.hypot(*(wanted - before).T) + 1e-5).all()
        gone += moved
    assert most < 1e-5
    assert gone.mean() > 5  # and they get somewhere


@pytest.mark.slow
def test_dashes_reach_both_ends_of_a_spiral(rng: np.random.Generator) -> None:
    zones = PLACES["spiral"]
    tables, radii = make_zones(zones), np.full(50, RADIUS)
    middle = 0.35 * 8 + 0.8
    places = np.tile([middle * math.cos(8), middle * math.sin(8)], (50, 1))
    heading, far = rng.uniform(0, math.tau, 50), []
    for _ in range(1500):
        before = places.copy()
        places = wander(rng, heading, places)
        keep_in_zones(tables, before, places, radii)
        far.append(np.hypot(*places.T))
    assert np.min(far) < 1.6
    assert np.max(far) > 6.3


# The rule for one wall.


@pytest.mark.parametrize("turn", [1, -1])
def test_too_near_a_wall(turn: int) -> None:
    place, touched, normal = kept([Zone(SQUARE[::turn])], (2, 0.1), (2, 0.1))
    np.testing.assert_allclose(place, (2, RADIUS), atol=1e-9)
    assert touched
    np.testing.assert_allclose(normal, (0, 1), atol=1e-12)


@pytest.mark.parametrize("turn", [1, -1])
def test_beyond_a_wall(turn: int) -> None:
    place, touched, normal = kept([Zone(SQUARE[::turn])], (1, -0.4), (1, -0.4))
    np.testing.assert_allclose(place, (1, RADIUS), atol=1e-9)
    assert touched
    np.testing.assert_allclose(normal, (0, 1), atol=1e-12)


@pytest.mark.parametrize("turn", [1, -1])
def test_walls_that_keep_out(turn: int) -> None:
    pool = [Zone(SQUARE[::turn], keeps="out")]
    place, _, normal = kept(pool, (3.9, 2), (3.9, 2))
    np.testing.assert_allclose(place, (4 + RADIUS, 2), atol=1e-9)
    np.testing.assert_allclose(normal, (1, 0), atol=1e-12)
    place, _, _ = kept(pool, (-2, 1), (2, 1))
    np.testing.assert_allclose(place, (-RADIUS, 1), atol=1e-9)
    assert kept(pool, (9, 9), (7, 8))[0].tolist() == [7, 8]


def test_corner_pushes_from_the_corner() -> None:
    near = (2 - 0.1, 2 - 0.1)  # of the corner that points into the L
    place, _, normal = kept([Zone(L_SHAPE)], near, near)
    np.testing.assert_allclose(place, 2 - RADIUS / math.sqrt(2), atol=1e-9)
    np.testing.assert_allclose(normal, -1 / math.sqrt(2), atol=1e-9)


def test_two_walls_at_once() -> None:
    place, _, _ = kept([Zone(SQUARE)], (0.1, 0.2), (0.1, 0.2))
    np.testing.assert_allclose(place, RADIUS, atol=1e-9)
    place, _, _ = kept([Zone(SQUARE)], (2, 2), (-3, -4))
    np.testing.assert_allclose(place, RADIUS, atol=1e-9)


# Sliding.


def test_slides_with_what_is_left() -> None:
    place, touched, normal = kept([Zone(SQUARE)], (1, 0.4), (1.5, -0.1))
    np.testing.assert_allclose(place, (1.5, RADIUS), atol=1e-9)
    assert touched
    assert normal.tolist() == [0, 1]


def test_parallel_motion_is_not_slowed() -> None:
    for step in range(8):
        x = 0.5 + 0.1 * step
        place, touched, _ = kept([Zone(SQUARE)], (x, RADIUS), (x + 0.5, RADIUS))
        assert place.tolist() == [x + 0.5, RADIUS]
        assert touched
    turns = np.array([[0.8, 0.6], [-0.6, 0.8]])  # along walls that are aslant
    tables = make_zones([Zone(np.array(SQUARE) @ turns)])
    places = np.array([[0.5, RADIUS]]) @ turns
    for _ in range(25):
        before = places.copy()
        places += [0.08, 0.06]
        keep_in_zones(tables, before, places, np.array([RADIUS]))
        assert math.dist(before[0], places[0]) == pytest.approx(0.1, abs=1e-9)


def test_slides_from_wall_to_wall() -> None:
    ring = [Zone(round_of(60, 3))]  # sides of 0.3 m
    place = np.array([2.6, 0.0])
    for _ in range(100):
        angle = math.atan2(place[1], place[0])
        onward = place + 0.5 * np.array([-math.sin(angle), math.cos(angle)])
        after, touched, _ = kept(ring, place, onward)
        assert math.dist(after, place) > 0.45
        place = after
    assert touched


def test_stands_still_in_a_blunt_corner() -> None:
    ring = [Zone(round_of(12, 6))]
    corner, _, _ = kept(ring, (0, 0), (9, 0))
    np.testing.assert_allclose(corner[1], 0, atol=1e-12)
    for angle in (-0.2, -0.1, 0.1, 0.2):  # less than half of the turn of the wall
        way = 0.1 * np.array([math.cos(angle), math.sin(angle)])
        after, _, _ = kept(ring, corner, corner + way)
        np.testing.assert_allclose(after, corner, atol=1e-8)
    after, _, _ = kept(ring, corner, corner + np.array([0.1, 0.1]))
    assert after[1] > 0.05


def test_slides_around_a_corner_of_an_obstacle() -> None:
    place = np.array([0.0, 2.1])
    for _ in range(40):
        place, _, _ = kept([box(1, 1, 1, 1)], place, place + np.array([0.1, 0]))
    assert place[0] > 2.5
    assert 2 + RADIUS - 1e-6 < place[1] < 2 + RADIUS + 0.05


def test_thin_walls_are_not_passed() -> None:
    wall = [box(0, -50, 0.001, 100)]
    for speed in (0.5, 10.0, 1e5):
        place, touched, normal = kept(wall, (-0.4, 0), (-0.4 + speed, 0), 0.0)
        assert -1.1e-4 <= place[0] < 0
        assert touched
        np.testing.assert_allclose(normal, (-1, 0), atol=1e-12)


# Too narrow.


def test_corridor_that_is_too_narrow() -> None:
    corridor = [box(0, 0, 10, 0.4, keeps="in")]
    place, _, _ = kept(corridor, (5, 0.05), (5, 0.05))
    np.testing.assert_allclose(place, (5, 0.2), atol=1e-9)
    place, _, _ = kept(corridor, (5, 0.2), (5.5, 0.3))  # one can get out of it again
    np.testing.assert_allclose(place, (5.5, 0.2), atol=1e-6)


def test_wedge_that_is_too_narrow() -> None:
    wedge = [Zone([(0, 0), (3, -0.2), (3, 0.2)])]
    inner = 3 * 0.2 / (0.2 + math.hypot(3, 0.2))  # radius of the inscribed circle
    place, _, _ = kept(wedge, (0.4, 0.01), (0.4, 0.01))
    np.testing.assert_allclose(place, (3 - inner, 0), atol=1e-6)
    for goal in ((-1, 0), (9, 0), (2, 5)):
        after, _, _ = kept(wedge, place, goal)
        assert oracle.is_free(wedge, tuple(after))


# At rest, and what is left alone.


def test_who_touches_nothing_is_not_changed(rng: np.random.Generator) -> None:
    tables = make_zones(PLACES["ring"])
    places = rng.uniform(-6, 6, (500, 3))
    places[:, 1] = rng.normal(0, 1e3, 500)
    free, clear = measure(PLACES["ring"], places[:, [0, 2]])
    wanted, is_clear = places.copy(), free & (clear > RADIUS)
    touched, normals = np.ones(500, bool), np.ones((500, 2))
    keep_in_zones(
        tables,
        places.copy(),
        places,
        np.full(500, RADIUS),
        touched=touched,
        normals=normals,
    )
    assert is_clear.sum() > 100
    assert (places[is_clear] == wanted[is_clear]).all()
    assert (places[:, 1] == wanted[:, 1]).all()
    assert (touched == ~is_clear).all()
    assert (normals[is_clear] == 0).all()
    np.testing.assert_allclose(np.hypot(*normals[touched].T), 1, atol=1e-12)


def test_out_leaves_places_alone() -> None:
    places, out = np.array([[2.0, 7.0, -9.0]]), np.zeros((1, 3))
    before = np.array([[2.0, 0.0, 2.0]])
    keep_in_zones(make_zones([Zone(SQUARE)]), before, places, np.ones(1), out=out)
    assert places.tolist() == [[2, 7, -9]]
    np.testing.assert_allclose(out, [[2, 7, 1]], atol=1e-9)


def test_no_zones() -> None:
    places, out = np.array([[1.0, 2.0]]), np.zeros((1, 2))
    touched, normals = np.ones(1, bool), np.ones((1, 2))
    keep_in_zones(
        make_zones([]),
        places,
        places,
        np.ones(1),
        out=out,
        touched=touched,
        normals=normals,
    )
    assert out.tolist() == [[1, 2]]
    assert not touched.any()
    assert not normals.any()


def test_nobody() -> None:
    keep_in_zones(
        make_zones([Zone(SQUARE)]), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0)
    )


def test_nowhere_to_be_is_left_alone() -> None:
    apart = [box(0, 0, 1, 1, keeps="in"), box(5, 0, 1, 1, keeps="in")]
    assert np.isfinite(kept(apart, (0.5, 0.5), (0.6, 0.5))[0]).all()


# Against the slow twin.


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ring", "L", "star", "overlapping"])
def test_movement_as_the_oracle(name: str, rng: np.random.Generator) -> None:
    zones = PLACES[name]
    tables = make_zones(zones)
    places = rng.uniform(-5, 5, (50, 2))
    radii = rng.uniform(0.05, 0.5, 50)
    keep_in_zones(tables, places.copy(), places, radii)
    wanted = places + rng.normal(0, 1.5, (50, 2))
    out, none = np.empty((50, 2)), (np.zeros(0, bool), np.zeros((0, 2)))
    wrong = kernel_zones.keep(
        *(tables.sides, tables.spans, tables.crossings),
        *(places, wanted, radii, out, *none),
    )
    assert wrong == -1
    slow = [
        oracle.slide(zones, tuple(a), tuple(b), r)
        for a, b, r in zip(
            places.tolist(), wanted.tolist(), radii.tolist(), strict=True
        )
    ]
    np.testing.assert_allclose(out, slow, atol=3e-6)
    assert (np.abs(out - wanted).max(1) > 0).sum() > 5  # some were in the way


@pytest.mark.slow
@pytest.mark.parametrize("name", ["square", "L", "star", "overlapping"])
def test_brought_in_at_the_nearest_place(name: str, rng: np.random.Generator) -> None:
    zones = PLACES[name]
    places = rng.uniform(-8, 8, (150, 2))
    places = places[~measure(zones, places)[0]][:12]
    for place in places.tolist():
        after, touched, _ = kept(zones, place, place)
        best = oracle.nearest_room(zones, tuple(place), RADIUS)
        assert best is not None
        assert touched
        assert math.dist(after, place) == pytest.approx(
            math.dist(best, place), abs=1e-6
        )


def test_entered_where_walls_of_two_zones_cross() -> None:
    # All that is near on the wall is behind the pillar, but for its two ends.
    zones = [box(0, 0, 4, 4, keeps="in"), box(0.5, -1, 3, 2)]
    place, _, _ = kept(zones, (1.9, -0.5), (1.9, -0.5))
    best = oracle.nearest_room(zones, (1.9, -0.5), RADIUS)
    assert best is not None
    np.testing.assert_allclose(place, best, atol=1e-6)


# Any zone.


@st.composite
def any_zone(draw: st.DrawFn) -> Zone:
    """A polygon around the origin, with corners near and far."""
    count = draw(st.integers(3, 9))
    shift = st.floats(-0.4, 0.4)
    turns = [(n + draw(shift)) * math.tau / count for n in range(count)]
    reach = [draw(st.floats(0.3, 6.0)) for _ in range(count)]
    assume(max(np.diff([*turns, turns[0] + math.tau])) < 3)
    corners = [
        (r * math.cos(t), r * math.sin(t)) for t, r in zip(turns, reach, strict=True)
    ]
    return Zone(corners[:: draw(st.sampled_from([1, -1]))], draw(st.just("in")))


FEW = settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.slow
@FEW
@given(any_zone(), st.integers(0, 2**32 - 1), st.floats(0, 0.6))
def test_any_zone_holds(zone: Zone, seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    zones = [zone]
    tables, radii = make_zones(zones), np.full(30, radius)
    places = rng.uniform(-7, 7, (30, 2))
    keep_in_zones(tables, places.copy(), places, radii)
    free, clear = measure(zones, places)
    assert free.all()
    has_room = clear >= radius - 1e-3
    heading = rng.uniform(0, math.tau, 30)
    for _ in range(12):
        before, wanted = places, wander(rng, heading, places)
        places = np.empty_like(wanted)
        keep_in_zones(tables, before, wanted, radii, out=places)
        free, clear = measure(zones, places)
        assert free.all()
        assert (clear[has_room] >= radius - 1e-3).all()
        has_room |= clear >= radius - 1e-3
    again = places.copy()
    keep_in_zones(tables, places, again, radii)
    assert (again[has_room] == places[has_room]).all()  # who stands, stands still


@pytest.mark.slow
@FEW
@given(any_zone(), st.integers(0, 2**32 - 1))
def test_either_way_around_is_the_same(zone: Zone, seed: int) -> None:
    rng = np.random.default_rng(seed)
    before, radii = rng.uniform(-7, 7, (10, 2)), np.full(10, 0.2)
    one = before + rng.normal(0, 0.5, (10, 2))
    two = one.copy()
    keep_in_zones(make_zones([zone]), before, one, radii)
    keep_in_zones(make_zones([Zone(zone.corners[::-1])]), before, two, radii)
    # One that is as near to two walls may go either way.
    assert (np.abs(one - two).max(1) < 1e-5).mean() >= 0.8


def test_a_corner_on_a_side_of_another_zone_is_a_crossing() -> None:
    """Whichever end of its sides it is, and whichever zone comes first."""
    zones = [Zone(SQUARE_OF_4), Zone([(4, 1), (4, 2), (6, 2), (6, 1)], "out")]
    for ordered in (zones, zones[::-1]):
        crossings = make_zones(ordered).crossings
        assert sorted(map(tuple, crossings[:, :2].tolist())) == [(4, 1), (4, 2)]


def test_who_is_beside_such_a_corner_goes_to_the_nearest_room() -> None:
    zones = [
        Zone(SQUARE_OF_4),
        Zone([(2, 3), (2, 5), (5, 4)], "out"),
        Zone([(5, -1), (3, 0), (0, 3)], "out"),
    ]
    place = np.array([[-0.9, 0, 2.85]])
    keep_in_zones(make_zones(zones), place.copy(), place, np.array([RADIUS]))
    np.testing.assert_allclose(place, [[0.3, 0, 3.144]], atol=1e-3)
