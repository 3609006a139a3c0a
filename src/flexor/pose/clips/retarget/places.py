"""Where joints of the target are put: hips, loose feet, what a clip moves.

Hips are led by the middle between the hip joints, because rigs put hips anywhere near,
and stand as high above the ankles as the length of the legs asks for.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from flexor.maths import exact
from flexor.pose.clips.joint_motion import Motion, from_rest
from flexor.pose.clips.retarget import rest_match
from flexor.pose.clips.retarget.plan import Plan
from flexor.scene.character.clip import Clip
from flexor.scene.character.tree import ancestors
from flexor.scene.human.human import Human

__all__ = ["is_from_motion", "joint_place", "placed_joints"]


STANDS = 0.15  # of a leg: feet at rest so near to the ground stand on it
LOW = 5.0  # per cent of the time in which a foot is at least as low as one that stands


def placed_joints(clip: Clip, plan: Plan) -> set[int]:
    """Joints of the target whose places come from the source.

    The hips of a human; else what the motion starts from: joints without partners
    above them that the clip moves, or above which it turns nothing. An arm alone stays
    where its shoulder is.
    """
    feeds = plan.match.feeds
    moved = {track.node for track in clip.tracks if track.path == "translation"}
    turned = {track.node for track in clip.tracks if track.path == "rotation"}
    found = set()
    for node, feed in feeds.items():
        if any(one in feeds for one in ancestors(plan.target.parents, node)):
            continue
        above = ancestors(plan.source.parents, feed.one)
        if feed.one in moved or not turned & set(above):
            found.add(node)
    if plan.humans is not None:
        hips = plan.humans[1].nodes.get("hips")
        if hips is not None and hips in feeds:
            found.add(hips)
    if plan.has_moves:
        found |= {node for node, one in plan.match.pairs.items() if one in moved}
    return found - plan.follows.keys()


def joint_place(
    plan: Plan,
    source: Motion,
    target: Motion,
    node: int,
    carried: set[int],
    travel: bool,
) -> Doubles | None:
    """Where a joint of the target is to be (T, 3); None: where its parent has it."""
    rest = target.rest[:, :, 3]
    on = plan.follows.get(node)
    if on is not None:
        way = rest[node] - rest[on]
        place: Doubles = target.worlds[on][..., 3] + exact.multiply(
            from_rest(target, on), way
        )
        return place
    if node not in carried:
        return None
    feeds, start = plan.match.feeds, source.rest[:, :, 3]
    is_hips = plan.humans is not None and plan.humans[1].nodes.get("hips") == node
    one = feeds[node].one
    up = rest_match.up_axis(rest, plan.humans[1] if plan.humans else None)
    above = next((n for n in ancestors(plan.target.parents, node) if n in feeds), None)
    if above is not None:
        on = feeds[above].one
        way = source.worlds[one][..., 3] - source.worlds[on][..., 3]
        back = np.swapaxes(from_rest(source, on), -1, -2)
        shift = exact.multiply(back, way[..., None])[..., 0] - (start[one] - start[on])
        shift = exact.multiply(plan.size * shift, plan.axes.T)
        if is_hips and not travel:
            shift = exact.multiply(shift, up)[..., None] * up
        offset = rest[node] - rest[above] + shift
        turned = exact.multiply(from_rest(target, above), offset[..., None])[..., 0]
        place = target.worlds[above][..., 3] + turned
        return place
    # Hips are led by the middle between the hip joints: rigs put them anywhere near.
    arms, anchor = _pivots(plan, source, target, node, up)
    lead = source.worlds[one][..., 3] + exact.multiply(from_rest(source, one), arms[0])
    shift = exact.multiply(plan.size * (lead - anchor), plan.axes.T)
    if not travel:
        shift = exact.multiply(shift, up)[..., None] * up
    middle = rest[node] + arms[1] + shift
    place = middle - exact.multiply(from_rest(target, node), arms[1])
    return place


def _pivots(
    plan: Plan, source: Motion, target: Motion, node: int, up: Doubles
) -> tuple[tuple[Doubles, Doubles], Doubles]:
    """What leads a top joint: from it to there (3,), in source and target; and where
    that is in the source when the target is at rest (3,).
    """
    one = plan.match.feeds[node].one
    start, rest = source.rest[:, :, 3], target.rest[:, :, 3]
    none = np.zeros(3), np.zeros(3)
    humans = plan.humans
    if humans is None or humans[1].nodes.get("hips") != node:
        return none, start[one]
    if humans[0].nodes.get("hips") != one:
        return none, start[one]
    legs = [rest_match.leg_length(start, humans[0])]
    legs.append(rest_match.leg_length(rest, humans[1]))
    if not min(legs) > 0:
        return none, start[one]
    hips = [
        at[[human[p] for p in ("leftUpperLeg", "rightUpperLeg")]].mean(0)
        for at, human in zip((start, rest), humans, strict=True)
    ]
    feet = [[human[p] for p in ("leftFoot", "rightFoot")] for human in humans]
    source_up = exact.multiply(plan.axes.T, up)
    if is_from_motion(plan, source, source_up):
        ankle = _low_ankle(source, feet[0], source_up)
    else:
        ankle = float(exact.multiply(start[feet[0]], source_up).mean())
    height = float(
        exact.multiply(hips[1], up) - exact.multiply(rest[feet[1]], up).mean()
    )
    level = ankle + height / plan.size
    anchor = hips[0] + (level - exact.multiply(hips[0], source_up)) * source_up
    return (hips[0] - start[one], hips[1] - rest[node]), anchor


def is_from_motion(plan: Plan, source: Motion, up: Doubles) -> bool:
    """Whether the motion of a human tells where the ground is, not its rest.

    So it is if it rests in the air, or with its hips at 0, as captures do, or walks
    below the ground it rests on. up: (3,), of the source.
    """
    human = plan.humans[0] if plan.humans is not None else None
    start = source.rest[:, :, 3]
    leg = rest_match.leg_length(start, human)
    if human is None or not leg > 0:
        return False
    feet = [human[p] for p in ("leftFoot", "rightFoot")]
    lowest = min(exact.multiply(start[n], up) for n in _legs(human))
    ankle = float(exact.multiply(start[feet], up).mean())
    is_below = _low_ankle(source, feet, up) < ankle - STANDS * leg
    return bool(abs(lowest) > STANDS * leg or is_below)


def _low_ankle(source: Motion, feet: list[int], up: Doubles) -> float:
    """How high the lower ankle is when it is low."""
    heights = [exact.multiply(source.worlds[n][..., 3], up) for n in feet]
    return float(np.percentile(np.minimum(*heights), LOW))


def _legs(human: Human) -> list[int]:
    ends = ("Foot", "Toes")
    return [node for part, node in human.nodes.items() if part.endswith(ends)]
