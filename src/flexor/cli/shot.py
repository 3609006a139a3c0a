"""How `flexor render` draws what it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flexor.draw.scene.style import DrawStyle

if TYPE_CHECKING:
    from flexor.api.skins import Method, Weights

__all__ = ["Shot"]


@dataclass(frozen=True, slots=True)
class Shot:
    """How it is drawn. size: (width, height), None if not said; view: radians around
    and above.
    """

    out: str
    size: tuple[int, int] | None
    view: tuple[float, float]
    is_flat: bool
    style: DrawStyle
    weights: Weights
    method: Method
