"""Endless textures: series of pictures whose end runs into their start.

    long = water_series(60, (128, 128), seed=1)
    loop = blend_series(long[:30], long[30:], keep_contrast=True)
    shown = loop[frame_at(seconds, distances, len(loop))]

Two series are needed that follow on each other: `second` has to go on where `first`
ends, so that second[0] is the picture that would come after first[-1]. The second is
laid over the first with an opacity that falls from 1 to 0. So the loop begins with
second[0] and ends with first[-1], and its step from the last frame to the first is
first[-1] to second[0]: a step of the motion itself, with no fading in it. In all other
steps something fades as well. What the start of the second series had, and the end of
the first has not, is lost on the way, a little with each frame.

They have to be long enough for the picture to become another one. Fading goes back from
the second series to the first while both go on; as long as second[t] still looks like
first[t], one undoes the other, and the loop nearly stands still but for its last step.
For waves at 30 frames a second that is so below about 12 frames.

Where two pictures that have nothing to do with each other are mixed half and half, 30 %
of the contrast is lost, and of the movement: water grows dull once in every round. It
also makes the step from last to first, where nothing is mixed, the largest of all in
one of six loops of water, by up to 7 %. With `keep_contrast` neither is so (in none of
270 loops, slow and quick ones, of 12 to 60 frames). It is for surfaces that are alike
everywhere, such as water: it would make a background of one colour flicker behind a
figure.

Pictures of bytes are mixed in linear light. The light that comes from a loop is then
the same in every frame. Mixed as levels, the bright lines on dark water lose light
(2.6 % of all light is gone in the middle of the round), and a pool seen from far away
pulses.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Bytes, Doubles, Floats, Ints, check_array, check_input
from flexor.errors import SettingError, ShapeError
from flexor.maths.colour import linear_from_srgb, srgb_from_linear
from flexor.scene.checks import check_kind, check_number
from flexor.scene.stage.effect_settings import MOST_FRAMES, EndlessSettings

__all__ = [
    "blend_frame",
    "blend_series",
    "fade_weights",
    "frame_at",
    "loop_series",
    "step_size",
    "step_sizes",
    "water_series",
]

Pictures = NDArray[Any]  # uint8, sRGB, or float32, linear light

MOST_GAIN = math.sqrt(2.0)  # what half and half of unrelated pictures need
FINEST = 65535  # steps of light for which levels are looked up
SLIP = 1e-4  # frames by which clocks may be behind: 29 / 30 * 30 is less than 29

GRAVITY = 9.81  # m/s^2
WAVE_COUNT = 40
SHORTEST, LONGEST = 1 / 12, 1 / 2  # waves, as parts of the tile
STEEPNESS = 2.3  # waves of wave number k have heights of k to the minus this
BEND = 0.5  # how much waves gather light on the floor of the pool: 1 is a focus
SOFT = 0.4  # keeps the brightest lines from being endlessly bright
DEEP, LIT = (0.0, 0.04, 0.09), (0.11, 0.28, 0.29)  # linear light
SHEEN = (0.03, 0.05, 0.06)  # of the sky, on slopes


def fade_weights(count: int) -> Doubles:
    """Opacities of the second series: float64 (T,), evenly from 1 to 0.

    One frame alone has 1.
    """
    count = _check_count(count, "count", 1, MOST_FRAMES)
    return np.linspace(1.0, 0.0, count)


def blend_series(
    first: Pictures,
    second: Pictures,
    *,
    keep_contrast: bool = False,
    out: Pictures | None = None,
) -> Pictures:
    """An endless series of two that follow on each other: second[0] after first[-1].

    first, second: (T, H, W, C), both uint8, sRGB, or both float32, linear light from 0
    to 1; C is 1 for grey, 2 with alpha, 3 for colours, 4 with alpha, which is straight.
    keep_contrast: for surfaces such as water, see above. out: the same, to be filled;
    may be one of the two.

    Frame t is `second[t]` over `first[t]` with the opacity `fade_weights(T)[t]`.
    """
    kind = _check_pictures(first, 4, "first")
    check_input(second, kind, first.shape, "second")
    if out is None:
        out = np.empty_like(first)
    check_array(out, kind, first.shape, "out")
    for t, opacity in enumerate(fade_weights(len(first))):
        blend_frame(
            first[t], second[t], opacity, keep_contrast=keep_contrast, out=out[t]
        )
    return out


def loop_series(
    frames: Pictures,
    overlap: int,
    *,
    keep_contrast: bool = False,
    out: Pictures | None = None,
) -> Pictures:
    """An endless series (T - overlap, H, W, C) of one long one, (T, H, W, C).

    overlap: its last frames, 2 to T / 2, are blended over as many of its first; those
    between stay as they are. With T / 2 it is `blend_series` of both halves. With fewer
    the loop is longer, and what fades does so faster.
    """
    kind = _check_pictures(frames, 4, "frames")
    if len(frames) < 4:
        raise ShapeError(f"frames: shape {frames.shape}, expected at least 4 frames")
    overlap = _check_count(overlap, "overlap", 2, len(frames) // 2)
    count = len(frames) - overlap
    shape = (count, *frames.shape[1:])
    if out is None:
        out = np.empty(shape, kind)
    check_array(out, kind, shape, "out")
    first, second = frames[:overlap], frames[count:]
    blend_series(first, second, keep_contrast=keep_contrast, out=out[:overlap])
    out[overlap:] = frames[overlap:count]
    return out


def blend_frame(
    first: Pictures,
    second: Pictures,
    opacity: float,
    *,
    keep_contrast: bool = False,
    out: Pictures | None = None,
) -> Pictures:
    """One picture (H, W, C) over another; as `blend_series` does it with each frame.

    opacity: 1 gives `second`, 0 gives `first`, also where they are transparent.
    """
    kind = _check_pictures(first, 3, "first")
    check_input(second, kind, first.shape, "second")
    opacity = check_number(opacity, "opacity", 0.0, 1.0)
    if out is None:
        out = np.empty_like(first)
    check_array(out, kind, first.shape, "out")
    one, two = _light(first, "first"), _light(second, "second")
    share: Any = np.float32(opacity)
    rest = np.float32(1) - share
    colours = _colours(first)
    alpha = None
    if colours < first.shape[2]:
        # A transparent part of the second must hide the first too, or the loop would
        # not begin with the second: so both fade, each with the alpha it has. Colours
        # count by how much they show.
        own = share * two[..., colours:]
        alpha = own + rest * one[..., colours:]
        plain = np.full_like(alpha, share)
        share = np.divide(own, alpha, out=plain, where=alpha > 0)
        rest = np.float32(1) - share
    one, two = one[..., :colours], two[..., :colours]
    mixed = two * share + one * rest
    if keep_contrast:
        _raise_contrast(mixed, one, two, opacity)
    if kind is np.uint8:
        out[..., :colours] = _levels(mixed)
    else:
        out[..., :colours] = mixed
    if alpha is not None:
        out[..., colours:] = np.rint(alpha * 255) if kind is np.uint8 else alpha
    return out


def step_sizes(series: Pictures) -> Doubles:
    """How much each frame differs from the next, the last from the first: (T,).

    series: as for `blend_series`; differences are those of `step_size`.
    """
    _check_pictures(series, 4, "series")
    count = len(series)
    return np.array([step_size(series[t], series[t + 1 - count]) for t in range(count)])


def step_size(before: Pictures, after: Pictures) -> float:
    """How much two pictures (H, W, C) differ: the root of the mean square difference.

    In levels from 0 to 255 for uint8, in light for float32. Colours count by how much
    they show.
    """
    kind = _check_pictures(before, 3, "before")
    check_input(after, kind, before.shape, "after")
    away = _shown(after) - _shown(before)
    total = np.square(away, out=away).sum(dtype=np.float64)
    return math.sqrt(total / (before.size // before.shape[2] * _colours(before)))


def frame_at(
    seconds: float,
    distance: ArrayLike,
    count: int,
    settings: EndlessSettings | None = None,
) -> Ints:
    """Which frame of an endless series to show at each distance: int32 (N,).

    seconds: since the start, which may be negative; distance: (N,), metres from the
    camera; count: of the frames.

    Near and far parts of one surface stay together: all go round in the same time, and
    far ones show a frame that near ones showed a little before. Where the step does not
    divide the count, the last frame is shown for less long.
    """
    settings = EndlessSettings() if settings is None else settings
    check_kind(settings, EndlessSettings, "settings")
    count = _check_count(count, "count", 1, MOST_FRAMES)
    seconds = check_number(seconds, "seconds", -1e9, 1e9)
    metres = np.asarray(distance)
    if metres.ndim != 1 or metres.dtype.kind not in "fiu":
        have = f"{metres.dtype} {metres.shape}"
        raise ShapeError(f"distance: {have}, expected numbers (N,)")
    if not (metres >= 0).all():
        row = int(np.argmin(metres >= 0))
        raise SettingError(
            f"distance: {metres[row]} in row {row}, expected metres from 0"
        )
    # Infinitely far is as far as "far".
    away = np.clip(metres.astype(np.float64), settings.near, settings.far)
    width = settings.far - settings.near
    if width > 0:
        share = (away - settings.near) / width
    else:
        share = (metres > settings.near).astype(np.float64)
    step = 1 + np.floor(share * (settings.far_step - 1) + SLIP).astype(np.int32)
    now = math.floor(seconds * settings.rate + SLIP) % count
    found: Ints = (now // step * step).astype(np.int32)
    return found


def water_series(
    count: int,
    size: tuple[int, int],
    seed: int | np.random.Generator,
    *,
    metres: float = 4.0,
    rate: float = 30.0,
) -> Bytes:
    """Light on the floor of a pool, under waves: uint8 (T, H, W, 4), sRGB, opaque.

    size: (width, height) in pixels, each 8 to 4096; seed: of the waves, a number or a
    generator; metres: what the width shows; rate: frames a second.

    Waves go in all directions, each as fast as its length makes it. Copies side by side
    fit together; in time nothing repeats, so it takes `loop_series` to make it endless.
    """
    count = _check_count(count, "count", 1, MOST_FRAMES)
    try:
        width, height = size
    except (TypeError, ValueError):
        raise SettingError(f"size: {size!r}, expected (width, height)") from None
    width = _check_count(width, "size: width", 8, 4096)
    height = _check_count(height, "size: height", 8, 4096)
    metres = check_number(metres, "metres", 0.01, 1e4)
    rate = check_number(rate, "rate", 0.01, 1000.0)
    waves = _Waves.make(np.random.default_rng(seed), (width, height), metres)
    out = np.empty((count, height, width, 4), np.uint8)
    out[..., 3] = 255
    for t in range(count):
        out[t, ..., :3] = _levels(waves.light(t / rate))
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Waves:
    """K waves that fit a tile: wave numbers x, y (K,); heights (K,), as complex numbers
    with the phase; speeds (K,), radians a second; size: (width, height) of the tile in
    pixels; turns: (2, K), how often each goes up and down along its rows and columns.
    """

    x: Doubles
    y: Doubles
    heights: NDArray[np.complex128]
    speeds: Doubles
    size: tuple[int, int]
    turns: NDArray[np.int64]

    @classmethod
    def make(
        cls, rng: np.random.Generator, size: tuple[int, int], metres: float
    ) -> _Waves:
        sides = metres, metres * size[1] / size[0]
        least, most = (math.log(part * min(sides)) for part in (SHORTEST, LONGEST))
        lengths = np.exp(rng.uniform(least, most, WAVE_COUNT))
        ways = rng.uniform(0, math.tau, WAVE_COUNT)
        # Whole waves on the tile, so that copies of it fit together; not so many that
        # pixels could not show them.
        turns = []
        for side, pixels, way in zip(
            sides, size, (np.cos(ways), np.sin(ways)), strict=True
        ):
            finest = pixels // 4
            turns.append(np.clip(np.rint(side / lengths * way), -finest, finest))
        turns[0][(turns[0] == 0) & (turns[1] == 0)] = 1
        x, y = (math.tau * n / side for n, side in zip(turns, sides, strict=True))
        number = np.hypot(x, y)
        heights = number**-STEEPNESS
        heights /= math.sqrt(np.square(heights * number**2).sum() / 2)
        phases = np.exp(1j * rng.uniform(0, math.tau, WAVE_COUNT))
        return cls(
            x,
            y,
            heights * phases,
            np.sqrt(GRAVITY * number),  # waves on deep water
            size,
            np.array(turns).astype(np.int64),
        )

    def light(self, seconds: float) -> Floats:
        """Linear light (H, W, 3) at a time."""
        now = self.heights * np.exp(-1j * self.speeds * seconds)
        tilt = 1j * (self.x + self.y) / np.hypot(self.x, self.y).mean()
        along, across, skew, slope = self._shown(
            np.stack([self.x**2, self.y**2, self.x * self.y, tilt]) * now
        )
        # A surface bends light as a lens does. Where its curves bring the light of a
        # patch together on less floor, that is brighter by as much: one over the
        # determinant of the map from the surface to the floor.
        patch = (1 - BEND * along) * (1 - BEND * across) - (BEND * skew) ** 2
        gathered = 1 / (np.abs(patch) + SOFT)
        sheen = np.clip(slope + 0.5, 0, 1)
        light = np.array(DEEP) + (gathered**1.5)[..., None] * np.array(LIT)
        light += sheen[..., None] * np.array(SHEEN)
        found: Floats = light.astype(np.float32)
        return found

    def _shown(self, heights: NDArray[np.complex128]) -> Doubles:
        """Pictures (P, H, W) of the waves with heights (P, K), by their spectrum."""
        width, height = self.size
        x, y = self.turns
        # A spectrum of real numbers is its right half: waves to the left stand there as
        # their mirror images, and those straight up and down count fully.
        is_left = x < 0
        half = np.where(is_left, heights.conj(), heights)
        half[:, x != 0] *= 0.5
        rows, columns = np.where(is_left, -y, y) % height, np.abs(x)
        spectrum = np.zeros((len(heights), height, width // 2 + 1), np.complex128)
        for own, one in zip(spectrum, half, strict=True):
            np.add.at(own, (rows, columns), one)
        pictures: Doubles = np.fft.irfft2(
            spectrum, (height, width), axes=(-2, -1), norm="forward"
        )
        return pictures


def _raise_contrast(mixed: Floats, one: Floats, two: Floats, opacity: float) -> None:
    """Give a mixture, in place, the variance that lies between those of its parts."""
    share, rest = opacity, 1 - opacity
    wanted = share * _variance(two) + rest * _variance(one)
    have = _variance(mixed)
    # More than the most that unrelated pictures need: one is the other's negative.
    gain = MOST_GAIN
    if have * gain**2 > wanted:
        gain = math.sqrt(wanted / have)
    middle = mixed.mean((0, 1), dtype=np.float64).astype(np.float32)
    mixed -= middle
    mixed *= np.float32(gain)
    mixed += middle


def _variance(colours: Floats) -> float:
    """Of all pixels, each about the mean of its channel."""
    return float(colours.var((0, 1), dtype=np.float64).sum())


@cache
def _tables() -> tuple[Floats, Bytes]:
    """Light of each of 256 levels; the level of each of `FINEST` + 1 steps of light."""
    light = linear_from_srgb(np.arange(256)).astype(np.float32)
    steps = srgb_from_linear(np.arange(FINEST + 1) / FINEST)
    return light, np.rint(steps).astype(np.uint8)


def _light(picture: Pictures, name: str) -> Floats:
    """A picture in linear light, its alpha from 0 to 1: (H, W, C)."""
    if picture.dtype == np.uint8:
        light: Floats = _tables()[0][picture]
        for channel in range(_colours(picture), picture.shape[2]):
            light[..., channel] = picture[..., channel] / np.float32(255)
        return light
    if not np.isfinite(picture).all():
        raise SettingError(f"{name}: holds NaN or infinity, expected finite numbers")
    return picture


def _levels(light: Floats) -> Bytes:
    """Linear light as levels, by looking up: curves take ten times as long."""
    steps = np.clip(light, 0, 1) * np.float32(FINEST)
    steps += np.float32(0.5)
    levels: Bytes = _tables()[1][steps.astype(np.uint16)]
    return levels


def _shown(picture: Pictures) -> Floats:
    """Numbers that differ where pictures look different: (H, W, C)."""
    numbers = picture.astype(np.float32)
    colours = _colours(picture)
    if colours < picture.shape[2]:
        most = np.float32(255 if picture.dtype == np.uint8 else 1)
        numbers[..., :colours] *= numbers[..., colours:] / most
    return numbers


def _colours(picture: Pictures) -> int:
    """How many channels hold colours; the one after them, if any, is alpha."""
    return 1 if picture.shape[-1] <= 2 else 3


def _check_pictures(
    pictures: Any, axes: int, name: str
) -> type[np.uint8] | type[np.float32]:
    """Refuse what is no picture (axes: 3) or series (4) of them; gives the dtype."""
    have = getattr(pictures, "dtype", type(pictures).__name__)
    if not isinstance(pictures, np.ndarray) or have not in (np.uint8, np.float32):
        raise ShapeError(f"{name}: {have}, expected uint8 or float32")
    kind = np.uint8 if have == np.uint8 else np.float32
    shape = pictures.shape
    if len(shape) != axes or not 1 <= shape[-1] <= 4 or not pictures.size:
        wanted = "(H, W, C)" if axes == 3 else "(T, H, W, C)"
        raise ShapeError(f"{name}: shape {shape}, expected {wanted}, C from 1 to 4")
    check_input(pictures, kind, (None,) * axes, name)
    return kind


def _check_count(value: Any, name: str, least: int, most: int) -> int:
    """A whole number within bounds."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise SettingError(
            f"{name}: {value!r}, expected a whole number, {least} to {most}"
        )
    return number
