"""The characters of a player as a world has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flexor.api.playing import Player
from flexor.arrays import Floats

if TYPE_CHECKING:
    from flexor.api.standing import Feet
    from flexor.stage.figures import FigureState

__all__ = ["Cast"]


@dataclass(slots=True, eq=False)
class Cast:
    """The characters of a player as a world has them.

    figures: at which level each is seen; tints: float32 (N, 4), linear; feet: what puts
    them on the ground, None: clips have them; is_standing: whether places are brought
    to the height of the ground.
    """

    player: Player
    figures: FigureState
    tints: Floats
    feet: Feet | None
    is_standing: bool
