"""Loose rows: nobody stands on another's place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import SettingError
from flexor.stage.crowd.rows import place_in_rows


@given(
    count=st.integers(0, 300),
    wide=st.floats(0.1, 50.0),
    deep=st.floats(0.1, 50.0),
    stray=st.floats(0, 0.49),
)
@settings(max_examples=60)
def test_nobody_meets_another(
    count: int, wide: float, deep: float, stray: float
) -> None:
    places = place_in_rows(count, (wide, deep), np.random.default_rng(1), stray=stray)
    assert places.shape == (count, 3)
    assert (places[:, 1] == 0).all()
    apart = np.abs(places[:, None] - places)[..., ::2] / (wide, deep)
    apart[np.diag_indices(count)] = 1
    assert (apart.max(-1) >= (1 - 2 * stray) * 0.999).all()


def test_rows_one_behind_the_other() -> None:
    places = place_in_rows(500, (1.0, 2.0), np.random.default_rng(0))
    rows = np.unique(places[:, 2])
    assert rows[-1] == 0
    np.testing.assert_allclose(np.diff(rows), 2.0)
    wide, deep = np.ptp(places, axis=0)[::2]
    assert 1.2 < wide / deep < 2.0
    # Every second row stands in the gaps of the one before.
    first, second = (np.sort(places[places[:, 2] == z, 0]) for z in rows[[-1, -2]])
    np.testing.assert_allclose((second - first) % 1.0, 0.5)
    assert abs(places[:, 0].mean()) < 0.1


def test_one_and_none() -> None:
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(place_in_rows(1, (1.0, 1.0), rng), [[0, 0, 0]])
    assert place_in_rows(0, (1.0, 1.0), rng).shape == (0, 3)


def test_the_same_seed_gives_the_same_places() -> None:
    one, two, other = (
        place_in_rows(9, (1.0, 1.0), np.random.default_rng(seed), stray=0.2)
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.parametrize(
    ("count", "room", "stray", "said"),
    [
        (-1, (1.0, 1.0), 0.0, "count: -1, expected 0 or more"),
        (4, (0.0, 1.0), 0.0, "room: .* expected metres above 0"),
        (4, (1.0, np.inf), 0.0, "room: "),
        (4, (1.0, np.nan), 0.0, "room: "),
        (4, (1.0, 1.0), 0.5, r"stray: 0.5, expected 0 to below 0.5"),
        (4, (1.0, 1.0), -0.1, "stray: -0.1"),
    ],
)
def test_refusals(
    count: int, room: tuple[float, float], stray: float, said: str
) -> None:
    with pytest.raises(SettingError, match=said):
        place_in_rows(count, room, np.random.default_rng(0), stray=stray)
