"""Hit volumes: found by the names of parts, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.errors import FlexorError
from flexor.scene.stage.volumes import HitVolumes


def volumes(**change: object) -> HitVolumes:
    given: dict[str, object] = {
        "nodes": np.array([3, 5, 5]),
        "ends": np.zeros((3, 2, 3)),
        "radii": np.ones(3),
        "parts": ("head", "leftHand", "leftHand"),
    }
    return HitVolumes(**{**given, **change})  # type: ignore[arg-type]


def test_parts_are_found_by_name() -> None:
    found = volumes()
    assert len(found) == 3
    assert found.rows(["LEFThand"]).tolist() == [1, 2]
    assert found.rows(["leftHand", "head", "leftHand"]).tolist() == [0, 1, 2]
    assert found.rows([]).tolist() == []
    with pytest.raises(FlexorError, match="no part 'tail'; there are: head, leftHand"):
        found.rows(["tail"])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"nodes": np.array([-1, 0, 0])}, "nodes from 0 on"),
        ({"radii": np.array([1, 0, 1.0])}, "radii above 0"),
        ({"radii": np.array([1, np.inf, 1.0])}, "finite"),
        ({"ends": np.full((3, 2, 3), np.nan)}, "finite"),
        ({"ends": np.zeros((3, 3))}, "ends: shape"),
        ({"parts": ("head",)}, "nodes: shape"),
    ],
)
def test_refused(change: dict[str, object], text: str) -> None:
    with pytest.raises(FlexorError, match=text):
        volumes(**change)
