"""Buttons of a pad: their names, and masks of them, one bit a button."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from types import MappingProxyType

from flexor.errors import SettingError
from flexor.scene.stage.layout import BUTTONS

__all__ = [
    "ALL_BUTTONS",
    "NO_BUTTON",
    "NO_LETTERS",
    "button_mask",
    "button_text",
    "check_letters",
]

# The number of a button is the bit of its mask.
ALL_BUTTONS = (1 << len(BUTTONS)) - 1
NO_BUTTON = "-"  # how a state without any is written
NO_LETTERS: Mapping[str, str] = MappingProxyType({})


def button_mask(text: str, letters: Mapping[str, str] = NO_LETTERS) -> int:
    """The mask of buttons written as "B" or "B+left".

    letters: other names of buttons, such as {"P": "B"}.
    """
    mask = 0
    for word in text.split("+"):
        name = letters.get(word.strip(), word.strip())
        if name not in BUTTONS:
            known = [*letters, *BUTTONS]
            near = difflib.get_close_matches(word.strip(), known, 4, 0.5) or known
            there = ", ".join(map(repr, near)) + (", ..." if near != known else "")
            raise SettingError(f"no button {word.strip()!r}; there are: {there}")
        bit = 1 << BUTTONS.index(name)
        if mask & bit:
            raise SettingError(f"{text!r} names the button {name!r} twice")
        mask |= bit
    return mask


def button_text(mask: int) -> str:
    """Buttons of a mask as a text, such as "left+B"; "-" where there are none."""
    if not 0 <= mask <= ALL_BUTTONS:
        raise SettingError(f"mask: {mask}, expected 0 to {ALL_BUTTONS}")
    names = [name for bit, name in enumerate(BUTTONS) if mask >> bit & 1]
    return "+".join(names) or NO_BUTTON


def check_letters(letters: Mapping[str, str]) -> None:
    """Refuse other names of buttons that cannot be read or mean two things."""
    for letter, button in letters.items():
        if not re.fullmatch(r"[^\s+:\-]+", letter) or not letter.isprintable():
            raise SettingError(
                f"{letter}: {letter!r}, expected a name without spaces, '+', '-' or ':'"
            )
        if button not in BUTTONS:
            raise SettingError(
                f"{letter}: {button!r}, expected one of {', '.join(BUTTONS)}"
            )
        if letter in BUTTONS and letter != button:
            raise SettingError(
                f"{letter}: {button!r}, expected another letter: "
                f"{letter!r} is a button itself"
            )
