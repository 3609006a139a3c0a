"""Levels change where nobody looks up: one walks toward the camera past all borders.

From one picture to the next a walker differs by the steps it takes. Where its level
changes, it may differ by no more than twice of the most that steps make.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

import flexor
from flexor.draw.scene.style import DrawStyle
from flexor.pose.clips.root_motion import steady_motion
from flexor.scene.character.camera import Camera

pytestmark = pytest.mark.usefixtures("made_once")

SIZE, FPS = (480, 720), 60  # as high as 1280 x 720, and the figure is in the middle
SPEED = 1.35  # metres a second: of the clip, so that feet do not slide
STEP = 30  # frames from one foot to the other
MOST = 2.0
STYLE = DrawStyle(shadow=False)


@dataclass
class Border:
    """Where a level changes. pop: mean difference of the figure's pixels then, 0 to
    255; inside: the largest between other pictures, one step before and one after.
    """

    levels: tuple[int, int]
    pop: float
    inside: float


class Walker:
    """A mannequin that comes nearer, in a steady picture."""

    def __init__(self) -> None:
        hero = flexor.samples.mannequin()
        way = steady_motion(hero.clips["walk"].duration, (0, 0, SPEED))
        self.crowd = flexor.Crowd(hero, 1, root_motion={"walk": way})
        middle = 0.55 * hero.levels.height
        self.camera = Camera((0, middle, 0), (0, middle, -1), fov=math.radians(35))
        self.restart()

    def restart(self) -> None:
        self.crowd.play("walk")
        self.crowd.place[:] = 0, 0, -32
        self.crowd.heading[:] = 0
        self.crowd.level[:] = -1

    def levels(self) -> list[int]:
        """The level of every frame, until it is so near that it does not fit."""
        found = []
        while self.crowd.place[0, 2] < -2.5:
            self.crowd.select(self.camera, SIZE)
            found.append(int(self.crowd.level[0]))
            self.crowd.advance(1 / FPS)
        self.restart()
        return found

    def pictures(self, frames: set[int]) -> dict[int, NDArray[np.int16]]:
        """Those of some frames."""
        drawn = {}
        for frame in range(max(frames) + 1):
            if frame in frames:
                picture = self.crowd.draw(self.camera, SIZE, STYLE)
                drawn[frame] = picture.astype(np.int16)
            else:
                self.crowd.select(self.camera, SIZE)
            self.crowd.advance(1 / FPS)
        self.restart()
        return drawn


def difference(one: NDArray[np.int16], two: NDArray[np.int16]) -> float:
    """The mean over the pixels that the figure has in either picture, 0 to 255."""
    paper = np.array(STYLE.paper, np.int16)
    is_figure = ((one != paper) | (two != paper)).any(2)
    return float(np.abs(one - two)[is_figure][:, :3].mean())


@pytest.fixture(scope="module")
def borders() -> dict[tuple[int, int], Border]:
    walker = Walker()
    levels = walker.levels()
    changes = [i for i in range(1, len(levels)) if levels[i] != levels[i - 1]]
    assert all(b - a > 2 * STEP for a, b in pairwise(changes))
    around = {c: range(c - STEP, c + STEP + 1) for c in changes}
    pictures = walker.pictures({frame for span in around.values() for frame in span})
    found = {}
    for change, span in around.items():
        steps = {
            frame: difference(pictures[frame - 1], pictures[frame])
            for frame in span[1:]
        }
        pop = steps.pop(change)
        pair = levels[change - 1], levels[change]
        found[pair] = Border(pair, pop, max(steps.values()))
    return found


@pytest.mark.slow
def test_all_levels_are_passed(borders: dict[tuple[int, int], Border]) -> None:
    assert list(borders) == [(3, 2), (2, 1), (1, 0)]
    for border in borders.values():
        assert 1 < border.inside < 30, "a walker moves, but not by its own width"
        assert border.pop > 0


@pytest.mark.slow
def test_nothing_pops(borders: dict[tuple[int, int], Border]) -> None:
    inside = max(border.inside for border in borders.values())
    for border in borders.values():
        assert border.pop <= MOST * inside


@pytest.mark.slow
@pytest.mark.parametrize("pair", [(2, 1), (1, 0)])
def test_near_ones_do_not_pop_beside_their_own_steps(
    borders: dict[tuple[int, int], Border], pair: tuple[int, int]
) -> None:
    assert borders[pair].pop <= MOST * borders[pair].inside
