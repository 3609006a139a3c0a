"""How long a unit is, by the legs of who is in a file."""

from __future__ import annotations

import numpy as np
import pytest

import flexor
from flexor.convert.motion.unit import guess_unit
from tests.bodies import make_body
from tests.packed_clips import arm


@pytest.mark.parametrize("size", [100.0, 17.7, 39.4, 0.01])
def test_other_units_than_metres(size: float) -> None:
    unit = guess_unit(make_body(size=size))
    assert unit is not None
    assert unit == pytest.approx(1 / size, rel=0.15)


@pytest.mark.parametrize("size", [1.0, 0.75, 1.3])
def test_people_in_metres_are_small_and_tall(size: float) -> None:
    assert guess_unit(make_body(size=size)) == 1


def test_whoever_has_no_legs_says_nothing() -> None:
    assert guess_unit(arm()) is None
    assert guess_unit(make_body(without=("leftFoot", "rightFoot"))) is None
    flat = make_body(size=0.0)
    with np.errstate(all="ignore"):
        assert guess_unit(flat) is None


def test_the_mannequin_is_in_metres() -> None:
    assert guess_unit(flexor.samples.mannequin().skeleton) == 1
