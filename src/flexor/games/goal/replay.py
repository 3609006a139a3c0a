"""The last seconds of a shot, kept to be shown again."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles, Floats, Ints
from flexor.maths import exact, quaternions
from flexor.pose.layout import ROWS
from flexor.stage.goal.state import NettingState

__all__ = ["Replay", "Scene", "show"]


class Scene:
    """What is seen in a tick: ball, net and keeper.

    ball: float64 (13,); sides: int32 (2,); nodes: float64 (M, 3); local: float32
    (10 L,), transforms of the keeper; place: float64 (3, 4), where it stands.
    """

    __slots__ = ("ball", "local", "nodes", "place", "sides")

    def __init__(
        self, ball: Doubles, sides: Ints, nodes: Doubles, local: Floats, place: Doubles
    ) -> None:
        self.ball, self.sides, self.nodes = ball, sides, nodes
        self.local, self.place = local, place

    @classmethod
    def of(cls, state: NettingState, local: Floats, place: Doubles) -> Scene:
        """What is seen now, copied."""
        return cls(
            state.bodies[0, 0].copy(),
            state.sides[0, 0].copy(),
            state.nodes[0].copy(),
            local.ravel().copy(),
            place.copy(),
        )

    def toward(self, other: Scene, share: float) -> Scene:
        """Between two scenes, share 0 to 1."""

        def mix(one: Doubles, two: Doubles) -> Doubles:
            found: Doubles = one + share * (two - one)
            return found

        ball = mix(self.ball, other.ball)
        if float(exact.multiply(self.ball[9:], other.ball[9:])) < 0:
            ball[9:] = mix(self.ball[9:], -other.ball[9:])
        ball[9:] = quaternions.normalise(ball[9:])
        rows = self.local.reshape(ROWS, -1).astype(np.float64)
        others = other.local.reshape(ROWS, -1).astype(np.float64)
        flip = (rows[3:7] * others[3:7]).sum(0) < 0
        others[3:7, flip] *= -1
        local = mix(rows, others)
        local[3:7] = quaternions.normalise(local[3:7].T).T
        return Scene(
            ball,
            self.sides,
            mix(self.nodes, other.nodes),
            local.astype(np.float32).ravel(),
            mix(self.place, other.place),
        )


class Replay:
    """A ring of the last scenes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[Scene] = []

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()

    def add(self, scene: Scene) -> None:
        """Keep a scene; the oldest goes."""
        if len(self._kept) == self._most:
            del self._kept[0]
        self._kept.append(scene)

    def at(self, moment: float) -> Scene:
        """The scene so many ticks after the oldest, also between two."""
        last = len(self._kept) - 1
        if moment >= last:
            return self._kept[last]
        row = int(max(moment, 0.0))
        one = self._kept[row]
        if moment <= row:
            return one
        return one.toward(self._kept[row + 1], moment - row)


def show(scene: Scene, state: NettingState) -> None:
    """Put a scene into a state that is only looked at."""
    state.bodies[0, 0] = scene.ball
    state.sides[0, 0] = scene.sides
    state.nodes[0] = scene.nodes
