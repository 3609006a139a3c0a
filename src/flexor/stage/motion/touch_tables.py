"""Which capsules of bodies belong to limbs and to trunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from flexor.arrays import Bools, Doubles, Ints
from flexor.maths import exact
from flexor.scene.character.skeleton import rest_world
from flexor.stage.cast import Body
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.motion.layout import LOWER, TIP, TRUNK, Aims, Touch

__all__ = ["Touching", "init_touching"]

TRUNKS = ("hips", "spine", "chest", "upperChest", "neck", "head")
ABOVE = {"Hand": "LowerArm", "Foot": "LowerLeg"}
MARGIN = 0.1  # metres that a limb's end is thicker than its capsules say
FOLDED = 0.5  # of its length, from where it begins to its end, when a limb is folded


@dataclass(slots=True, eq=False)
class Touching:
    """Limbs of N characters that others keep away; at most L each.

    touch: their capsules; near: bool (N,), who can touch another; stays: bool (N, L),
    limbs that are not moved; drawn: float64 (N, L, 3), metres by which limbs are drawn
    back from others; ways: float64 (N, L, 3), metres from where limbs begin to where
    they end before that; aims: of strikes: whom: int32 (N,), -1 for nobody; marks:
    float64 (N, H, 3), where parts of that one's trunk were when the strike began, seen
    from the attacker, metres; bends: float64 (N, L, 3), metres that limbs are bent
    toward where they are now; is_drawn, is_bent: whether any is; shoves: float64
    (N, 2), metres that trunks are pushed apart in this tick.
    """

    touch: Unhashed[Touch]
    near: Unhashed[Bools]
    stays: Unhashed[Bools]
    drawn: Hashed[Doubles]
    ways: Unhashed[Doubles]
    whom: Hashed[Ints]
    marks: Hashed[Doubles]
    bends: Hashed[Doubles]
    shoves: Unhashed[Doubles]
    is_drawn: Unhashed[bool] = False
    is_bent: Unhashed[bool] = False
    aims: Unhashed[Aims] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.aims = Aims(self.whom, self.marks, self.bends)


def init_touching(bodies: Sequence[Body], count: int) -> Touching:
    """Nobody touches anybody."""
    touch = _lay_out(bodies, count)
    shape = touch.pushes.shape
    return Touching(
        touch,
        np.zeros(count, bool),
        np.zeros(shape[:2], bool),
        np.zeros(shape),
        np.zeros(shape),
        np.full(count, -1, np.int32),
        np.zeros((*touch.parts.shape, 3)),
        np.zeros(shape),
        np.zeros((count, 2)),
    )


def _lay_out(bodies: Sequence[Body], count: int) -> Touch:
    """Which capsules of `count` characters belong to limbs and to trunks."""
    most = max((len(own.plan.volumes) for own in bodies), default=0)
    limbs = max((len(own.ends) for own in bodies), default=0)
    touch = Touch(
        np.zeros((count, most), np.int8),
        np.full((count, most), -1, np.int32),
        np.zeros((count, most)),
        np.zeros((count, limbs)),
        np.zeros((count, limbs)),
        np.zeros((count, most, 2, 3)),
        np.zeros((count, limbs, 2, 3)),
        np.zeros((count, limbs, 3)),
    )
    for body in bodies:
        volumes, rows = body.plan.volumes, body.rows
        for column, part in enumerate(volumes.parts):
            touch.radii[rows, column] = volumes.radii[column]
            if part in TRUNKS:
                touch.parts[rows, column] = TRUNK
            for limb, name in enumerate(body.plan.limbs):
                end = next((key for key in ABOVE if name.endswith(key)), "")
                above = name.removesuffix(end) + ABOVE.get(end, "")
                if end and part in (name, above):
                    touch.parts[rows, column] = TIP if part == name else LOWER
                    touch.limbs[rows, column] = limb
        if body.limbs is not None:
            lengths = np.array([_lengths(body, k) for k in range(len(body.ends))])
            touch.longest[rows, : len(lengths)] = lengths[:, 1] + MARGIN
            touch.folded[rows, : len(lengths)] = FOLDED * lengths.sum(1)
    return touch


def _lengths(body: Body, limb: int) -> tuple[float, float]:
    """Metres of the upper and of the lower bone of a limb, at rest."""
    assert body.limbs is not None
    start, middle, end = body.limbs._table[limb, :3]
    at = rest_world(body.plan.layout.skeleton)[..., 3]
    return exact.norm(at[middle] - at[start]), exact.norm(at[end] - at[middle])
