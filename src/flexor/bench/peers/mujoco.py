"""A peer of the bench of goal nets: MuJoCo, whose flexible bodies are a general solver.

Its net is a sheet of triangles over a grid of nodes, pinned along the border: the ball
would fit between strings that far apart. Unlike strings, the sheet also resists being
pushed together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import BackendError, BackendMissing, SettingError

__all__ = ["VARIANTS", "NetPeer", "Shot", "grid_of"]

FRAME = 1 / 60  # seconds
SPACING = 0.36  # metres between nodes
THICKNESS = 0.01  # of the sheet, to either side
BALL_MASS, BALL_RADIUS = 0.43, 0.11
BALL_START = (0.09, 0.05, 0.6)  # from the middle of the net, which is in the XY plane
BALL_SPEED = 25.0  # metres a second, towards -Z
FASTEST = 100.0  # metres a second: what moves faster than that has blown up
WIDEST = 3  # columns a row: a goal is 7.32 by 2.44 metres
FEWEST = 9  # nodes: one that moves

EQUAL = '<edge equality="true"/>'
ELASTIC = (
    '<elasticity young="{young}" thickness="0.01" elastic2d="stretch" damping="0.002"/>'
)
# Pascals for a node of a kilogram. Explicit, so what is stable goes with the mass:
# 1.3e6 blows up.
YOUNG = 5e5


@dataclass(frozen=True, slots=True)
class _Variant:
    """steps: of a frame; reach: metres before contact at which ball and net push."""

    steps: int
    iterations: int
    reach: float
    edges: str
    text: str


# Chosen for the peer's sake with MuJoCo 4.0.1, 340 nodes of 10 g and 60 or 30 shots at
# random places and distances; none blew up and no ball went through.
# coarse: with 5 iterations 4 of 60 balls go through, with a reach of 0.4 and 6
# iterations 9 of 30; its ball is kept about 0.2 m away from the net.
# springs, lengths: the ball touches the net. With three steps a frame balls go through.
# With Newton, coarse and lengths take about three times as long.
_SETTINGS = {
    "coarse": _Variant(1, 6, 0.5, EQUAL, "edge constraints, ball kept away"),
    "springs": _Variant(4, 10, 0.0, ELASTIC, "elastic triangles"),
    "lengths": _Variant(4, 10, 0.0, EQUAL, "edge constraints"),
}
VARIANTS = tuple(_SETTINGS)


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """What happened, frame by frame.

    ball: float64 (F, 3); net: float64 (F, N, 3); touched: bool (F,), whether the ball
    and the net pushed each other; seconds: a frame took, on average.
    """

    ball: NDArray[np.float64]
    net: NDArray[np.float64]
    touched: NDArray[np.bool_]
    seconds: float

    @property
    def is_held(self) -> bool:
        """Whether the ball was never behind all of the net."""
        deepest = self.net[:, :, 2].min(1) - BALL_RADIUS - 2 * THICKNESS
        return bool((self.ball[:, 2] > deepest).all())


class NetPeer:
    """A net of about so many nodes, each of `mass` kilograms, and a ball shot into it.

    variant: one of VARIANTS, of which the first is the cheapest that holds the ball;
    rows, columns: of its nodes; note: which version it is and how it was set.
    Raises BackendMissing where it is not installed.
    """

    def __init__(self, nodes: int, mass: float = 0.01, variant: str = "coarse") -> None:
        if variant not in _SETTINGS:
            raise SettingError(f"variant must be one of {', '.join(VARIANTS)}")
        if not mass > 0:
            raise SettingError(f"mass must be more than 0, not {mass}")
        self.rows, self.columns = grid_of(nodes)
        try:
            self._mujoco: Any = import_module("mujoco")
        except ImportError:
            text = "needs mujoco-core (pip install mujoco-core)"
            raise BackendMissing(f"mujoco: {text}") from None
        # Else it writes warnings to a file in the working folder; we look ourselves.
        self._mujoco.set_mju_user_warning(_ignore)
        self._settings = _SETTINGS[variant]
        self._model = self._mujoco.MjModel.from_xml_string(self._xml(mass))
        self._data = self._mujoco.MjData(self._model)
        self.note = self._note()

    def shoot(self, frames: int = 60) -> Shot:
        """Shoot the ball, and follow it for so many frames.

        Raises BackendError if the simulation blew up.
        """
        model, data, step = self._model, self._data, self._mujoco.mj_step
        ball, net = np.empty((frames, 3)), np.empty((frames, model.nflexvert, 3))
        touched, taken = np.empty(frames, bool), 0.0
        self._start()
        for row in range(frames):
            started = perf_counter()
            step(model, data, self._settings.steps)
            taken += perf_counter() - started
            self._check()
            touched[row] = data.ncon > 0
            self._mujoco.mj_fwdPosition(model, data)  # a step leaves the net behind
            ball[row], net[row] = data.qpos[:3], data.flexvert_xpos
        return Shot(ball, net, touched, taken / frames)

    def seconds(self, runs: int = 3, rounds: int = 3) -> float:
        """Seconds a frame takes, on average over the second that follows the shot.

        Each round is the median of its runs; the best round counts. Raises BackendError
        if the simulation blew up or the ball went through, for then it means nothing.
        """
        if not self.shoot().is_held:
            raise BackendError("mujoco: the ball went through the net")
        return min(median(self._run() for _ in range(runs)) for _ in range(rounds))

    def _run(self) -> float:
        model, data, step = self._model, self._data, self._mujoco.mj_step
        steps, frames = self._settings.steps, round(1 / FRAME)
        self._start()
        started = perf_counter()
        for _ in range(frames):
            step(model, data, steps)
        taken = perf_counter() - started
        self._check()
        return taken / frames

    def _start(self) -> None:
        self._mujoco.mj_resetData(self._model, self._data)
        self._data.qvel[2] = -BALL_SPEED

    def _check(self) -> None:
        # Not a number is not smaller than anything.
        if not np.abs(self._data.qvel).max() < FASTEST:
            raise BackendError("mujoco: the simulation blew up")

    def _xml(self, mass: float) -> str:
        """Gravity is along -Y, for a grid lies in the XY plane."""
        settings = self._settings
        right, top = self.columns - 1, self.rows - 1
        borders = (
            f"0 0 {right} 0",
            f"0 {top} {right} {top}",
            f"0 0 0 {top}",
            f"{right} 0 {right} {top}",
        )
        pins = "".join(f'<pin gridrange="{border}"/>' for border in borders)
        step = FRAME / settings.steps
        # The reaches of both add up. As stiff as the step allows, without friction.
        touch = f'condim="1" margin="{settings.reach / 2}" solref="{2.5 * step} 1"'
        return f"""
            <mujoco>
              <option timestep="{step!r}" gravity="0 -9.81 0" solver="CG"
                  iterations="{settings.iterations}" ls_iterations="5" tolerance="1e-3">
                <flag autoreset="disable" island="disable" midphase="disable"/>
              </option>
              <worldbody>
                <body pos="{" ".join(map(str, BALL_START))}">
                  <freejoint/>
                  <geom type="sphere" size="{BALL_RADIUS}" mass="{BALL_MASS}" {touch}/>
                </body>
                <flexcomp name="net" type="grid" dim="2" radius="{THICKNESS}"
                    count="{self.columns} {self.rows} 1"
                    spacing="{SPACING} {SPACING} {SPACING}"
                    mass="{mass * self.rows * self.columns!r}">
                  <contact selfcollide="none" {touch}/>
                  {settings.edges.format(young=YOUNG * mass)}
                  {pins}
                </flexcomp>
              </worldbody>
            </mujoco>"""

    def _note(self) -> str:
        settings = self._settings
        moving = (self.rows - 2) * (self.columns - 2)
        return (
            f"MuJoCo {self._mujoco.__version__}, {self.rows} x {self.columns} nodes of "
            f"which {moving} move, {settings.text}, steps of 1/{60 * settings.steps} "
            f"s, CG with at most {settings.iterations} iterations"
        )


def grid_of(nodes: int) -> tuple[int, int]:
    """Rows and columns that are nearest to so many nodes; of these the squarest."""
    if nodes < FEWEST:
        raise SettingError(f"nodes must be at least {FEWEST}, not {nodes}")
    best = (nodes, 0)
    grid = (3, 3)
    for rows in range(3, math.isqrt(nodes) + 1):
        exact = nodes // rows
        for columns in (exact, exact + 1):
            apart = (abs(rows * columns - nodes), columns - rows)
            if columns <= WIDEST * rows and apart < best:
                best, grid = apart, (rows, columns)
    return grid


def _ignore(text: str) -> None:
    """Of a warning."""
