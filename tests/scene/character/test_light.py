"""Lights: one test for each refusal."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flexor.errors import SettingError
from flexor.scene.character.light import DAYLIGHT, Light


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"kind": "spot"}, "light kind: 'spot', expected ambient, directional or poi"),
        ({"colour": (1, 1)}, "light colour: .*expected three finite numbers"),
        ({"colour": (1, 1, math.nan)}, "light colour: .*expected three finite numbers"),
        ({"direction": (0, 0, math.inf)}, "light direction: .*expected three finite"),
        ({"direction": (0, 0, 1, 0)}, "light direction: .*expected three finite"),
        ({"direction": (0, 0, 0)}, "light direction: must not be zero"),
        ({"position": (0, 0)}, "light position: .*expected three finite numbers"),
        ({"position": (0, math.nan, 0)}, "light position: .*expected three finite"),
        ({"reach": 0}, "light reach: 0, expected metres above 0"),
        ({"reach": -1}, "light reach: -1, expected metres above 0"),
        ({"reach": math.nan}, "light reach: nan, expected metres above 0"),
    ],
)
def test_refusals(changes: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        Light(**{"kind": "directional", **changes})


def test_wrong_ground() -> None:
    for ground in ((1, 1), (0, 0, math.nan)):
        with pytest.raises(SettingError, match=r"light ground: .*expected three"):
            Light("ambient", ground=ground)  # type: ignore[arg-type]


def test_only_directional_light_needs_a_direction() -> None:
    Light("ambient", direction=(0, 0, 0))
    Light("point", direction=(0, 0, 0))


def test_daylight() -> None:
    """A sky, a sun, and a weaker light against it."""
    sky, sun, fill = DAYLIGHT
    assert (sky.kind, sun.kind, fill.kind) == ("ambient", "directional", "directional")
    assert sum(fill.colour) < sum(sun.colour)
