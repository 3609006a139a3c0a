"""Structures that are polygons: what they cover, and what stands for them."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.scene.stage.fits import segment_of
from flexor.scene.stage.structure import Structure

HUT = ((5.0, 3.0), (8.0, 3.0), (8.0, 4.0), (5.0, 4.0))
ELL = ((0.0, 0.0), (6.0, 0.0), (6.0, 2.0), (2.0, 2.0), (2.0, 6.0), (0.0, 6.0))


def test_a_polygon_keeps_its_corners() -> None:
    inner = Structure(name="hut", corners=HUT)
    assert inner.corners == HUT
    assert inner.middle == pytest.approx((6.5, 3.5))
    assert inner.radius == pytest.approx(0.5, rel=1e-3)
    outer = Structure(name="hut", corners=np.array(HUT), fit="circumscribed")  # type: ignore[arg-type]
    assert outer.corners == HUT
    assert outer.radius == pytest.approx(math.sqrt(10) / 2)
    long = Structure(name="hut", corners=HUT, fit="segment")
    assert long.is_long
    assert long.middle is None
    assert np.array(long.ends) == pytest.approx(np.array([[5.5, 3.5], [7.5, 3.5]]))
    assert long.thickness == pytest.approx(1)
    for own in (inner, outer, long):
        assert own.footprint.tolist() == [list(corner) for corner in HUT]
        assert replace(own, mode="fade") != own
        assert replace(own, mode=own.mode) == own == pickle.loads(pickle.dumps(own))
    own = Structure(name="hut", corners=HUT, middle=(6, 3.5), radius=0.2)
    assert (own.middle, own.radius) == ((6, 3.5), 0.2)


def test_what_others_cover() -> None:
    wall = Structure(name="wall", ends=((0, 0), (0, 4)), thickness=0.5)
    assert sorted(wall.footprint.tolist()) == [
        [-0.25, 0],
        [-0.25, 4],
        [0.25, 0],
        [0.25, 4],
    ]
    corners = Structure(name="pillar", middle=(1, 2), radius=0.5).footprint
    away = np.hypot(*(corners - (1, 2)).T)
    np.testing.assert_allclose(away, 0.5 / math.cos(math.pi / 16))


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.2, 2.9])
@pytest.mark.parametrize("size", [(3.0, 1.0), (1.0, 9.0), (4.0, 0.01)])
def test_segments_lie_along_boxes(turn: float, size: tuple[float, float]) -> None:
    wide, long = size
    box = np.array([(0, 0), (wide, 0), (wide, long), (0, long)]) - (wide / 2, long / 2)
    s, c = math.sin(turn), math.cos(turn)
    spin = np.array([[c, -s], [s, c]])
    found = segment_of(box @ spin.T + (30, -7))
    assert found is not None
    ends, thickness = np.array(found[0]) - (30, -7), found[1]
    assert thickness == pytest.approx(min(size), rel=1e-6)
    axis = spin[:, int(long > wide)]
    np.testing.assert_allclose(ends @ [-axis[1], axis[0]], 0, atol=1e-9)
    reach = (max(size) - min(size)) / 2
    np.testing.assert_allclose(np.sort(ends @ axis), [-reach, reach], atol=1e-9)


def test_a_square_has_no_segment_and_keeps_a_circle() -> None:
    square = ((0, 0), (2, 0), (2, 2), (0, 2))
    assert segment_of(square) is None
    own = Structure(name="tower", corners=square, fit="segment")
    assert own.radius == pytest.approx(1, rel=1e-3)
    found = segment_of(ELL)
    assert found is None or found[1] > 2


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"corners": HUT, "fit": "tight"}, "fit: 'tight', expected one of inscribed"),
        ({"corners": HUT[:2]}, "corners: 2, expected 3 to 200"),
        ({"corners": "hut"}, "corners: "),
        ({"corners": 5}, "corners: "),
        ({"corners": ((0, 0), (1, 1), (1, 0), (0, 1))}, "corners: "),
        (
            {"corners": ((0, 0), (4, 4), (4, 0), (0, 3))},
            "corners: sides 0 and 2 cross",
        ),
        ({"corners": (*HUT, HUT[3])}, "corners: side 3 is 0 m long"),
        ({"corners": (*HUT[:3], (5, math.nan))}, "corners: expected numbers within"),
        ({"corners": HUT, "radius": 1}, "radius, expected middle and radius, or ends"),
        ({}, "nothing, expected middle and radius, or ends and thickness, or corners"),
        ({"middle": (0, 0), "radius": 9999}, "radius: it reaches to"),
        ({"ends": ((9998, 0), (9998, 9)), "thickness": 9}, "thickness: it reaches"),
    ],
)
def test_polygons_that_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError) as caught:
        Structure(name="hut", **more)
    assert "structure 'hut': " in str(caught.value)
    assert words in str(caught.value)
