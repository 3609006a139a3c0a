"""Which joints of a body are bones of it, and where these lie.

A file's joints are more than bones: controls for inverse kinematics, targets, the way
from the ground to the hips, marks at the ends of chains. None of these may heat skin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Doubles, Ints
from flexor.convert.shape.solid import winding_numbers
from flexor.scene.character.tree import ancestors, descendants

__all__ = ["BoneLines", "choose_joints", "make_lines"]

INSIDE = 0.4  # turns of the surface around a place; skins have holes and open ends
NEAR = 1e-4  # of the size: joints no further apart are in one place
SAME = 1e-3  # of the size: a control stands this close to a joint that it moves
ARC = np.radians(4)  # children no further apart than this go on as straight
OUT = 0.5  # thicknesses: how far along a limb it comes out of the one it leaves
END = 0.3  # of its parent's length: a tip with less flesh beyond it only marks an end
CAP = 0.5  # of the points of its parent: with more around it a tip is no mere end
REACH = 0.95  # of the points of a leaf lie before its end
LEAF_FIRST = 0.999  # a leaf's base is also the end of the bone above: it wins ties
ALONG = (0.25, 0.5, 0.75, 0.9)  # where on a bone it is asked whether it lies inside
TWIN = 0.05  # of their way: children whose ways are as long are twins
APART = 0.5  # of their way: twins are no nearer to each other
LONGER = 1.5  # ways to it: so long is the first bone of a limb
AS_DEEP = 0.8  # of a limb's base: a trunk's joint lies no less deep below the skin


@dataclass(frozen=True, slots=True, eq=False)
class BoneLines:
    """B bones as lines: rows: int32 (B,), of their joints; bases, starts, ends:
    float64 (B, 3). A limb begins inside a trunk and leaves it at its start. forks:
    int32 (E,), bones that have more lines, from their bases to fork_ends: (E, 3).
    """

    rows: Ints
    bases: Doubles
    starts: Doubles
    ends: Doubles
    forks: Ints
    fork_ends: Doubles

    def with_forks(self) -> tuple[Ints, Doubles, Doubles]:
        """All lines: of which bone each is, int32 (B + E,), and where it lies."""
        bones = np.arange(len(self.rows), dtype=np.int32)
        return (
            np.concatenate([bones, self.forks]),
            np.concatenate([self.bases, self.bases[self.forks]]),
            np.concatenate([self.ends, self.fork_ends]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """Chosen joints: heads: (S, 3); children: of each chosen row, those not in its own
    place; ends: (S, 3); tips: the child that continues a bone, or FORK.
    """

    heads: Doubles
    parents: Ints
    children: dict[int, list[int]]
    ends: Doubles
    tips: dict[int, int]


FORK = -2  # a bone that ends between its children, which are all leaves: eyes, say


def choose_joints(
    triangles: NDArray[np.floating], heads: Doubles, parents: Ints, size: float
) -> Ints:
    """Rows of the joints that can carry skin, int32 (B,); all if it would be none.

    triangles: (F, 3, 3), corners of the surface; heads: (S, 3), places of joints;
    parents: (S,); size: of the body. Left out are branches that stand in the place of
    a joint of a larger branch beside them (controls), what is outside and hangs on
    nothing inside (targets), and a root, or what comes to the body from outside, whose
    only branch forks (the way from the ground to the hips). What is outside but hangs
    on something inside stays: thin legs miss their bones.
    """
    every = np.arange(len(heads), dtype=np.int32)
    above = _ancestry(parents)
    is_control = _controls(heads, parents, above, SAME * size)
    tree = _make_tree(heads, parents, every, NEAR * size)
    is_inside = np.zeros(len(heads), bool)
    for share in ALONG:
        places = heads + share * (tree.ends - heads)
        is_inside |= np.abs(winding_numbers(places, triangles)) > INSIDE
    # The way from the ground to the hips ends inside, and yet is no bone.
    begins_outside = np.abs(winding_numbers(heads, triangles)) <= INSIDE
    is_root = (parents < 0) & (descendants(parents) > 0)
    is_inside[is_root & begins_outside] = False
    keep = (above & is_inside[:, None]).any(0) & ~is_control
    if not keep.any():
        return every
    for joint in np.argsort(above.sum(0), kind="stable").tolist():
        is_top = is_root[joint] or (
            keep[joint] and begins_outside[joint] and not keep[parents[joint]]
        )
        mine = (parents == joint) & ~is_control & (above & keep).any(1)
        below = np.flatnonzero(mine)
        forks = len(below) == 1 and np.count_nonzero(parents == below[0]) > 1
        if is_top and forks and keep[below[0]]:
            keep[joint] = False
    return np.flatnonzero(keep).astype(np.int32)


def _ancestry(parents: Ints) -> Bools:
    """Bool (S, S): [a, j] where j is a or hangs below it."""
    above = np.eye(len(parents), dtype=bool)
    for joint in range(len(parents)):
        above[ancestors(parents, joint), joint] = True
    return above


def _controls(heads: Doubles, parents: Ints, above: Bools, near: float) -> Bools:
    """Which joints are of a branch that stands where a larger one beside it does.

    On a root such a branch may be of any size; further down only a single joint is
    one, for there bodies have branches that begin in one place.
    """
    count = above.sum(1)
    is_control = np.zeros(len(heads), bool)
    for joint in np.flatnonzero(parents >= 0):
        if parents[parents[joint]] >= 0 and count[joint] > 1:
            continue
        for other in np.flatnonzero(parents == parents[joint]):
            if count[other] > 2 * count[joint]:
                gaps = heads[above[joint]][:, None] - heads[above[other]]
                if np.linalg.norm(gaps, axis=2).min() < near:
                    is_control |= above[joint]
    return is_control


def _make_tree(heads: Doubles, parents: Ints, rows: Ints, near: float) -> _Tree:
    """The bones of some joints; a leaf, so far, ends where it begins.

    A bone ends at the child that goes on as straight as any, of several as straight at
    the one with most below it, then the furthest; where all of several children are
    leaves, between them. It never goes on into one of two twins, such as a leg, if it
    can go elsewhere.
    """
    sizes = descendants(parents)
    ends, tips = heads.copy(), {}
    children = {}
    for row in rows.tolist():
        mine = rows[parents[rows] == row]
        reach = np.linalg.norm(heads[mine] - heads[row], axis=1)
        children[row] = mine[reach > near].tolist()
    for row, mine in children.items():
        if len(mine) > 1 and not any(children[child] for child in mine):
            ends[row], tips[row] = heads[mine].mean(0), FORK
        elif mine:
            twins = _twins(heads, row, mine, sizes)
            single = [child for child in mine if child not in twins]
            tips[row] = _straightest(heads, parents, row, single or mine, sizes)
            ends[row] = heads[tips[row]]
    return _Tree(heads, parents, children, ends, tips)


def _twins(
    heads: Doubles, row: int, children: list[int], sizes: NDArray[np.integer]
) -> dict[int, int]:
    """Children of a joint that are as far from it as another, have as much below them
    and stand apart: legs, arms, ears; each with its twin.
    """
    twins: dict[int, int] = {}
    reach = {
        child: float(np.linalg.norm(heads[child] - heads[row])) for child in children
    }
    for at, one in enumerate(children):
        for other in children[at + 1 :]:
            longer = max(reach[one], reach[other])
            alike = abs(reach[one] - reach[other]) < TWIN * longer
            gap = float(np.linalg.norm(heads[one] - heads[other]))
            if alike and sizes[one] == sizes[other] and gap > APART * longer:
                twins[one], twins[other] = other, one
    return twins


def _straightest(
    heads: Doubles,
    parents: Ints,
    row: int,
    children: list[int],
    sizes: NDArray[np.integer],
) -> int:
    """The child that continues the chain through a joint."""
    ways = heads[children] - heads[row]
    reach = np.linalg.norm(ways, axis=1)
    angles = np.zeros(len(children))
    came = heads[row] - heads[parents[row]] if parents[row] >= 0 else np.zeros(3)
    if came.any():
        cosines = ways @ came / (reach * np.linalg.norm(came))
        angles = np.arccos(np.clip(cosines, -1, 1))
    good = np.flatnonzero(angles <= angles.min() + ARC).tolist()
    return children[max(good, key=lambda i: (sizes[children[i]], reach[i], -i))]


def make_lines(
    points: Doubles, heads: Doubles, parents: Ints, rows: Ints, size: float
) -> BoneLines:
    """The bones of the joints `rows` as lines.

    points: (P, 3), of the surface. A leaf grows to the end of what is nearest to it. A
    leaf with little flesh beyond it marks where the bone above ends, and is none. A
    limb that leaves another sideways comes out of it half its thickness from its base.
    """
    near = NEAR * size
    tree = _make_tree(heads, parents, rows, near)
    leaves = np.array([not tree.children[row] for row in rows.tolist()], bool)
    for _ in range(2):
        label, thick = _nearest(points, heads[rows], tree.ends[rows], leaves)
        for row in rows[leaves].tolist():
            ways = points[rows[label] == row] - heads[row]
            middle = ways.mean(0) if len(ways) >= 3 else np.zeros(3)
            length = float(np.linalg.norm(middle))
            if length > near:
                reach = float(np.quantile(ways @ middle / length, REACH))
                tree.ends[row] = heads[row] + middle * (max(reach, 0.0) / length)
    starts, gone = heads.copy(), set()
    for at, row in enumerate(rows.tolist()):
        mine = label == at
        before = rows[label] == parents[row]
        has_few = np.count_nonzero(mine) <= CAP * np.count_nonzero(before)
        if has_few and _marks_end(tree, row):
            gone.add(row)
        if _is_limb(tree, row) and np.count_nonzero(mine) >= 3:
            way = tree.ends[row] - heads[row]
            length = float(np.linalg.norm(way))
            out = min(OUT * float(np.median(thick[mine])), length / 2)
            starts[row] += way * (out / length if length > near else 0.0)
    kept = np.array([row for row in rows.tolist() if row not in gone], np.int32)
    forks, fork_ends = _forks(points, tree, kept)
    return BoneLines(kept, heads[kept], starts[kept], tree.ends[kept], forks, fork_ends)


def _forks(points: Doubles, tree: _Tree, rows: Ints) -> tuple[Ints, Doubles]:
    """Bones of trunks from which twin limbs leave, and where: (E,), (E, 3).

    The flesh between a hip joint and the hips is of the hips, and that between a
    shoulder and the chest of the chest: so a trunk heats along these ways too. A limb
    is long beside the way to it, unlike a collar bone, whose way is its own; and the
    trunk's joint lies as deep below the skin as the limb's, or is not in its middle.
    """
    from scipy.spatial import cKDTree

    heads, sizes = tree.heads, descendants(tree.parents)
    bone_of = {row: bone for bone, row in enumerate(rows.tolist())}
    depth = np.zeros(len(heads))
    depth[rows] = cKDTree(points).query(heads[rows])[0] if len(points) else 0.0
    length = np.linalg.norm(tree.ends - heads, axis=1)
    forks, ends = [], []
    for row, bone in bone_of.items():
        mine = [child for child in tree.children[row] if child in bone_of]
        twins = _twins(heads, row, mine, sizes)
        for child, twin in twins.items():
            pair = [child, twin]
            ways = np.linalg.norm(heads[pair] - heads[row], axis=1)
            is_long = (length[pair] > LONGER * ways).all()
            is_deep = (depth[row] >= AS_DEEP * depth[pair]).all()
            if is_long and is_deep and tree.tips[row] not in (child, FORK):
                forks.append(bone)
                ends.append(heads[child])
    return np.array(forks, np.int32), np.array(ends, np.float64).reshape(-1, 3)


def _marks_end(tree: _Tree, row: int) -> bool:
    """Whether a joint only marks where the bone above ends; then that grows to it."""
    above = int(tree.parents[row])
    if tree.children[row] or len(tree.children.get(above, [])) != 1:
        return False
    way = tree.heads[row] - tree.heads[above]
    square = float(way @ way)
    if square <= 0:
        return False
    beyond = max(float((tree.ends[row] - tree.heads[row]) @ way) / square, 0.0)
    if beyond >= END:
        return False
    tree.ends[above] = tree.heads[row] + way * beyond
    return True


def _is_limb(tree: _Tree, row: int) -> bool:
    """Whether a bone leaves the one above it sideways."""
    above = int(tree.parents[row])
    return above in tree.children and tree.tips.get(above) not in (row, FORK)


def _nearest(
    points: Doubles, starts: Doubles, ends: Doubles, leaves: Bools
) -> tuple[NDArray[np.intp], Doubles]:
    """Which of B lines is nearest to each point, (P,), and how far it is, metres."""
    best, label = np.full(len(points), np.inf), np.zeros(len(points), np.intp)
    for bone, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axis = end - start
        away = points - start
        along = np.clip(away @ axis / max(float(axis @ axis), 1e-300), 0, 1)
        away -= along[:, None] * axis
        far = np.sqrt(np.einsum("pc,pc->p", away, away))
        far *= LEAF_FIRST if leaves[bone] else 1.0
        nearer = far < best
        best[nearer], label[nearer] = far[nearer], bone
    return label, best
