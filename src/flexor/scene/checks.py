"""Checks of settings: each refuses with a name, what came and what is right."""

from __future__ import annotations

from numbers import Real
from typing import Any

from flexor.errors import SettingError

__all__ = ["check_kind", "check_number", "check_word"]


def check_number(
    value: Any, name: str, least: float, most: float, *, is_above: bool = False
) -> float:
    """A number within bounds, as a float; is_above: more than the least."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and least <= value <= most and (value > least or not is_above):
        return float(value)
    low = f"above {least:g}" if is_above else f"{least:g}"
    raise SettingError(f"{name}: {value!r}, expected {low} to {most:g}")


def check_kind(value: Any, kind: type | tuple[type, ...], name: str) -> None:
    """Refuse what is not of a kind."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        words = " or ".join(one.__name__ for one in kinds)
        raise SettingError(f"{name}: {type(value).__name__}, expected {words}")


def check_word(word: Any, known: tuple[str, ...], name: str) -> None:
    """Refuse a word that is not one of those known."""
    if not isinstance(word, str) or word not in known:
        raise SettingError(f"{name}: {word!r}, expected one of {', '.join(known)}")
