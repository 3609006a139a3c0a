"""Sticks in the masks of pads: read, written and refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.scene.stage.buttons import ALL_BUTTONS, button_mask
from flexor.scene.stage.sticks import (
    ALL_STICK,
    are_pad_masks,
    check_pad_mask,
    pad_mask,
    pad_text,
    stick_mask,
    stick_of,
)


def test_a_stick_is_the_upper_half_of_a_mask() -> None:
    assert stick_mask(0, 0) == 0
    assert stick_mask(1, -1) == 0x817F0000
    assert stick_mask(-1, 1) == 0x7F810000
    assert stick_of(stick_mask(1, -1)) == (1, -1)
    for step in range(-127, 128):
        assert stick_of(stick_mask(step / 127, 0)) == (step / 127, 0)
        assert stick_of(stick_mask(0, step / 127)) == (0, step / 127)
    assert not ALL_STICK & ALL_BUTTONS
    for wrong in (1.01, -2, math.nan, math.inf, True, "1", None):
        with pytest.raises(SettingError, match="expected -1 to 1"):
            stick_mask(wrong, 0)  # type: ignore[arg-type]
        with pytest.raises(SettingError, match="expected -1 to 1"):
            stick_mask(0, wrong)  # type: ignore[arg-type]


def test_pads_as_texts() -> None:
    for text in ("", " - ", "-"):
        assert pad_mask(text) == 0
    assert pad_mask("left+B") == button_mask("left+B")
    whole = button_mask("left+B") | stick_mask(0.5, -1)
    for text in (
        "left+B+stick(0.5,-1)",
        "stick( 0.5 , -1.0 ) + B + left",
        "left + stick(+0.5,-1) + B",
    ):
        assert pad_mask(text) == whole
    assert pad_text(whole) == "left+B+stick(0.504,-1)"
    assert pad_text(stick_mask(0, 0.25)) == "stick(0,0.252)"
    assert pad_text(0) == "-"
    assert pad_mask("stick(0,0)") == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stick", "no button 'stick'"),
        ("stick()", "'stick()', expected such as 'B+stick(0.5,-1)'"),
        ("stick(1)", "expected such as"),
        ("stick(1,2,3)", "expected such as"),
        ("stick(a,b)", "expected such as"),
        ("stick(nan,0)", "stick: nan, expected -1 to 1"),
        ("stick(0,1.1)", "stick: 1.1, expected -1 to 1"),
        ("stick(1,0)+stick(1,0)", "two sticks"),
        ("Bstick(1,0)", "expected such as"),
        ("B+Q+stick(1,0)", "no button 'Q'"),
        ("B+B+stick(1,0)", "names the button 'B' twice"),
        ("x" * 9999 + "stick(1,0)", "expected such as"),
    ],
)
def test_texts_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(SettingError) as caught:
        pad_mask(text)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300


def test_masks_that_no_pad_holds() -> None:
    good = [0, ALL_BUTTONS, stick_mask(1, 1) | 5, stick_mask(-1, -1) | ALL_BUTTONS]
    bad = [1 << 12, 1 << 15, 0x80 << 16, 0x80 << 24]
    found = are_pad_masks(np.array([*good, *bad], np.uint32))
    assert found.tolist() == [True] * 4 + [False] * 4
    for mask in good:
        check_pad_mask(mask)
        assert pad_mask(pad_text(mask)) == mask
    for mask in (*bad, -1, 1 << 32):
        with pytest.raises(SettingError, match="expected 4095 or less, and above bit"):
            check_pad_mask(mask, "held")
