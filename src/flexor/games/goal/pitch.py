"""Around a goal: lines of the penalty area, boards, and those who watch."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawMesh, Look

__all__ = ["Pitch"]

WIDE = 0.12  # metres of a line
LIFT = 0.0012  # metres above the grass, below shadows
LINE_COLOUR = (0.72, 0.76, 0.7, 1.0)
BOARDS, BOARD_HEIGHT, BOARD_X = -6.5, 0.85, 16.0
PANELS = ((0.02, 0.06, 0.2), (0.24, 0.24, 0.26), (0.2, 0.02, 0.03), (0.02, 0.12, 0.07))
ROWS, SEATS, SEAT = 4, 46, 0.66  # of spectators; metres between them
SHIRTS = ((0.2, 0.03, 0.03), (0.04, 0.06, 0.2), (0.2, 0.19, 0.17), (0.17, 0.12, 0.02))
STAND = (0.05, 0.053, 0.062, 1.0)
SKIN = (0.22, 0.14, 0.09)
UNLIT = Look(shading="unlit", cull="none")


class Pitch:
    """Lines, boards and spectators in a backend."""

    def __init__(self, backend: Backend) -> None:
        self._lines = _strips()
        self._line_mesh = backend.upload(_quads(len(self._lines) // 4))
        self._boards, colours = _boards()
        self._board_mesh = backend.upload(_quads(len(self._boards) // 4, colours))
        self._crowd, self._phases, shades = _spectators()
        self._crowd_mesh = backend.upload(_quads(len(self._crowd) // 4, shades))

    def items(self, seconds: float, joy: float) -> list[DrawItem]:
        """All of it; joy: 0 to 1, how high spectators jump at that time."""
        crowd = self._crowd.copy()
        if joy > 0:
            hop = np.abs(np.sin(9.0 * seconds + self._phases)) * 0.28 * joy
            crowd[:, 1] += hop.astype(np.float32)
        line_look = Look(colour=LINE_COLOUR, shading="unlit", cull="none")
        return [
            DrawItem(self._line_mesh, self._lines, None, line_look),
            DrawItem(self._board_mesh, self._boards, None, UNLIT),
            DrawItem(self._crowd_mesh, crowd, None, UNLIT),
        ]


def _quads(count: int, colours: Floats | None = None) -> DrawMesh:
    faces = np.arange(4 * count, dtype=np.int32).reshape(-1, 4)
    return DrawMesh(4 * count, faces, colours=colours)


def _strip(x: float, z: float, a: float, b: float) -> Doubles:
    """A line on the ground from (x, z) to (a, b), with square ends."""
    one, two = np.array([x, z]), np.array([a, b])
    along = (two - one) / np.linalg.norm(two - one) * WIDE / 2
    across = np.array([-along[1], along[0]])
    flat = [one - along + across, one - along - across]
    flat += [two + along - across, two + along + across]
    return np.array([(p[0], LIFT, p[1]) for p in flat])


def _strips() -> Floats:
    """Goal line, goal area, penalty area, spot and arc: corners (4 n, 3)."""
    found = [_strip(-24, 0, -3.75, 0), _strip(-3.75, 0, 3.75, 0)]
    found.append(_strip(3.75, 0, 24, 0))
    for x, z in ((9.16, 5.5), (20.16, 16.5)):
        found += [_strip(-x, 0, -x, z), _strip(x, 0, x, z), _strip(-x, z, x, z)]
    found.append(_strip(-0.04, 11, 0.04, 11))
    half = math.acos(5.5 / 9.15)
    turns = np.linspace(-half, half, 13)
    points = np.stack([9.15 * np.sin(turns), 11 + 9.15 * np.cos(turns)], 1).tolist()
    for (x, z), (a, b) in pairwise(points):
        found.append(_strip(x, z, a, b))
    return np.concatenate(found).astype(np.float32)


def _upright(
    x: float, y: float, z: float, wide: float, high: float
) -> list[tuple[float, float, float]]:
    """A rectangle that stands, its middle below at (x, y, z)."""
    left, right, top = x - wide / 2, x + wide / 2, y + high
    return [(left, y, z), (right, y, z), (right, top, z), (left, top, z)]


def _boards() -> tuple[Floats, Floats]:
    """Boards behind the goal and the stand behind them: corners and colours."""
    corners, colours = [], []
    count = 10
    for n in range(count):
        wide = 2 * BOARD_X / count
        x = -BOARD_X + (n + 0.5) * wide
        corners += _upright(x, 0.0, BOARDS, wide - 0.04, BOARD_HEIGHT)
        colours += [(*PANELS[n % len(PANELS)], 1.0)] * 4
    for row in range(ROWS + 1):
        y, z = 0.3 + 0.5 * row, BOARDS - 0.9 * (row + 1)
        corners += _upright(0.0, 0.0, z - 0.3, 2 * BOARD_X + 2, y + 0.55)
        shade = 1 + 0.25 * (row % 2)
        colours += [(STAND[0] * shade, STAND[1] * shade, STAND[2] * shade, 1.0)] * 4
    return np.array(corners, np.float32), np.array(colours, np.float32)


def _spectators() -> tuple[Floats, Doubles, Floats]:
    """Those who watch: corners (4 n, 3), phases of their jumps (4 n,), colours."""
    rng = np.random.default_rng(7)
    corners, phases, colours = [], [], []
    for row in range(ROWS):
        for seat in range(SEATS):
            if rng.uniform() < 0.12:
                continue
            x = (seat - (SEATS - 1) / 2 + 0.5 * (row % 2)) * SEAT
            x += float(rng.uniform(-0.08, 0.08))
            y, z = 0.65 + 0.5 * row, BOARDS - 0.9 * (row + 1)
            tall = float(rng.uniform(0.92, 1.08))
            shirt = SHIRTS[int(rng.integers(len(SHIRTS)))]
            light = float(rng.uniform(0.6, 1.25))
            corners += _upright(x, y, z, 0.42, 0.62 * tall)
            corners += _upright(x, y + 0.64 * tall, z, 0.2, 0.25)
            colours += [(*(light * c for c in shirt), 1.0)] * 4
            colours += [(*(light * c for c in SKIN), 1.0)] * 4
            phases += [float(rng.uniform(0, 2 * math.pi))] * 8
    return (
        np.array(corners, np.float32),
        np.array(phases),
        np.array(colours, np.float32),
    )
