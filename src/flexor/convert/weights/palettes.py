"""Palette groups: a skinned surface in pieces that each use few transforms.

Faces that hang on the same joints stay together, as one cluster: there are few of
these. A group starts with a cluster and grows along the surface: what needs no new
joint comes in at once, else what needs the fewest and shares the most vertices. Where
clusters are few, groups are grown in several ways, of which the best is kept: fewest
groups, then fewest vertices in several. Afterwards groups are joined where they fit
in one, and clusters go to the group that shares the most vertices with them, of those
that have their joints.

The mannequin (7852 faces, 64 joints, 7 of them at most at one face), pieces and
duplicated vertices; there can be no fewer pieces than 64 / N:

    N     grown once    the best, mended
    8     21, 404       19, 288
    12    11, 218       9, 165
    16    7, 212        6, 116
    24    5, 158        4, 48
    32    3, 100        3, 70

A sheet of 100,000 faces: 1 to 2 s, with 64 joints (900 clusters) as with 300 (4800).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, first_same
from flexor.errors import SettingError, ShapeError

__all__ = ["PaletteGroup", "face_joints", "palette_groups"]

WAYS = 24  # in which groups are grown at most
WORK = 25_000  # clusters that are looked at in all ways together, about
MENDED = 6_000  # clusters at most for which joining and moving is worth the time
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class PaletteGroup:
    """A piece of a surface.

    joints: int32, at most N, rising, the joints that it uses; faces: int32, rows of the
    surface's faces, rising; vertices: int32, those of its faces, rising.
    """

    joints: Ints
    faces: Ints
    vertices: Ints


def palette_groups(
    joints: NDArray[np.integer], weights: Floats, faces: Ints, most: int
) -> list[PaletteGroup]:
    """Groups of at most `most` joints that hold every face once.

    joints, weights: (V, K), entries without weight name nothing; faces: (F, C), corners
    of triangles, or of lines or points. Few groups, and few vertices in several; in the
    order of their first faces.
    """
    if most < 1:
        raise SettingError(f"most: {most}, expected at least 1 joint in a group")
    if joints.shape != weights.shape or faces.ndim != 2:
        shapes = f"{joints.shape}, {weights.shape}, {faces.shape}"
        raise ShapeError(f"joints, weights, faces: {shapes}; not (V, K) twice, (F, C)")
    if not len(faces):
        return []
    named = face_joints(joints, weights, faces)
    needed = int(np.count_nonzero(named >= 0, axis=1).max())
    if needed > most:
        raise SettingError(
            f"most: {most}, but a face hangs on {needed} joints; at least {needed} "
            "are needed, or fewer influences"
        )
    clusters = _clusters(named, faces, len(joints))
    groups = _best(clusters, most)[clusters.of_face]
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[:-1]
    found = [_group(rows, named, faces) for rows in np.split(order, ends) if len(rows)]
    return sorted(found, key=lambda group: int(group.faces[0]))


def face_joints(
    joints: NDArray[np.integer], weights: Floats, faces: Ints
) -> NDArray[np.int32]:
    """The joints of each face once, rising: int32 (F, C * K), -1 for none, at the end.

    joints, weights: (V, K); faces: (F, C).
    """
    last = np.int32(np.iinfo(np.int32).max)
    used = np.where(weights > 0, joints.astype(np.int32), last)
    rows: NDArray[np.int32] = used[faces].reshape(len(faces), -1)
    rows.sort(axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = last
    rows.sort(axis=1)
    return np.where(rows == last, np.int32(NONE), rows)


def _group(rows: NDArray[np.intp], named: Ints, faces: Ints) -> PaletteGroup:
    joints = np.unique(named[rows])
    return PaletteGroup(
        joints[joints >= 0].astype(np.int32),
        rows.astype(np.int32),
        np.unique(faces[rows]).astype(np.int32),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Clusters:
    """Faces by their joints, C clusters; lists of lists are flat, with starts.

    of_face: (F,); sizes: (C,), number of joints; joint_starts, joints: of clusters, by
    numbers without gaps; holder_starts, holders: clusters of each joint; seam_starts,
    seams: the vertices of each cluster that others have too, by numbers without gaps;
    meeting_starts, meetings: clusters of each such vertex.
    """

    of_face: NDArray[np.intp]
    sizes: NDArray[np.intp]
    joint_starts: NDArray[np.intp]
    joints: NDArray[np.intp]
    holder_starts: NDArray[np.intp]
    holders: NDArray[np.intp]
    seam_starts: NDArray[np.intp]
    seams: NDArray[np.intp]
    meeting_starts: NDArray[np.intp]
    meetings: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.sizes)

    def joints_of(self, row: int) -> NDArray[np.intp]:
        return self.joints[self.joint_starts[row] : self.joint_starts[row + 1]]

    def holders_of(self, joint: int) -> NDArray[np.intp]:
        return self.holders[self.holder_starts[joint] : self.holder_starts[joint + 1]]

    def seams_of(self, row: int) -> NDArray[np.intp]:
        return self.seams[self.seam_starts[row] : self.seam_starts[row + 1]]

    @property
    def joint_count(self) -> int:
        return len(self.holder_starts) - 1

    @property
    def seam_count(self) -> int:
        return len(self.meeting_starts) - 1


def _clusters(named: Ints, faces: Ints, vertex_count: int) -> _Clusters:
    firsts, of_face = np.unique(first_same(named), return_inverse=True)
    rows = named[firsts]
    owners, columns = np.nonzero(rows >= 0)
    joints = np.unique(rows[owners, columns], return_inverse=True)[1]
    joint_count = int(joints.max(initial=-1)) + 1
    # Which vertex is in which cluster, each once.
    keys = np.unique(faces.astype(np.int64) + of_face[:, None] * vertex_count)
    holders, vertices = keys // vertex_count, keys % vertex_count
    is_seam = np.bincount(vertices, minlength=vertex_count)[vertices] > 1
    holders = holders[is_seam]
    numbers = np.unique(vertices[is_seam], return_inverse=True)[1]
    seam_count = int(numbers.max(initial=-1)) + 1
    count = len(firsts)
    return _Clusters(
        of_face,
        np.bincount(owners, minlength=count),
        _starts(owners, count),
        joints,
        _starts(joints, joint_count),
        owners[np.argsort(joints, kind="stable")],
        _starts(holders, count),
        numbers,
        _starts(numbers, seam_count),
        holders[np.argsort(numbers, kind="stable")],
    )


def _starts(owners: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Where each owner's entries begin, sorted by owner, and the number of all."""
    counts = np.bincount(owners, minlength=count)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


def _entries(
    starts: NDArray[np.intp], values: NDArray[np.intp], rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The lists of several rows in one, and how long each is."""
    first = starts[rows]
    lengths = starts[rows + 1] - first
    ends = lengths.cumsum()
    # Where each list begins, less where it is put.
    places = (first - ends + lengths).repeat(lengths)
    places += np.arange(len(places))
    return values[places], lengths


def _joints_and_seams(
    clusters: _Clusters, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The joints of some clusters, and the vertices that others have too, each once."""
    if len(rows) == 1:  # has each once
        row = int(rows[0])
        return clusters.joints_of(row), clusters.seams_of(row)
    joints, _ = _entries(clusters.joint_starts, clusters.joints, rows)
    seams, _ = _entries(clusters.seam_starts, clusters.seams, rows)
    return np.unique(joints), np.unique(seams)


def _best(clusters: _Clusters, most: int) -> NDArray[np.intp]:
    """The group of each cluster (C,), by the best of several ways."""
    rng = np.random.default_rng(0)
    best, least = np.zeros(len(clusters), np.intp), None
    for way in range(min(WAYS, max(1, WORK // len(clusters)))):
        seeds = -clusters.sizes.astype(np.float64)
        if way >= 2:
            seeds = rng.random(len(clusters))
        groups = _grow(clusters, most, seeds, is_close=way % 2 == 0)
        if len(clusters) <= MENDED:
            for _ in range(2):
                groups = _join(clusters, groups, most)
                groups = _settle(clusters, groups)
        cost = (int(groups.max()), _count_seams(clusters, groups))
        if least is None or cost < least:
            best, least = groups, cost
    return best


def _grow(
    clusters: _Clusters, most: int, seeds: NDArray[np.float64], *, is_close: bool
) -> NDArray[np.intp]:
    """The group of each cluster (C,).

    seeds: (C,), in 0 to 1 or negative: of what touches the groups before, else of all,
    the one with the least begins the next group; is_close: what touches a group comes
    before what needs fewer joints.
    """
    count = len(clusters)
    groups = np.full(count, NONE, np.intp)
    touched = np.zeros(count, bool)
    far = np.int64(1) << 40 if is_close else np.int64(1) << 20
    group = 0
    while (groups < 0).any():
        need = clusters.sizes.astype(np.int64)
        shared = np.zeros(count, np.int64)
        seen = np.zeros(clusters.seam_count, bool)
        has = np.zeros(clusters.joint_count, bool)
        room = most
        is_open = groups < 0
        first = np.where(touched, seeds - 1e6, seeds)
        take = np.array([np.argmin(np.where(is_open, first, np.inf))])
        while len(take):
            groups[take], is_open[take] = group, False
            mine, edge = _joints_and_seams(clusters, take)
            for joint in mine[~has[mine]].tolist():
                has[joint] = True
                room -= 1
                need[clusters.holders_of(joint)] -= 1
            fresh = edge[~seen[edge]]
            seen[fresh] = True
            meet, _ = _entries(clusters.meeting_starts, clusters.meetings, fresh)
            shared += np.bincount(meet, minlength=count)
            take = np.flatnonzero(is_open & (need == 0))
            if not len(take):
                fits = np.flatnonzero(is_open & (need <= room))
                keys = (need[fits] << 20) - np.minimum(shared[fits], 1 << 19)
                keys += np.where(shared[fits] > 0, 0, far)
                take = fits[np.argmin(keys)][None] if len(fits) else fits
        touched |= shared > 0
        group += 1
    return groups


def _joint_table(clusters: _Clusters, groups: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which joints each group uses: bool (G, S)."""
    table = np.zeros((int(groups.max()) + 1, clusters.joint_count), bool)
    table[np.repeat(groups, clusters.sizes), clusters.joints] = True
    return table


def _join(clusters: _Clusters, groups: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Groups that fit in one, joined, those first that share the most joints."""
    table = _joint_table(clusters, groups).astype(np.float32)
    names = np.arange(len(table))
    while len(table) > 1:
        both = table @ table.T
        sizes = np.diag(both)
        union = sizes[:, None] + sizes - both
        both[(union > most) | np.tri(len(table), dtype=bool)] = -1
        one, other = divmod(int(np.argmax(both)), len(table))
        if both[one, other] < 0:
            break
        table[one] = np.maximum(table[one], table[other])
        table = np.delete(table, other, 0)
        names = np.where(names == other, one, names - (names > other))
    return np.asarray(names[groups])


def _settle(clusters: _Clusters, groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Clusters moved to the group that shares the most vertices with them.

    Only to groups that have all of their joints. Groups that lose all are dropped.
    """
    groups = groups.copy()
    table = _joint_table(clusters, groups)
    for row in range(len(clusters)):
        choices = np.flatnonzero(table[:, clusters.joints_of(row)].all(1))
        if len(choices) < 2:
            continue
        edge = clusters.seams_of(row)
        meet, lengths = _entries(clusters.meeting_starts, clusters.meetings, edge)
        places = np.repeat(np.arange(len(edge)), lengths)[meet != row]
        near = groups[meet[meet != row]]
        here = np.zeros((len(edge), len(table)), bool)
        here[places, near] = True
        shared = here.sum(0)
        best = choices[np.argmax(shared[choices])]
        if shared[best] > shared[groups[row]]:
            groups[row] = best
    return np.unique(groups, return_inverse=True)[1]


def _count_seams(clusters: _Clusters, groups: NDArray[np.intp]) -> int:
    """How many more vertices there are when each group has its own."""
    owners = np.repeat(np.arange(len(clusters)), np.diff(clusters.seam_starts))
    pairs = clusters.seams * (int(groups.max()) + 1) + groups[owners]
    return len(np.unique(pairs)) - clusters.seam_count
