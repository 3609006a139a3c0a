"""When one weight a vertex will do: far away, at the edge of the picture, or behind
something half transparent.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, check_array, check_input
from flexor.errors import SettingError
from flexor.scene.character.camera import Camera

__all__ = ["WeightRule", "choose_weights"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightRule:
    """Thresholds for one weight.

    small: pixels; a character that is smaller than this in the picture is far; 0: none
    is; aside: how far the nearest of it is from the middle of the picture, 1 at its
    edges; infinity: it may be anywhere; behind: whether standing behind something half
    transparent is reason enough; band: share by which one must be larger, or nearer to
    the middle, before all weights are used again, so that nothing flickers.
    """

    small: float = 110.0
    aside: float = 0.9
    behind: bool = True
    band: float = 0.1

    def __post_init__(self) -> None:
        for name in ("small", "aside", "band"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not float(value) >= 0:
                raise SettingError(f"{name}: {value!r}, expected a number from 0 on")
        if not isinstance(self.behind, bool):
            raise SettingError(f"behind: {self.behind!r}, expected True or False")
        if not self.band < 1:
            raise SettingError(f"band: {self.band}, expected 0 to below 1")


def choose_weights(
    rule: WeightRule,
    camera: Camera,
    size: tuple[int, int],
    places: Floats,
    reaches: Floats,
    is_behind: NDArray[np.bool_],
    *,
    is_one: NDArray[np.bool_],
) -> None:
    """Update which of N characters are drawn with one weight.

    size: of the picture, pixels; places: float32 (N, 3), middle of each character;
    reaches: float32 (N,), metres from there to what is furthest out; is_behind: (N,),
    whether something half transparent is in front of it; is_one: (N,), the choice so
    far, overwritten.
    """
    count = len(is_one)
    check_input(places, np.float32, (count, 3), "places")
    check_input(reaches, np.float32, (count,), "reaches")
    check_input(is_behind, np.bool_, (count,), "is_behind")
    check_array(is_one, np.bool_, (count,), "is_one")
    half = np.array(size) / 2
    keep = np.where(is_one, 1 - rule.band, 1.0)
    with np.errstate(all="ignore"):  # what is not finite is not seen anyway
        points = camera.project(places, size)
        reach = reaches * np.float64(camera.scale(size))  # pixels
        if camera.height is None:
            reach /= points[:, 2]
        aside = ((np.abs(points[:, :2] - half) - reach[:, None]) / half).max(1)
        is_small = 2 * reach * keep < rule.small
        # So that what is behind the camera, where pixels are NaN, counts as aside.
        is_aside = ~(aside <= rule.aside * keep)
    is_one[:] = is_small | is_aside
    if rule.behind:
        is_one |= is_behind
