"""What pictures of many things share: the field they stand on, arrays to draw in."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem
from flexor.draw.items.crowds import build_field, upload_field
from flexor.draw.scene.style import DrawStyle
from flexor.draw.target import Target, init_target
from flexor.errors import SettingError
from flexor.maths.colour import linear_from_srgb
from flexor.scene.character.camera import Camera

__all__ = ["Field", "Targets"]

# Linear colours of the stripes of the ground; of drawings in lines, nearly white.
GRASS = ((0.115, 0.235, 0.075), (0.135, 0.27, 0.085))
CHALK = ((0.8, 0.82, 0.79), (0.88, 0.9, 0.87))
NEAREST = 1.9  # distances from camera to target: the ground reaches as far, or further
WIDER = 1.3  # times as far as those shown: the ground fades toward its edge
GIVEN = ("depth", "normal")  # buffers: parts are numbered for single characters
MOST_TARGETS = 4  # sizes of pictures whose arrays are kept


class Targets:
    """Arrays for pictures of the last few sizes; last: those of the last picture."""

    def __init__(self) -> None:
        self.last: Target | None = None
        self._kept: dict[tuple[int, int, int, tuple[str, ...]], Target] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, size: tuple[int, int], style: DrawStyle) -> Target:
        """Those for a picture of (width, height) in a style."""
        lost = [name for name in style.buffers if name not in GIVEN]
        if lost:
            raise SettingError(
                f"buffers: {', '.join(lost)}: pictures of many have "
                f"{' and '.join(GIVEN)} alone; a flexor.Drawer has all of one character"
            )
        key = (*size, style.samples, style.buffers)
        if key not in self._kept:
            while len(self._kept) >= MOST_TARGETS:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = init_target(size, style.samples, style.buffers)
        self.last = self._kept[key]
        return self.last


class Field:
    """A lawn that reaches as far as a camera needs it."""

    def __init__(self, backend: Backend) -> None:
        self._mesh = upload_field(backend)

    def items(
        self,
        camera: Camera,
        style: DrawStyle,
        floor: float,
        shown: NDArray[np.floating],
    ) -> list[DrawItem]:
        """The field, if the style has one; floor: its height, metres; shown: (n, 3),
        what stands on it.
        """
        if not style.ground:
            return []
        # A power of two: stripes are as wide as before while a camera comes nearer.
        wanted = max(NEAREST * math.dist(camera.target, camera.eye), 1e-30)
        if len(shown):
            ways = shown[:, [0, 2]] - np.array(camera.target)[[0, 2]]
            wanted = max(wanted, WIDER * float(np.hypot(*ways.T).max()))
        reach = 2.0 ** math.ceil(math.log2(wanted))
        paper = None  # nothing is behind it
        if style.paper[3] == 255:
            red, green, blue = linear_from_srgb(style.paper[:3])
            paper = float(red), float(green), float(blue)
        return [
            build_field(
                self._mesh,
                (camera.target[0], camera.target[2]),
                reach,
                floor if style.floor is None else style.floor,
                CHALK if style.style == "lines" else GRASS,
                paper,
            )
        ]
