"""Which structures stand in the way of the camera."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.scene.stage.structure import Structure
from flexor.stage.effects.view import init_view, make_view, obstructs, step_view
from tests.oracle import view as plain
from tests.stage.effects.view_scenes import EYE, PAIR, Rng, pillar, wall

BORDER = 1e-5  # metres within which the oracle does not decide


def look(
    structures: Any, camera: Any, characters: Any, margin: float = 0.0
) -> tuple[Any, Any]:
    """Which obstruct (S,), and their parts (S, 2)."""
    tables = make_view(structures)
    hits, parts = np.ones(len(tables), bool), np.full((len(tables), 2), np.nan)
    found = obstructs(tables, camera, characters, out=hits, parts=parts, margin=margin)
    assert found is hits
    again = obstructs(
        tables, camera, characters, out=np.zeros(len(tables), bool), margin=margin
    )
    assert (again == hits).all()
    assert np.isfinite(parts).all()
    assert (parts >= 0).all()
    assert (parts <= 1).all()
    assert (parts[:, 0] <= parts[:, 1]).all()
    assert (hits | (parts == 0).all(1)).all()
    return hits, parts


@pytest.mark.parametrize(
    ("structure", "wanted", "part"),
    [
        (pillar(0, 5, 0.1), True, None),  # wholly inside
        (pillar(0, 5, 100), True, None),  # around all of it
        (pillar(0, -1, 0.9), False, None),  # behind the characters
        (pillar(0, -1, 1.0), True, None),  # touches the line between them
        (pillar(0, -1, 1.1), True, None),
        (pillar(-5, -1, 1.4), False, None),  # near a corner: the lines are nearer
        (pillar(-5, -1, 1.42), True, None),
        (pillar(0, 11, 0.9), False, None),  # behind the camera
        (pillar(0, 11, 1.1), True, None),
        (wall((-10, 5), (10, 5)), True, (0.4, 0.6)),  # across
        (wall((0, 5), (10, 5)), True, (0.0, 0.2)),
        (wall((-1, 5), (1, 5)), True, (0.0, 1.0)),  # wholly inside
        (wall((-10, -1), (10, -1)), False, (0, 0)),  # behind
        (wall((-10, -0.09), (10, -0.09)), False, (0, 0)),  # its ends are elsewhere
        (wall((0, -0.09), (0, -5)), True, (0, 0)),  # an end circle alone
        (wall((0, -5), (0, -0.09)), True, (0, 0)),
        (wall((0, 20), (0, -10)), True, (1 / 3, 2 / 3)),  # seen from its end
        (wall((-4, 0), (4, 0)), True, (0, 1)),  # along a side
        (wall((-8, 0), (8, 0)), True, (0.25, 0.75)),
        (wall((-10, 10), (10, 10)), True, (0.5, 0.5)),  # through the camera
    ],
)
def test_examples(structure: Any, wanted: bool, part: Any) -> None:
    hits, parts = look([structure], EYE, PAIR)
    assert hits[0] == wanted
    assert parts[0] == pytest.approx(part or (0, 0), abs=1e-6)


@pytest.mark.parametrize(
    ("structure", "wanted", "part"),
    [
        (pillar(0.5, 5, 0.6), True, None),
        (pillar(0.5, 5, 0.4), False, None),
        (pillar(0, -1, 0.9), False, None),
        (pillar(0, -1, 1.1), True, None),
        (wall((-1, 5), (3, 5)), True, (0.25, 0.25)),
        (wall((1, 5), (3, 5)), False, (0, 0)),
        (wall((-1, -1), (1, -1)), False, (0, 0)),
        (wall((0, 20), (0, -20)), True, (0.25, 0.5)),
        (wall((0, -1), (0, -20)), False, (0, 0)),
        (wall((0, 4), (0, 6)), True, (0, 1)),
    ],
)
@pytest.mark.parametrize("times", [1, 3])
def test_one_character_makes_a_line(
    structure: Any, wanted: bool, part: Any, times: int
) -> None:
    """Also many that stand on one spot, or one behind the other."""
    for characters in ([(0, 0)] * times, [(0, 10 * k / times) for k in range(times)]):
        hits, parts = look([structure], EYE, characters)
        assert hits[0] == wanted
        assert parts[0] == pytest.approx(part or (0, 0), abs=1e-6)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_all_on_one_spot(count: int) -> None:
    structures = [
        pillar(3, 5, 1.1, "near"),
        pillar(3, 5, 0.9, "far"),
        wall((0, 4), (4, 4), name="through"),
        wall((0, 4.2), (4, 4.2), name="beside"),
        wall((2, 4.05), (2, 9), name="end"),
    ]
    hits, parts = look(structures, (2, 4), [(2, 4)] * count)
    assert hits.tolist() == [False, False, True, False, True]
    assert parts[2] == pytest.approx((0.5, 0.5), abs=1e-6)
    hits, _ = look(structures, (2, 5), [(2, 5)] * count)
    assert hits.tolist() == [True, False, False, False, True]


def test_points_nearly_in_a_line() -> None:
    """A structure beyond the end of a region that has almost no breadth is apart."""
    rng = np.random.default_rng(5)
    for _ in range(500):
        way, base = rng.normal(size=2), rng.uniform(-50, 50, 2)
        way /= np.linalg.norm(way)
        across = np.array([-way[1], way[0]])
        size = 10.0 ** rng.uniform(-17, -7)
        along = rng.uniform(-5, 5, 6)
        points = base + along[:, None] * way
        beside = rng.normal(size=(6, 1))
        points += size * beside * across
        low, high = along.min(), along.max()
        structures = [
            pillar(*(base + (high + 1.01) * way), 1.0, "beyond"),
            pillar(*(base + (low - 0.99) * way), 1.0, "reaching"),
            wall(*(base + np.outer((high + 0.2, high + 9), way)), name="on"),
            wall(*(base + np.outer((low - 1, high + 9), way)), name="along"),
            wall(base + across, base - across, name="over"),
        ]
        hits, parts = look(structures, points[0], points[1:])
        is_over = low <= 0 <= high
        is_on = size < 1e-10 or beside.min() < 0 < beside.max()
        assert hits[[0, 1, 2, 4]].tolist() == [False, True, False, is_over]
        assert hits[3] or not is_on
        whole = high - low + 10
        if size < 1e-10:
            wanted = 1 / whole, (high - low + 1) / whole
            assert parts[3] == pytest.approx(wanted, abs=1e-6)
        if is_over:
            assert parts[4] == pytest.approx((0.5, 0.5), abs=1e-6)


def test_far_along_the_line_that_points_are_in(rng: Rng) -> None:
    """Tenths are rounded, so such points make a triangle, of 1e-16 m in breadth."""
    for _ in range(1000):
        base, way = rng.integers(-9, 10, 2) / 10, rng.integers(1, 10, 2) / 10
        points = base + rng.integers(-50, 51, (3, 1)) / 10 * way
        spots = [base + far * way for far in (-40, -20, -11, 11, 20, 40)]
        structures = [pillar(*at, 1e-3, str(k)) for k, at in enumerate(spots)]
        structures.append(wall(spots[0], spots[1]))
        structures.append(wall(spots[3], spots[5], name="other"))
        hits, _ = look(structures, points[0], points[1:])
        assert not hits.any()


def test_with_no_character_everything_is_drawn() -> None:
    hits, parts = look([pillar(0, 5, 9), wall((-9, 5), (9, 5))], EYE, np.empty((0, 2)))
    assert not hits.any()
    assert (parts == 0).all()
    assert look([pillar(0, 5, 9)], EYE, [])[0].tolist() == [False]


def test_no_structures() -> None:
    assert len(look([], EYE, PAIR)[0]) == 0
    step_view(init_view(make_view([])), "nobody looks", None)  # type: ignore[arg-type]


def test_margin_makes_the_region_larger() -> None:
    structures = [pillar(0.5, 5, 0.4), wall((-1, 5), (3, 5)), wall((-9, 11), (9, 11))]
    names = [
        Structure(**{**_fields(s), "name": str(k)}) for k, s in enumerate(structures)
    ]
    hits, parts = look(names, EYE, [(0, 0)], margin=0.5)
    assert hits.tolist() == [True, True, False]
    assert parts[1] == pytest.approx((0.125, 0.375))
    hits, parts = look(names, EYE, [(0, 0)], margin=1.25)
    assert hits.all()
    assert parts[2] == pytest.approx((8.25 / 18, 9.75 / 18))


def _fields(own: Structure) -> dict[str, Any]:
    return {name: getattr(own, name) for name in own.__slots__}


# Against trying places.


def random_scenes(rng: Rng, count: int, people: int) -> tuple[Any, Any, Any, Any]:
    """Points (B, P, 2), middles (B, 2) and radii (B,), walls (B, 2, 2)."""
    points = rng.uniform(-10, 10, (count, people + 1, 2))
    # Close fights are common, and characters in a line with the camera happen.
    close = rng.random(count) < 0.3
    points[close, 1:] = points[close, 1:2] + rng.normal(
        0, 0.5, (close.sum(), people, 2)
    )
    lined = rng.random(count) < 0.1
    share = rng.uniform(0, 1, (lined.sum(), people, 1))
    points[lined, 1:] = points[lined, :1] * (1 - share) + points[lined, 1:2] * share
    middles = rng.uniform(-12, 12, (count, 2))
    radii = 10 ** rng.uniform(-2, 0.7, count)
    lengths = 10 ** rng.uniform(-1, 1.3, (count, 1))
    angles = rng.uniform(0, 2 * np.pi, count)
    ways = lengths * np.stack([np.cos(angles), np.sin(angles)], -1) / 2
    places = rng.uniform(-10, 10, (count, 2))
    for at in (middles, places):  # a third of them near the region
        near = rng.random(count) < 0.33
        shares = rng.dirichlet(np.ones(people + 1), near.sum())
        at[near] = (shares[..., None] * points[near]).sum(1)
        at[near] += rng.normal(0, 1, (near.sum(), 2))
    return points, middles, radii, np.stack([places - ways, places + ways], 1)


@pytest.mark.parametrize("people", range(1, 7))
@pytest.mark.parametrize("margin", [0.0, 0.4])
def test_as_by_trying(people: int, margin: float) -> None:
    rng = np.random.default_rng(people)
    count = 1700 if margin == 0 else 300
    points, middles, radii, walls = random_scenes(rng, count, people)
    thick = 10 ** rng.uniform(-2, 0, count)
    hits, parts = np.zeros((count, 2), bool), np.zeros((count, 2))
    for k in range(count):
        structures = [pillar(*middles[k], radii[k]), wall(*walls[k], thick[k])]
        hits[k], found = look(structures, points[k, 0], points[k, 1:], margin)
        parts[k] = found[1]
        assert not found[0].any()
    # Metres that are left between them, negative if they overlap.
    apart = plain.circle_gap(points, middles) - radii - margin
    nearest = plain.wall_gap(points, walls[:, 0], walls[:, 1])
    ends = [plain.circle_gap(points, walls[:, k]) - thick / 2 for k in range(2)]
    long_apart = np.minimum(np.minimum(*ends), nearest[1]) - margin
    for left, own in ((apart, hits[:, 0]), (long_apart, hits[:, 1])):
        # A wall that overlaps is 0 m from the region: this is no border case.
        wanted = left <= 1e-6
        is_wrong = wanted != own
        assert (np.abs(left[is_wrong]) < BORDER).all()
        assert is_wrong.mean() <= 0.001
        assert 0.1 < own.mean() < 0.95
    sides = walls[:, 0], walls[:, 1]
    wanted_parts = plain.wall_part(points, *sides, margin + 1e-7, nearest)
    is_in = ~np.isnan(wanted_parts[:, 0])
    lengths = np.linalg.norm(walls[:, 1] - walls[:, 0], axis=-1)
    off = np.abs(wanted_parts - parts).max(1) * lengths
    # Where a wall runs along a side its ends are not well known, though near the side.
    is_off = is_in & (off > 1e-4)
    assert is_off.mean() <= 0.002
    for u in parts[is_off].T:
        at = walls[is_off, 0] + u[:, None] * (walls[is_off, 1] - walls[is_off, 0])
        gap = plain.region_gap(points[is_off], at[:, None])[:, 0]
        assert (np.abs(gap - margin) < BORDER).all()
    assert (parts[~is_in] == 0).all()


def test_places_tried_along_a_wall_lie_in_its_part(rng: Rng) -> None:
    """No measuring at all: only whether a place is in a triangle."""
    count = 300
    points, _, _, walls = random_scenes(rng, count, 4)
    u = np.linspace(0, 1, 1001)
    at = walls[:, :1] + u[:, None] * (walls[:, 1:] - walls[:, :1])
    inside = plain.is_inside(points, at)
    for k in range(count):
        hits, parts = look([wall(*walls[k], 1e-3)], points[k, 0], points[k, 1:])
        low, high = parts[0]
        between = (u > low) & (u < high)
        far = (np.abs(u - low) > 1e-4) & (np.abs(u - high) > 1e-4)
        assert (inside[k] == between)[far].all()
        assert hits[0] >= inside[k].any()


def test_circles_by_trying_their_places(rng: Rng) -> None:
    count = 300
    points, middles, radii, _ = random_scenes(rng, count, 3)
    share, turn = np.meshgrid(np.linspace(0, 1, 20), np.linspace(0, 2 * np.pi, 90))
    disc = share[..., None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    at = middles[:, None] + radii[:, None, None] * disc.reshape(1, -1, 2)
    touched = plain.is_inside(points, at).any(1)
    around = np.linalg.norm(points - middles[:, None], axis=-1).min(1) < radii
    hits = np.array(
        [
            look([pillar(*middles[k], radii[k])], points[k, 0], points[k, 1:])[0][0]
            for k in range(count)
        ]
    )
    assert hits[touched | around].all()
    missed = hits & ~touched & ~around  # only edges can slip between the places
    assert missed.mean() < 0.08
    gaps = plain.circle_gap(points[missed], middles[missed])
    assert (gaps <= radii[missed]).all()


# Turned, mirrored, in another order.

NUMBER = st.integers(-20, 20).map(lambda k: k / 2)


SPOT = st.tuples(NUMBER, NUMBER)


@given(
    camera=SPOT,
    characters=st.lists(SPOT, min_size=1, max_size=6),
    circle=st.tuples(SPOT, st.integers(1, 12)),
    ends=st.tuples(SPOT, SPOT).filter(lambda two: two[0] != two[1]),
    angle=st.floats(-3.2, 3.2),
    is_mirrored=st.booleans(),
    shift=SPOT,
)
@settings(max_examples=500)
def test_same_when_turned_mirrored_and_moved(
    camera: Any,
    characters: Any,
    circle: Any,
    ends: Any,
    angle: float,
    is_mirrored: bool,
    shift: Any,
) -> None:
    """On a grid, where touching, lines and same spots are common."""
    s, c = np.sin(angle), np.cos(angle)
    turn = np.array([[c, s], [-s, c]]) @ np.diag([-1.0 if is_mirrored else 1.0, 1.0])

    def put(at: Any) -> Any:
        return np.asarray(at, float) @ turn.T + shift

    middle, radius = circle
    structures = [pillar(*middle, radius / 2), wall(*ends, 0.3)]
    hits, parts = look(structures, camera, characters)
    others = [pillar(*put(middle), radius / 2), wall(*put(ends)[::-1], 0.3)]
    other_hits, other_parts = look(others, put(camera), put(characters)[::-1])
    assert (other_hits == hits).all()
    length = np.linalg.norm(np.subtract(*ends))
    if parts[1].any() or other_parts[1].any():
        off = np.abs(1 - other_parts[1][::-1] - parts[1]) * length
        # Touching one end gives 0, 0 at one end and 1, 1 at the other.
        assert off.max() < 1e-6 or parts[1].max() * length < 1e-6


def test_order_of_characters_does_not_matter(rng: Rng) -> None:
    points, middles, radii, walls = random_scenes(rng, 100, 5)
    for k in range(100):
        structures = [pillar(*middles[k], radii[k]), wall(*walls[k])]
        hits, parts = look(structures, points[k, 0], points[k, 1:])
        other = look(structures, points[k, 0], rng.permutation(points[k, 1:]))
        assert (other[0] == hits).all()
        assert (other[1] == parts).all()


def test_many_characters(rng: Rng) -> None:
    """All that matters is their hull."""
    characters = rng.normal(0, 3, (2000, 2))
    ring = 12 * np.stack([np.cos(np.arange(64)), np.sin(np.arange(64))], -1)
    structures = [pillar(0, 0, 0.1), wall((-30, 2), (30, 2), 0.2)]
    hits, parts = look(structures, (0, 12), np.concatenate([characters, ring]))
    wanted, wanted_parts = look(structures, (0, 12), ring)
    assert hits.all()
    assert (hits == wanted).all()
    assert parts == pytest.approx(wanted_parts)


def test_far_from_the_origin(rng: Rng) -> None:
    points, middles, radii, walls = random_scenes(rng, 200, 3)
    for k in range(200):
        here = [pillar(*middles[k], radii[k]), wall(*walls[k])]
        hits, parts = look(here, points[k, 0], points[k, 1:])
        far = np.array([9e3, -8e3])
        there = [pillar(*(middles[k] + far), radii[k]), wall(*(walls[k] + far))]
        other_hits, other_parts = look(there, points[k, 0] + far, points[k, 1:] + far)
        assert (hits == other_hits).all()
        assert parts == pytest.approx(other_parts, abs=1e-4)


def test_kinds_of_numbers_that_are_taken() -> None:
    structures = [wall((-10, 5), (10, 5))]
    places = np.zeros((2, 3), np.float32)
    places[:, ::2] = PAIR
    for characters in (places[:, ::2], [[-4, 0], [4, 0]], np.array(PAIR, int)):
        hits, parts = look(structures, np.array(EYE, np.float32), characters)
        assert hits[0]
        assert parts[0] == pytest.approx((0.4, 0.6))
