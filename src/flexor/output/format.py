"""What a format of pictures or movies is, and which ones there are."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from flexor.arrays import Pixels
from flexor.output import formats

__all__ = ["Encoder", "Format", "find_formats"]


class Encoder(Protocol):
    """Writes one format to a path, which exists and is empty."""

    def add(self, frame: Pixels) -> None:
        """Take the next frame, C-ordered uint8 (H, W, 4); it may change afterwards."""
        ...

    def finish(self) -> None:
        """Write what is left; called once, after the last frame."""
        ...

    def close(self) -> None:
        """Let go of files and threads, also in the middle."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format, as the `FORMAT` of its file in `output/formats` describes it.

    endings: of its files, each with its dot; encode: makes a whole file of one picture,
    C-ordered uint8 (H, W, 4), None for movies alone; open: begins a movie at a path, of
    (width, height) pixels and frames a second, None for pictures alone; rank: texts
    name formats of a smaller rank sooner.
    """

    endings: tuple[str, ...]
    encode: Callable[[Pixels], bytes] | None = None
    open: Callable[[Path, tuple[int, int], float], Encoder] | None = None
    rank: int = 100


def find_formats() -> list[Format]:
    """Every format that has a file in `output/formats`, in the order of their ranks."""
    names = [module.name for module in pkgutil.iter_modules(formats.__path__)]
    found: list[Format] = [
        import_module(f"{formats.__name__}.{name}").FORMAT for name in names
    ]
    return sorted(found, key=lambda form: form.rank)
