"""When one weight a vertex will do: far away, at the edge of the picture, or behind
something half transparent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, check_array, check_input
from flexor.errors import SettingError
from flexor.scene.camera import Camera

__all__ = ["WeightRule", "choose_weights"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightRule:
    """Thresholds for one weight.

    far: metres from the camera; without perspective nothing is far; aside: distance
    from the middle of the picture, 1 at its edges; behind: whether standing behind
    something half transparent is reason enough; band: share of a threshold by which one
    must be on the near side of it before all weights are used again, so that nothing
    flickers at the border. Infinity switches a threshold off.
    """

    far: float = 12.0
    aside: float = 0.9
    behind: bool = True
    band: float = 0.1

    def __post_init__(self) -> None:
        for name in ("far", "aside"):
            if not getattr(self, name) > 0:
                raise SettingError(f"{name}: {getattr(self, name)}, expected above 0")
        if not 0 <= self.band < 1:
            raise SettingError(f"band: {self.band}, expected 0 to below 1")


def choose_weights(
    rule: WeightRule,
    camera: Camera,
    size: tuple[int, int],
    places: Floats,
    is_behind: NDArray[np.bool_],
    *,
    is_one: NDArray[np.bool_],
) -> None:
    """Update which of N characters are drawn with one weight.

    size: of the picture, pixels; places: float32 (N, 3), middle of each character;
    is_behind: (N,), whether something half transparent is in front of it; is_one: (N,),
    the choice so far, overwritten.
    """
    count = len(is_one)
    check_input(places, np.float32, (count, 3), "places")
    check_input(is_behind, np.bool_, (count,), "is_behind")
    check_array(is_one, np.bool_, (count,), "is_one")
    keep = np.where(is_one, 1 - rule.band, 1.0)
    half = np.array(size) / 2
    with np.errstate(invalid="ignore"):  # what is not finite is not seen anyway
        points = camera.project(places, size)
        aside = (np.abs(points[:, :2] - half) / half).max(1)
        # So that what is behind the camera, where pixels are NaN, counts as aside.
        chosen = ~(aside <= rule.aside * keep)
        if camera.height is None:
            chosen |= points[:, 2] > rule.far * keep
    if rule.behind:
        chosen |= is_behind
    is_one[:] = chosen
