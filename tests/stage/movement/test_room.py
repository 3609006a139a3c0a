"""Room between walls for all who begin there, and who has none."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.scene.stage.zone import Zone
from flexor.stage.movement.room import find_crowded
from flexor.stage.movement.zones import make_zones


def box(wide: float, long: float) -> Zone:
    x, z = wide / 2, long / 2
    return Zone(np.array([[-x, -z], [x, -z], [x, z], [-x, z]]))


def at(*places: tuple[float, float]) -> np.ndarray:
    return np.array([(x, 0.0, z) for x, z in places])


@pytest.mark.parametrize(
    ("wide", "long", "has_room"),
    [(1, 1, False), (1.9, 1, False), (2.1, 1, True), (1, 2.1, True), (1.8, 1.8, True)],
)
def test_two_in_a_box(wide: float, long: float, has_room: bool) -> None:
    """Circles of half a metre; on one spot, and where they would go to best."""
    zones, radii = make_zones([box(wide, long)]), np.array([0.5, 0.5])
    for places in (at((0, 0), (0, 0)), at((-0.2, -0.2), (0.2, 0.2))):
        before = places.copy()
        found = find_crowded(zones, places, radii)
        assert (places == before).all()
        assert (found is None) is has_room
        if found is not None:
            assert found[:2] == (0, 1)
            assert found[2] == pytest.approx(1 - max(wide - 1, long - 1), abs=0.01)


def test_many() -> None:
    """A heap of twenty on one spot has room in a ring; one of a hundred has none."""
    zones = make_zones([box(8, 8)])
    assert find_crowded(zones, np.zeros((20, 3)), np.full(20, 0.4)) is None
    assert find_crowded(zones, np.zeros((120, 3)), np.full(120, 0.4)) is not None


def test_who_is_over_another_is_not_in_its_way() -> None:
    zones, radii = make_zones([box(1, 1)]), np.array([0.5, 0.5])
    places = at((0, 0), (0, 0))
    places[1, 1] = 3.0
    assert find_crowded(zones, places, radii) is None


def test_without_walls_there_is_room() -> None:
    radii = np.array([0.5, 0.5])
    assert find_crowded(make_zones([]), at((0, 0), (0, 0)), radii) is None
    pillar = Zone(box(1, 1).corners, keeps="out")
    assert find_crowded(make_zones([pillar]), at((0, 0), (0, 0)), radii) is None
