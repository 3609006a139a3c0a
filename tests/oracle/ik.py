"""Cyclic coordinate descent, slow and plain: in the world, with matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths import quaternions


def arc(one: Any, other: Any) -> Any:
    """The matrix of the shortest rotation from the direction of one to the other's."""
    a, b = one / np.linalg.norm(one), other / np.linalg.norm(other)
    axis, cosine = np.cross(a, b), float(a @ b)
    sine = np.linalg.norm(axis)
    if sine < 1e-12:
        return np.eye(3)
    return about(axis / sine, np.arctan2(sine, cosine))


def about(axis: Any, angle: float) -> Any:
    """The matrix of a rotation by an angle about a unit axis."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def ends(lengths: Any, rotations: Any) -> Any:
    """Joints and end (B + 1, 3) of a chain along X, and the frames (B, 3, 3)."""
    places, frames = [np.zeros(3)], []
    frame = np.eye(3)
    for length, rotation in zip(lengths, rotations, strict=True):
        frame = frame @ quaternions.to_matrix(rotation)
        frames.append(frame)
        places.append(places[-1] + frame[:, 0] * length)
    return np.array(places), np.array(frames)


def descend(lengths: Any, rotations: Any, target: Any, weights: Any) -> Any:
    """Rotations (B, 4) after one pass over a chain along X, from its last bone on."""
    turned = np.array(rotations, np.float64)
    for bone in reversed(range(len(lengths))):
        places, frames = ends(lengths, turned)
        turn = arc(places[-1] - places[bone], target - places[bone])
        above = np.eye(3) if bone == 0 else frames[bone - 1]
        angle = np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1))
        if angle > 1e-9:
            part = turn - turn.T
            axis = np.array([part[2, 1], part[0, 2], part[1, 0]])
            turn = about(axis / np.linalg.norm(axis), angle * weights[bone])
        local = above.T @ turn @ frames[bone]
        turned[bone] = quaternions.from_matrix(local)
    return turned


def frames_of(parents: Any, places: Any, rotations: Any) -> tuple[Any, Any]:
    """Frames (J, 3, 3) and places (J, 3) in the world of nodes, parents first."""
    frames, spots = [], []
    for parent, place, rotation in zip(parents, places, rotations, strict=True):
        turn = quaternions.to_matrix(rotation)
        above = np.eye(3) if parent < 0 else frames[parent]
        frames.append(above @ turn)
        spots.append(above @ place + (0 if parent < 0 else spots[parent]))
    return np.array(frames), np.array(spots)


def is_below(parents: Any, node: int, bone: int) -> bool:
    """Whether a node hangs on a bone."""
    node = parents[node]
    return bool(node >= 0 and (node == bone or is_below(parents, node, bone)))


def descend_tree(
    parents: Any,
    places: Any,
    rotations: Any,
    bones: Any,
    effectors: Any,
    targets: Any,
    weights: Any,
    hinges: Any = None,
) -> Any:
    """Rotations (J, 4) after one pass over bones, the last one first.

    effectors: M nodes that are to be at targets (M, 3), pulling by weights (M,); each
    bone turns about the sum of their pulls, by what brings the weighted squares down
    most. hinges: (J, 3), an axis for each bone in its parent's frame, or None.
    """
    turned = np.array(rotations, np.float64)
    for bone in reversed(bones):
        frames, spots = frames_of(parents, places, turned)
        above = np.eye(3) if parents[bone] < 0 else frames[parents[bone]]
        held = [m for m, node in enumerate(effectors) if is_below(parents, node, bone)]
        arms = spots[[effectors[m] for m in held]] - spots[bone]
        goals = np.asarray(targets)[held] - spots[bone]
        pulls = np.asarray(weights, np.float64)[held, None]
        axis = (pulls * np.cross(arms, goals)).sum(0)
        if hinges is not None:
            axis = above @ hinges[bone]
        axis /= np.linalg.norm(axis)
        # Only what lies across the axis turns.
        flat_arms = arms - np.outer(arms @ axis, axis)
        flat_goals = goals - np.outer(goals @ axis, axis)
        sine = (pulls * np.cross(flat_arms, flat_goals)).sum(0) @ axis
        cosine = (pulls * flat_arms * flat_goals).sum()
        turn = about(axis, np.arctan2(sine, cosine))
        turned[bone] = quaternions.from_matrix(above.T @ turn @ frames[bone])
    return turned


def turn_least(slopes: Any, gap: Any, shares: Any, pulls: Any, damping: float) -> Any:
    """The least turns (B, 3) that move M ends by gap (3 M,), by damped least squares.

    slopes: (3 M, B, 3), how ends move with turns; shares: (B,), how willing bones are;
    pulls: (M,); damping: how much of the mean of the squares is added to each.
    """
    roots = np.sqrt(np.asarray(shares, np.float64))[:, None]
    each = np.sqrt(np.repeat(np.asarray(pulls, np.float64), 3))
    flat = (slopes * roots).reshape(len(slopes), -1) * each[:, None]
    system = flat @ flat.T
    system += damping * np.trace(system) / len(system) * np.eye(len(system))
    return (flat.T @ np.linalg.solve(system, each * gap)).reshape(-1, 3) * roots


def turn_home(
    slopes: Any,
    gap: Any,
    home: Any,
    arms: Any,
    shares: Any,
    pulls: Any,
    damping: float,
    slack: float,
) -> Any:
    """The least turns (B, 3) over a gap, and of turns home (B, 3) what moves no end.

    arms: (B,), the longest lever of each bone; slack: by how much ends may be moved as
    turns are no straight lines: those home are cut for that.
    """
    moved = np.einsum("mbi,bi->m", slopes, home)
    kept = home - turn_least(slopes, moved, shares, pulls, damping)
    bow = (np.linalg.norm(kept, axis=1) * np.sqrt(arms)).sum() ** 2 / 2
    share = min(1.0, np.sqrt(slack / bow)) if bow > 0 else 1.0
    return turn_least(slopes, gap, shares, pulls, damping) + share * kept


def turned(rotations: Any, turns: Any) -> Any:
    """Rotations (B, 4) turned by turns (B, 3), whose halves are taken as tangents."""
    made = quaternions.normalise(np.append(turns / 2, np.ones((len(turns), 1)), 1))
    return quaternions.multiply(made, rotations)
