"""Pads: directions as the camera sees them, made ways to go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Doubles, Ints, Masks
from flexor.scene.stage.plan import WalkSettings
from flexor.stage.movement.layout import Speeds

__all__ = ["PadRows", "read_pads"]


class PadRows(NamedTuple):
    """N characters as pads see them.

    held: uint32 (N,), buttons; clocks: (N,), factors of time; controls: (N,), numbers
    in CONTROLS; opponents: int32 (N,), -1 for none; can_walk: (N,); places: (N, 3);
    headings: (N,), changed; asked: (N, 2), metres a second ahead and to the right,
    circling: (N,), who goes around its opponent; both filled, but for those whose
    control is "none".
    """

    held: Masks
    clocks: Doubles
    controls: NDArray[np.uint8]
    opponents: Ints
    can_walk: Bools
    places: Doubles
    headings: Doubles
    asked: Doubles
    circling: Bools


def read_pads(
    rows: PadRows, view: tuple[float, float], dt: float, settings: WalkSettings
) -> None:
    """Turn N characters by their pads, and say what they ask for, in place.

    view: x and z of where the camera looks, unit; dt: seconds.

    Who faces its opponent goes toward it, away or around it, whichever of them the
    pad's way is nearest to, or slantwise between. Others turn where they go.
    """
    from flexor.stage.movement.kernels import pads as kernel_pads

    kernel_pads.read_pads(
        rows.held,
        *view,
        dt,
        rows.clocks,
        Speeds(
            settings.walk,
            settings.run,
            settings.back,
            settings.side,
            settings.turn,
        ),
        rows.controls,
        rows.opponents,
        rows.can_walk,
        rows.places,
        rows.headings,
        rows.asked,
        rows.circling,
    )
