"""A finding: something odd in a file or scene that was mended or can be lived with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "Level"]

Level = Literal["info", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark about an asset.

    level: "warning" if the result may differ from what the author meant; code: a short
    fixed word to search for; where: the place, a JSON pointer or a name; text: what was
    found and what was done about it.
    """

    level: Level
    code: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.level}: {self.code} at {self.where}: {self.text}"
