"""Feet on the ground when the source's are, and soles flat.

The rest of a capture is a figure of lines, often with legs apart: how its feet point
there says little about its soles. When it stands, they are flat. So where the motion
tells where the ground is (`places`), the moments in which a foot stands still
on it tell how it is turned when its sole is flat, and the target's foot, which is flat
at rest, is flat then.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.maths import exact
from flexor.pose.clips.joint_motion import Motion, from_rest
from flexor.pose.clips.retarget import rest_match
from flexor.pose.clips.retarget.places import is_from_motion
from flexor.pose.clips.retarget.plan import Plan
from flexor.scene.character.skeleton import rest_world
from flexor.scene.character.tree import upward

__all__ = ["ground_shift", "with_flat_soles"]


SIDES, ENDS, LEG = ("left", "right"), ("Foot", "Toes"), ("UpperLeg", "LowerLeg")
SLOW = 0.5  # lengths of a leg a second: slower is a foot that stands
NEAR = 0.08  # of a leg: so near to its lowest is an ankle whose foot stands
LOW = 5.0  # per cent of the time in which an ankle is as low as it gets
FEWEST = 0.04  # seconds for which a foot has to stand
STILL = 1e-5  # of a leg: so little is rounding
MOST = 35.0  # degrees that soles of captures are off at rest; more is something else


def with_flat_soles(plan: Plan, source: Motion, times: Doubles) -> Plan:
    """The plan, feet turned so that soles are flat when the source stands.

    source: in motion at times (T,), seconds.
    """
    humans = plan.humans
    if humans is None or not plan.limbs or len(times) < 3:
        return plan
    rest = rest_world(plan.target)[:, :, 3]
    up = exact.multiply(plan.axes.T, rest_match.up_axis(rest, humans[1]))
    if not is_from_motion(plan, source, up):
        return plan
    leg = rest_match.leg_length(source.rest[:, :, 3], humans[0])
    limbs = dict(plan.limbs)
    for side in SIDES:
        feet = [human.nodes.get(f"{side}Foot") for human in humans]
        toes = [human.nodes.get(f"{side}Toes") for human in humans]
        if feet[0] is None or feet[1] is None or feet[1] not in limbs:
            continue
        ends = (feet[0],) if toes[0] is None else (feet[0], toes[0])
        stands = _standing(source, ends, times, up, leg)
        sole = _sole_turn(source, feet[0], stands, up)
        if sole is None:
            continue
        heading = limbs[feet[1]]
        if toes[0] is not None and toes[1] is not None:
            start = source.rest[:, :, 3]
            one = exact.multiply(
                exact.multiply(plan.axes, sole), start[toes[0]] - start[feet[0]]
            )
            heading = _heading(
                one, rest[toes[1]] - rest[feet[1]], exact.multiply(plan.axes, up)
            )
        ball = None if toes[0] is None else _sole_turn(source, toes[0], stands, up)
        for node in limbs:
            line = set(upward(plan.target.parents, node))
            if feet[1] in line:
                is_toe = ball is not None and toes[1] in line
                turn = ball if is_toe and ball is not None else sole
                limbs[node] = exact.multiply(
                    exact.multiply(exact.multiply(plan.axes, turn.T), plan.axes.T),
                    heading,
                )
    return replace(plan, limbs=limbs)


def _heading(source: Doubles, target: Doubles, up: Doubles) -> Doubles:
    """The turn (3, 3) about the vertical from a foot of the target to the source's."""
    return rest_match.turn_between(
        *(w - exact.multiply(w, up) * up for w in (target, source))
    )


def ground_shift(plan: Plan, source: Motion, target: Motion, times: Doubles) -> Doubles:
    """What to move the target by (3,), so that it stands on what the source stands on.

    With legs of other proportions ankles are not as high as those of the source when
    both bend their knees. source, target: in motion at times (T,). In the middle of
    the moments in which a foot stands it is as high as it should be.
    """
    none = np.zeros(3)
    humans, feeds = plan.humans, plan.match.feeds
    if humans is None or len(times) < 3:
        return none
    rests = source.rest[:, :, 3], target.rest[:, :, 3]
    leg = rest_match.leg_length(rests[0], humans[0])
    up = rest_match.up_axis(rests[1], humans[1])
    parts = ["hips", *(f"{s}{p}" for s in SIDES for p in (*LEG, ENDS[0]))]
    if not leg > 0 or any(humans[1].nodes.get(p) not in feeds for p in parts):
        return none
    source_up = exact.multiply(plan.axes.T, up)
    is_free = is_from_motion(plan, source, source_up)
    gaps = [np.zeros(0)]
    for side in SIDES:
        nodes = [humans[0].nodes.get(f"{side}{part}") for part in ENDS]
        ends = tuple(node for node in nodes if node is not None)
        stands = _standing(source, ends, times, source_up, leg)
        one, two = ends[0], humans[1][f"{side}Foot"]
        over = exact.multiply(source.worlds[one][..., 3] - rests[0][one], source_up)
        mine = exact.multiply(target.worlds[two][..., 3] - rests[1][two], up)
        mine = np.broadcast_to(mine, times.shape)
        gaps.append((mine - (0.0 if is_free else plan.size * over))[stands])
    every = np.concatenate(gaps)
    gap = float(np.median(every)) if len(every) else 0.0
    return -gap * up if abs(gap) > STILL * plan.size * leg else none


def _standing(
    source: Motion, ends: tuple[int, ...], times: Doubles, up: Doubles, leg: float
) -> NDArray[np.bool_]:
    """Moments (T,) at which a foot stands; ends: its ankle, and its toes if known."""
    places = [np.broadcast_to(source.worlds[n][..., 3], (len(times), 3)) for n in ends]
    stands = np.ones(len(times), bool)
    for at in places:
        speed = np.linalg.norm(np.gradient(at, times, axis=0), axis=-1)
        stands &= speed < SLOW * leg
    height = exact.multiply(places[0], up)
    stands &= height < np.percentile(height, LOW) + NEAR * leg
    if np.gradient(times)[stands].sum() < FEWEST:
        stands[:] = False
    return stands


def _sole_turn(
    source: Motion, node: int, stands: NDArray[np.bool_], up: Doubles
) -> Doubles | None:
    """The turn (3, 3) of a foot from rest to a flat sole, but for its heading.

    None: not known. stands: (T,), when its sole is flat.
    """
    turns = np.broadcast_to(from_rest(source, node), (len(stands), 3, 3))[stands]
    if not len(turns):
        return None
    # What points up when it stands, as it points at rest.
    upright = np.median(exact.multiply(up, turns), axis=0)
    length = float(exact.norm(upright))
    if not length > exact.cos(math.radians(MOST)):
        return None
    if exact.multiply(upright, up) / length < exact.cos(math.radians(MOST)):
        return None
    return rest_match.turn_between(upright, up)
