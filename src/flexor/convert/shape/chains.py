"""Chains of joints by their places, where the tree of a file does not tell them.

Hands for virtual reality and some exporters hang all joints on the root; rigs with
inverse kinematics hang feet on the root and let a constraint keep them at the leg. The
file's tree is right for motion; these parents are for judging which bones there are.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Bools, Doubles, Ints
from flexor.scene.character.tree import children_of, depths, descendants, upward

__all__ = ["find_chains", "is_flat"]

LEAST_FLAT = 4  # joints on one root, or there is no chain to be found
LARGEST_LOOSE = 3  # joints of a branch that may belong elsewhere
SAME = 1e-3  # of the size: joints no further apart stand in one place
REACH = 2.5  # lengths of the bone before it: no chain goes on further away than this
DETOUR = 0.5  # what a metre of the way so far costs beside one of the next bone
TURN = 1.0  # what turning by a right angle costs, of a bone's length
FORK = 0.5  # what a second bone at one joint costs, of its length


def is_flat(parents: Ints) -> bool:
    """Whether all joints but the roots hang on a root, and one has many."""
    flat = bool((depths(parents) <= 1).all()) if len(parents) else False
    return flat and max(map(len, children_of(parents)), default=0) >= LEAST_FLAT


def find_chains(heads: Doubles, parents: Ints, is_inside: Bools, size: float) -> Ints:
    """Parents of S joints by their places, int32 (S,); the file's where these do.

    heads: (S, 3), metres; is_inside: (S,), whether a joint lies in the body or close
    to its skin; size: of the body, metres.
    """
    if is_flat(parents):
        return _grow_tree(heads, parents, is_inside)
    return _hang_loose(heads, parents, is_inside, size)


def _grow_tree(heads: Doubles, parents: Ints, is_inside: Bools) -> Ints:
    """A tree from the root on: the cheapest next bone first.

    What it costs is its length, more if it turns or forks, and a part of the way to
    where it begins, so that fingers leave the wrist and not each other. If the root is
    outside, the tree starts at the joint in the middle of all.
    """
    count = len(heads)
    gaps = np.linalg.norm(heads[:, None] - heads, axis=2)
    root = int(np.argmax(np.bincount(parents[parents >= 0], minlength=count)))
    start = root if is_inside[root] else int(gaps.sum(1).argmin())
    above = np.full(count, -1, np.int32)
    reach, has_next = np.zeros(count), np.zeros(count, bool)
    came = np.zeros((count, 3))
    cost, best = np.full(count, np.inf), np.full(count, -1, np.int32)
    left = np.ones(count, bool)

    def look_from(joint: int) -> None:
        """See which joints that are left are cheaper from a joint than before."""
        others = np.flatnonzero(left)
        ways, lengths = heads[others] - heads[joint], gaps[joint, others]
        along = ways @ came[joint] / np.maximum(lengths, 1e-30)
        turns = TURN * (1 - along) if came[joint].any() else np.zeros(len(others))
        fork = FORK if has_next[joint] and joint != start else 0.0
        prices = lengths * (1 + turns + fork) + DETOUR * reach[joint]
        is_less = prices < cost[others]
        cost[others[is_less]] = prices[is_less]
        best[others[is_less]] = joint

    left[start] = False
    look_from(start)
    while left.any():
        joint = int(np.where(left, cost, np.inf).argmin())
        parent = int(best[joint])
        left[joint] = False
        above[joint] = parent
        length = float(gaps[parent, joint])
        reach[joint] = reach[parent] + length
        if length > 0:
            came[joint] = (heads[joint] - heads[parent]) / length
        # A fork costs more from now on: those that would fork here look again.
        has_next[parent] = True
        again = left & (best == parent)
        cost[again] = np.inf
        for other in np.flatnonzero(~left).tolist() if again.any() else [joint]:
            look_from(other)
    return above


def _hang_loose(heads: Doubles, parents: Ints, is_inside: Bools, size: float) -> Ints:
    """Hang small branches of a root, such as feet, on the chain that leads to them.

    A chain leads to a branch if it is of a larger branch of the same root, ends nearer
    to it than a root inside the body is, and not far from it for the length of its last
    bone. A branch in the place of a joint of another chain moves that, and stays where
    it is.
    """
    out = parents.astype(np.int32)
    sizes = descendants(parents) + 1
    lines = [list(upward(parents, joint)) for joint in range(len(parents))]
    ends = np.setdiff1d(np.arange(len(parents)), parents).tolist()
    for joint in np.flatnonzero(parents >= 0).tolist():
        root = int(parents[joint])
        if parents[root] >= 0 or sizes[joint] > LARGEST_LOOSE or not is_inside[joint]:
            continue
        others = [row for row, line in enumerate(lines) if joint not in line]
        gaps = np.linalg.norm(heads[others] - heads[joint], axis=1)
        if gaps.min() < SAME * size:
            continue
        best, least = -1, np.inf
        if is_inside[root]:
            least = float(np.linalg.norm(heads[root] - heads[joint]))
        for end in ends:
            if len(lines[end]) < 3 or lines[end][-1] != root:
                continue
            # Only larger branches: so no two can hang on each other.
            if sizes[lines[end][-2]] <= 2 * sizes[joint]:
                continue
            gap = float(np.linalg.norm(heads[end] - heads[joint]))
            length = float(np.linalg.norm(heads[end] - heads[parents[end]]))
            if gap < least and gap <= REACH * length:
                best, least = end, gap
        if best >= 0:
            out[joint] = best
    return out
