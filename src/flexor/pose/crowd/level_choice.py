"""At which level of detail each character is drawn, and which are in the picture.

A rule turns what is known of N characters (how far, how large in the picture, how fast,
or a function of the caller's) into a value each, and borders cut the values into
regions, one for each level. A character on a border keeps the level it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, check_array, check_input
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact
from flexor.scene.character.camera import Camera

__all__ = ["Figures", "LevelRule", "LevelView", "choose_levels", "is_in_view"]

Choice = NDArray[np.int32] | NDArray[np.int8]
SHARES = ("height", "width", "area")
WORDS = ("error", "distance", *SHARES, "speed")
# How far a skin may be off in the picture, in the mean and at worst: pixels.
MEAN_GOAL, WORST_GOAL = 1.0, 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """N characters for which levels are chosen.

    places: float32 (N, 3), middle of each; reaches: float32 (N,), metres from there to
    what is furthest out; heights, widths: float32 (N,), metres, if they are not those
    of the ball of that reach; speeds: float32 (N,), metres a second; sizes: float32
    (N,), factors by which characters, and so their errors, are larger than they were
    made.
    """

    places: Floats
    reaches: Floats
    heights: Floats | None = None
    widths: Floats | None = None
    speeds: Floats | None = None
    sizes: Floats | None = None

    def check(self, count: int) -> None:
        """Refuse arrays that are not of `count` characters."""
        check_input(self.places, np.float32, (count, 3), "places")
        _check_sizes(self.reaches, count, "reaches")
        for name in ("heights", "widths", "speeds", "sizes"):
            value = getattr(self, name)
            if value is not None:
                _check_sizes(value, count, name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LevelView:
    """What is known of N characters when their levels are chosen.

    places: float32 (N, 3), metres; distances: (N,), metres from the camera's eye;
    heights, widths, areas: (N,), share of the picture, 1 for all of it, more where one
    is larger than that; pixel_sizes: (N,), metres that a pixel shows at what is nearest
    of it, as it was made; speeds: (N,), metres a second, 0 where none were given;
    levels: (N,), the choice so far, -1 for none; time: seconds; extra: what the caller
    gave along. Numbers of what is not finite, or behind the camera, mean nothing.
    """

    places: Floats
    distances: Doubles
    heights: Doubles
    widths: Doubles
    areas: Doubles
    pixel_sizes: Doubles
    speeds: Floats
    levels: Choice
    time: float = 0.0
    extra: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRule:
    """What decides on a level, and where the borders between levels are.

    by: "error": the coarsest level whose skin is off by no more than 1 pixel in the
    mean and 3 at worst, by the errors of the levels, borders are not given;
    "distance": metres from the camera, borders rise; "height", "width", "area": share
    of the picture, borders fall; "speed": metres a second, borders rise; or a function
    of a `LevelView` that gives (N,) numbers, which are levels where there are no
    borders, or else values whose borders rise. pixels: factor on what "error" allows;
    band: share of a border by which a value must be beyond it before the level changes,
    so that nothing flickers (a border at 0 has none).
    """

    by: str | Callable[[LevelView], NDArray[Any]] = "error"
    borders: tuple[float, ...] = ()
    pixels: float = 1.0
    band: float = 0.1

    def __post_init__(self) -> None:
        if not callable(self.by) and self.by not in WORDS:
            words = ", ".join(WORDS)
            raise SettingError(
                f"by: {self.by!r}, expected a function or one of {words}"
            )
        for name, value in (("pixels", self.pixels), ("band", self.band)):
            if not isinstance(value, Real) or not math.isfinite(value):
                raise SettingError(f"{name}: {value!r}, expected a number")
        if not self.pixels > 0:
            raise SettingError(f"pixels: {self.pixels}, expected above 0")
        if not 0 <= self.band < 1:
            raise SettingError(f"band: {self.band}, expected 0 to below 1")
        object.__setattr__(self, "borders", _as_borders(self.by, self.borders))


def choose_levels(
    rules: LevelRule | Sequence[LevelRule],
    errors: Floats,
    camera: Camera,
    size: tuple[int, int],
    figures: Figures,
    *,
    levels: Choice,
    time: float = 0.0,
    extra: Any = None,
) -> None:
    """Update the levels at which N characters with the same levels are drawn.

    rules: of several the one that gives the coarsest counts; errors: float32 (L, 2), of
    the character's L levels, metres, mean and worst; size: of the picture, pixels;
    levels: int8 or int32 (N,), the choice so far, -1 for none, overwritten; time,
    extra: for functions, `LevelView`. What is not finite, or wholly behind the camera,
    gets the coarsest level.
    """
    rows = (rules,) if isinstance(rules, LevelRule) else tuple(rules)
    _check_choice(rows, errors, levels, figures.speeds)
    count, last = len(levels), len(errors) - 1
    _check_size(size)
    figures.check(count)
    so_far = levels.view()
    so_far.flags.writeable = False
    with np.errstate(all="ignore"):  # what is not finite is not seen anyway
        seen = _camera_space(camera, figures.places)
        furthest = figures.reaches - seen[:, 2]
        is_seen = np.isfinite(seen).all(1) & (furthest >= camera.near)
        measured = _measure(camera, size, -seen[:, 2], figures)
        if figures.sizes is not None:  # what is twice as large is off by twice as much
            measured["pixel_sizes"] = measured["pixel_sizes"] / figures.sizes
        still = np.zeros(count, np.float32)
        view = LevelView(
            **measured,
            places=figures.places,
            distances=np.linalg.norm(seen, axis=1),
            speeds=still if figures.speeds is None else figures.speeds,
            levels=so_far,
            time=time,
            extra=extra,
        )
    chosen = np.zeros(count, np.int64)
    for rule in rows:
        np.maximum(chosen, _apply(rule, view, errors), out=chosen)
    chosen[~is_seen] = last
    levels[:] = np.minimum(chosen, last)


def is_in_view(
    camera: Camera, size: tuple[int, int], places: Floats, reaches: Floats
) -> NDArray[np.bool_]:
    """Which of N balls may be seen in a picture: bool (N,).

    size: of the picture, pixels; places: float32 (N, 3), their middles; reaches:
    float32 (N,), their radii, metres. None that can be seen is left out; one that is
    just outside of a corner may be taken for seen. What is not finite is not seen.
    """
    _check_size(size)
    Figures(places, reaches).check(len(places))
    half_x, half_y = (side / 2 / camera.scale(size) for side in size)
    with np.errstate(all="ignore"):
        seen = _camera_space(camera, places)
        depths = -seen[:, 2]
        x, y = np.abs(seen[:, 0]), np.abs(seen[:, 1])
        if camera.height is None:  # the sides are planes through the eye
            x = (x - depths * half_x) / exact.hypot(1, half_x)
            y = (y - depths * half_y) / exact.hypot(1, half_y)
        else:
            x, y = x - half_x, y - half_y
        outside = np.maximum(np.maximum(x, y), camera.near - depths)
        # A comparison with NaN is False: not seen.
        inside: NDArray[np.bool_] = np.isfinite(seen).all(1) & (outside <= reaches)
    return inside


def _camera_space(camera: Camera, places: Floats) -> Doubles:
    """Places (N, 3) as the camera sees them: right, up and backward, metres."""
    view = camera.view()
    seen: Doubles = (
        exact.multiply(places.astype(np.float64), view[:, :3].T) + view[:, 3]
    )
    return seen


def _measure(
    camera: Camera, size: tuple[int, int], depths: Doubles, figures: Figures
) -> dict[str, Doubles]:
    """How large characters are in the picture, as `LevelView` has it.

    depths: (N,), metres from the eye along the view to their middles.
    """
    scale = camera.scale(size)
    middle = close = np.ones(len(depths))
    if camera.height is None:
        middle = np.maximum(depths, camera.near)
        close = np.maximum(depths - figures.reaches, camera.near)
    across = 2.0 * figures.reaches.astype(np.float64)
    heights = across if figures.heights is None else figures.heights
    widths = across if figures.widths is None else figures.widths
    tall = heights * (scale / size[1]) / middle
    broad = widths * (scale / size[0]) / middle
    is_ball = figures.heights is None and figures.widths is None
    return {
        "heights": tall,
        "widths": broad,
        "areas": tall * broad * (math.pi / 4 if is_ball else 1.0),
        "pixel_sizes": close / scale,
    }


def _apply(rule: LevelRule, view: LevelView, errors: Floats) -> NDArray[np.int64]:
    """The level by one rule of each of N, not limited to the levels there are."""
    last = len(errors) - 1
    borders = np.array(rule.borders, np.float64)
    if callable(rule.by):
        values = _ask(rule.by, view, bool(rule.borders))
        if not rule.borders:
            levels: NDArray[np.int64] = np.clip(values, 0, last).astype(np.int64)
            return levels
    elif rule.by == "error":
        values = view.pixel_sizes
        off = np.maximum(errors[:, 0] / MEAN_GOAL, errors[:, 1] / WORST_GOAL)
        # A level is no worse than a coarser one that will do.
        off = np.minimum.accumulate(off[::-1])[::-1].astype(np.float64)
        with np.errstate(over="ignore"):
            borders = off[1:] / rule.pixels
    elif rule.by == "speed":
        values = view.speeds.astype(np.float64)
    elif rule.by == "distance":
        values = view.distances
    else:  # shares fall with the level
        shares = {"height": view.heights, "width": view.widths, "area": view.areas}
        values, borders = -shares[rule.by], -borders
    level = _find_regions(values, borders, view.levels, rule.band)
    return np.where(np.isnan(values), last, level)


def _find_regions(
    values: Doubles, borders: Doubles, before: Choice, band: float
) -> NDArray[np.int64]:
    """The region of each value between rising borders: how many it has reached.

    before: the regions so far, below 0 for none; they stay while no border is passed by
    more than the band.
    """
    plain = np.searchsorted(borders, values, "right")
    width = band * np.sign(borders)
    low = np.searchsorted(borders * (1 + width), values, "right")
    high = np.searchsorted(borders * (1 - width), values, "right")
    # Where borders are so close that bands overlap, one border may be held, not two.
    low, high = np.maximum(low, plain - 1), np.minimum(high, plain + 1)
    held = np.clip(before.astype(np.int64), low, high)
    return np.where(before < 0, plain, held)


def _ask(
    function: Callable[[LevelView], NDArray[Any]], view: LevelView, has_borders: bool
) -> NDArray[Any]:
    """What a caller's function gives, checked."""
    values = np.asarray(function(view))
    name = getattr(function, "__name__", repr(function))
    if values.shape != view.distances.shape:
        wanted = view.distances.shape
        raise ShapeError(f"{name}: gave shape {values.shape}, expected {wanted}")
    if values.dtype.kind not in ("iuf" if has_borders else "iu"):
        wanted_kind = (
            "numbers" if has_borders else "whole numbers: the rule has no borders"
        )
        raise ShapeError(f"{name}: gave {values.dtype}, expected {wanted_kind}")
    return values.astype(np.float64) if has_borders else values


def _as_borders(by: Any, borders: Any) -> tuple[float, ...]:
    """The borders of a rule as floats, checked."""
    try:
        values = tuple(float(border) for border in borders)
    except (TypeError, ValueError):
        raise SettingError(f"borders: {borders!r}, expected numbers") from None
    if callable(by):
        sign = 1
    elif by == "error":
        if values:
            raise SettingError("borders: a rule by error has none, its levels say")
        return ()
    else:
        if not values:
            raise SettingError(f"borders: a rule by {by} needs at least one")
        if min(values) < 0:
            raise SettingError(f"borders: {values}, expected 0 or above")
        sign = -1 if by in SHARES else 1
    way = "falling" if sign < 0 else "rising"
    steps = [sign * (after - before) for before, after in pairwise(values)]
    if not all(map(math.isfinite, values)) or not all(step > 0 for step in steps):
        raise SettingError(f"borders: {values}, expected finite and {way}")
    return values


def _check_choice(
    rules: Sequence[LevelRule], errors: Floats, levels: Choice, speeds: Floats | None
) -> None:
    if not rules or not all(isinstance(rule, LevelRule) for rule in rules):
        raise SettingError("rules: expected a LevelRule, or several")
    if speeds is None and any(rule.by == "speed" for rule in rules):
        raise SettingError("speeds: needed by a rule by speed")
    check_input(errors, np.float32, (None, 2), "errors")
    if not len(errors) or not np.isfinite(errors).all() or (errors < 0).any():
        raise ShapeError("errors: must be of at least one level, finite, not negative")
    kind = np.int8 if getattr(levels, "dtype", None) == np.int8 else np.int32
    check_array(levels, kind, (None,), "levels")
    if len(errors) - 1 > np.iinfo(kind).max:
        raise ShapeError(f"levels: {len(errors)} do not fit int8, give int32")


def _check_size(size: tuple[int, int]) -> None:
    if len(size) != 2 or not min(size) > 0:
        raise SettingError(f"size: {size}, expected width and height in pixels")


def _check_sizes(values: Floats, count: int, name: str) -> None:
    check_input(values, np.float32, (count,), name)
    with np.errstate(invalid="ignore"):
        if (values < 0).any():
            raise ShapeError(f"{name}: must be 0 or above")
