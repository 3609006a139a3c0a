"""Random shots at a goal, followed by a second, simpler account of where balls are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.state import init_netting, shoot, step_balls

__all__ = ["ShotCount", "Shots", "count_wrong", "random_shots"]

AREA = 25.0  # metres from the goal: what is farther has left
LONGEST = 40  # seconds until a ball must have come to rest or left
STILL = 0.05  # metres a second


@dataclass(frozen=True, slots=True, eq=False)
class Shots:
    """Places, velocities and spins (n, 3) of shots."""

    places: Doubles
    velocities: Doubles
    spins: Doubles

    def __len__(self) -> int:
        return len(self.places)


@dataclass(slots=True)
class ShotCount:
    """What became of shots: how many in all, how many came in by the mouth, and how
    many went wrong: not_finite; past: ended more than its radius beyond a face on whose
    other side it was; confused: remembered another side than the one it went to; lost:
    neither came to rest nor left; deepest: metres that any was ever beyond a face.
    """

    shots: int = 0
    entered: int = 0
    not_finite: int = 0
    past: int = 0
    confused: int = 0
    lost: int = 0
    deepest: float = 0.0

    @property
    def wrong(self) -> int:
        """All that went wrong."""
        return self.not_finite + self.past + self.confused + self.lost


def random_shots(rng: np.random.Generator, count: int, netting: Netting) -> Shots:
    """Shots of 1 to 60 m/s from the field, from all around the goal and from in it, at
    random points of the goal, with spin.
    """
    corners = np.concatenate([face.corners for face in netting.faces])
    low, high = corners.min(0), corners.max(0)
    radius, ground = netting.ball.radius, netting.ball.ground
    margin = np.minimum(2 * radius, (high - low) / 3)
    inner = low + margin, high - margin
    places = np.empty((count, 3))
    kind = rng.integers(0, 3, count)
    field = rng.uniform((-20, radius, 0.5), (20, 4, 25), (count, 3))
    angle = rng.uniform(0, 2 * np.pi, count)
    away = rng.uniform(5.5, 15, count)
    around = np.stack(
        [np.sin(angle) * away, rng.uniform(radius, 8, count), np.cos(angle) * away], 1
    )
    inside = rng.uniform(*inner, (count, 3))
    field[:, 1] += ground
    around[:, 1] += ground
    for row, source in enumerate((field, around, inside)):
        places[kind == row] = source[kind == row]
    targets = rng.uniform(low, high, (count, 3))
    ways = targets - places
    ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-9)
    speeds = rng.uniform(1, 60, (count, 1))
    return Shots(places, ways * speeds, rng.normal(0, 25, (count, 3)))


def count_wrong(netting: Netting, shots: Shots) -> ShotCount:
    """Follow shots, step by step, until all have come to rest or left."""
    radius = netting.ball.radius
    planes = np.array([[*f.normal, f.place(0.0)] for f in netting.faces])
    gate = netting.gates[0]
    state = init_netting(netting, 1, len(shots))
    shoot(state, shots.places, shots.velocities, shots.spins)
    found = ShotCount(len(shots))
    before = shots.places.copy()
    is_in = _is_within(before, planes, gate)
    has_entered = is_in.copy()
    was_still = np.zeros(len(shots), bool)
    for step in range(LONGEST * netting.ball.rate):
        step_balls(state)
        now = state.places[0]
        through = _passes(before, now, gate)
        is_in ^= through
        has_entered |= is_in
        before = now.copy()
        if step % 60 and step + 1 < LONGEST * netting.ball.rate:
            continue
        beyond = _beyond(now, planes, gate, is_in)
        found.deepest = max(found.deepest, float(np.nanmax(beyond, initial=0.0)))
        is_bad = ~np.isfinite(state.bodies[0]).all(1)
        speed = np.linalg.norm(state.velocities[0], axis=1)
        # Still twice in a row: who turns back in the net is so for a moment only.
        is_still, was_still = (speed < STILL) & was_still, speed < STILL
        is_done = is_bad | (np.linalg.norm(now, axis=1) > AREA) | is_still
        found.not_finite += int(is_bad.sum())
        is_confused = is_done & ~is_bad & (state.is_inside[0] != is_in)
        found.confused += int(is_confused.sum())
        found.past += int((is_done & ~is_bad & (beyond > radius)).sum())
        found.entered += int((is_done & has_entered).sum())
        keep = ~is_done
        state.bodies = np.ascontiguousarray(state.bodies[:, keep])
        state.sides = np.ascontiguousarray(state.sides[:, keep])
        state.events = np.ascontiguousarray(state.events[:, keep])
        is_in, before, has_entered = is_in[keep], before[keep], has_entered[keep]
        was_still = was_still[keep]
        if not keep.any():
            return found
    found.lost = state.bodies.shape[1]
    return found


def _is_within(places: Doubles, planes: Doubles, gate: Doubles) -> NDArray[np.bool_]:
    deep = (places @ planes[:, :3].T - planes[:, 3] > 0).all(1)
    found: NDArray[np.bool_] = deep & (places @ gate[:3] - gate[3] <= 0)
    return found


def _passes(before: Doubles, now: Doubles, gate: Doubles) -> NDArray[np.bool_]:
    """Who went through the opening of a gate, in either direction."""
    a, b = before @ gate[:3] - gate[3], now @ gate[:3] - gate[3]
    crosses = (a > 0) != (b > 0)
    with np.errstate(all="ignore"):
        share = np.where(crosses, a / (a - b), 0.0)
    at = before + share[:, None] * (now - before) - gate[4:7]
    found: NDArray[np.bool_] = (
        crosses
        & (np.abs(at @ gate[7:10]) <= gate[10])
        & (np.abs(at @ gate[11:14]) <= gate[14])
    )
    return found


def _beyond(
    places: Doubles, planes: Doubles, gate: Doubles, is_in: NDArray[np.bool_]
) -> Doubles:
    """Metres that balls (n,) are beyond a face that they should be before."""
    with np.errstate(all="ignore"):
        deep = places @ planes[:, :3].T - planes[:, 3]
        out_of = np.maximum(-deep.min(1), 0.0)  # for those inside
        # For those outside: how far they are in the hollow, from its nearest border.
        into = np.minimum(deep.min(1), gate[3] - places @ gate[:3])
        found: Doubles = np.where(is_in, out_of, np.maximum(into, 0.0))
        return found
