"""When one weight a vertex will do: far away, at the edge of the picture, or behind
something half transparent.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, check_array, check_input
from flexor.errors import SettingError
from flexor.scene.character.camera import Camera

__all__ = ["WeightRule", "choose_weights"]

GOALS = (1.0, 3.0)  # pixels that skin may be off, in the mean and at worst


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightRule:
    """Thresholds for one weight.

    A character is far where one weight moves its skin by no more than a pixel in the
    mean and three at worst, as was measured of it. pixels: factor on what that allows;
    small: pixels, in place of it: one that is smaller than this in the picture is far,
    however it looks then; 0: none is; aside: how far the nearest of it is from the
    middle of the picture, 1 at its edges; infinity: it may be anywhere; behind: whether
    standing behind something half transparent is reason enough; band: share by which
    one must be larger, or nearer to the middle, before all weights are used again, so
    that nothing flickers.
    """

    small: float | None = None
    pixels: float = 1.0
    aside: float = 0.9
    behind: bool = True
    band: float = 0.1

    def __post_init__(self) -> None:
        for name in ("small", "pixels", "aside", "band"):
            value = getattr(self, name)
            if name == "small" and value is None:
                continue
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
    errors: Doubles | None = None,
) -> None:
    """Update which of N characters are drawn with one weight.

    size: of the picture, pixels; places: float32 (N, 3), middle of each character;
    reaches: float32 (N,), metres from there to what is furthest out; is_behind: (N,),
    whether something half transparent is in front of it; is_one: (N,), the choice so
    far, overwritten; errors: float64 (N, 2), metres by which one weight moves skin, in
    the mean and at worst, for a rule that does not say what is small.
    """
    count = len(is_one)
    check_input(places, np.float32, (count, 3), "places")
    check_input(reaches, np.float32, (count,), "reaches")
    check_input(is_behind, np.bool_, (count,), "is_behind")
    check_array(is_one, np.bool_, (count,), "is_one")
    if rule.small is None:
        if errors is None:
            raise SettingError("errors: needed by a rule that does not say `small`")
        check_input(errors, np.float64, (count, 2), "errors")
    half = np.array(size) / 2
    keep = np.where(is_one, 1 - rule.band, 1.0)
    with np.errstate(all="ignore"):  # what is not finite is not seen anyway
        points = camera.project(places, size)
        scale = np.float64(camera.scale(size))
        middle = close = np.ones(count)  # metres from the eye
        if camera.height is None:
            middle = points[:, 2]
            close = np.maximum(middle - reaches, camera.near)
        reach = reaches * scale / middle  # pixels
        aside = ((np.abs(points[:, :2] - half) - reach[:, None]) / half).max(1)
        if rule.small is not None:
            is_small = 2 * reach * keep < rule.small
        else:
            assert errors is not None
            off = (errors / GOALS).max(1) * scale / close
            is_small = off * keep <= rule.pixels
        # So that what is behind the camera, where pixels are NaN, counts as aside.
        is_aside = ~(aside <= rule.aside * keep)
    is_one[:] = is_small | is_aside
    if rule.behind:
        is_one |= is_behind
