"""Levels of detail, made by measuring."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """What was in this module before it became a room: see `flexor.moved`."""
    if name not in ("LevelSettings", "make_levels"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        f"{name} is in {__name__}.make now; the old name goes with the next version",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(import_module(f"{__name__}.make"), name)
