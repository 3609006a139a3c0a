"""What a pad holds in one number: its buttons, and how far its stick is tilted.

    mask = pad_mask("B+stick(0.5,0)")     # B, and half a stick to the right
    stick_of(mask)                        # (0.504, 0.0): right and up, -1 to 1
    pad_text(mask)                        # "B+stick(0.504,0)"

A mask is a uint32: a bit for each button in the lower half (see `buttons`), and above
it two signed bytes, how far right and how far up, -127 to 127. A stick that is not
tilted is 0, 0; then the buttons of directions count, and as much as a stick that is
tilted all the way.
"""

from __future__ import annotations

import re
from numbers import Real
from typing import Any

import numpy as np

from flexor.arrays import Bools, Masks
from flexor.errors import SettingError
from flexor.scene.stage.buttons import ALL_BUTTONS, NO_BUTTON, button_mask, button_text
from flexor.scene.stage.layout import STICK_FULL, STICK_RIGHT, STICK_UP

__all__ = [
    "ALL_STICK",
    "are_pad_masks",
    "check_pad_mask",
    "pad_mask",
    "pad_text",
    "stick_mask",
    "stick_of",
]

ALL_STICK = 0xFF << STICK_RIGHT | 0xFF << STICK_UP
NEITHER = ~(ALL_BUTTONS | ALL_STICK) & 0xFFFFFFFF  # bits that mean nothing
TOO_FAR = STICK_FULL + 1  # the one byte that is no amount: -128
STICK = re.compile(r"stick\s*\(([^()]*)\)")
SHOWN = 80  # letters of a text that an error repeats


def stick_mask(right: float, up: float) -> int:
    """How far a stick is tilted, -1 to 1 each, as the upper half of a mask."""
    return _byte(right) << STICK_RIGHT | _byte(up) << STICK_UP


def _byte(amount: Any) -> int:
    is_number = isinstance(amount, Real) and not isinstance(amount, bool)
    if not is_number or not -1 <= amount <= 1:
        raise SettingError(f"stick: {amount!r}, expected -1 to 1")
    return round(float(amount) * STICK_FULL) & 0xFF


def stick_of(mask: int) -> tuple[float, float]:
    """How far the stick of a mask is tilted: right and up, -1 to 1."""
    right, up = (_signed(int(mask) >> shift) for shift in (STICK_RIGHT, STICK_UP))
    return right / STICK_FULL, up / STICK_FULL


def _signed(byte: int) -> int:
    byte &= 0xFF
    return byte - 256 if byte >= TOO_FAR else byte


def check_pad_mask(mask: int, name: str = "mask") -> None:
    """Refuse a number that no pad can hold."""
    if 0 <= mask < 1 << 32 and are_pad_masks(np.array([mask], np.uint32))[0]:
        return
    raise SettingError(
        f"{name}: {mask}, expected {ALL_BUTTONS} or less, and above bit {STICK_RIGHT} "
        f"how far a stick is tilted, -{STICK_FULL} to {STICK_FULL} right and up"
    )


def are_pad_masks(masks: Masks) -> Bools:
    """Which of some masks a pad can hold: bool, as many."""
    good: Bools = masks & np.uint32(NEITHER) == 0
    for shift in (STICK_RIGHT, STICK_UP):
        good &= masks >> np.uint32(shift) & np.uint32(0xFF) != TOO_FAR
    return good


def pad_mask(text: str) -> int:
    """What a pad holds, written as "left+B" or "B+stick(0.5,-1)"; "" or "-": nothing.

    The two numbers of a stick are how far right and how far up, -1 to 1.
    """
    if text.strip() in ("", NO_BUTTON):
        return 0
    amounts = STICK.findall(text)
    if not amounts:
        return button_mask(text)
    if len(amounts) > 1:
        raise SettingError(f"{text[:SHOWN]!r} has two sticks, expected one")
    words = [word.strip() for word in STICK.sub("stick", text).split("+")]
    words.remove("stick") if "stick" in words else _refuse(text)
    mask = button_mask("+".join(words)) if words else 0
    return mask | stick_mask(*_read_amounts(text, amounts[0]))


def _read_amounts(text: str, amounts: str) -> tuple[float, float]:
    try:
        right, up = map(float, amounts.split(","))
    except ValueError:
        _refuse(text)
    return right, up


def _refuse(text: str) -> Any:
    raise SettingError(f"{text[:SHOWN]!r}, expected such as 'B+stick(0.5,-1)'")


def pad_text(mask: int) -> str:
    """What a pad holds as a text: "left+B", "B+stick(0.504,0)"; "-" for nothing."""
    check_pad_mask(mask)
    buttons = mask & ALL_BUTTONS
    if not mask & ALL_STICK:
        return button_text(buttons)
    right, up = (f"{round(amount, 3):g}" for amount in stick_of(mask))
    stick = f"stick({right},{up})"
    return f"{button_text(buttons)}+{stick}" if buttons else stick
