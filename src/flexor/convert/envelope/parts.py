"""What the envelope converter starts from: pieces of surface, each owned by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.errors import ShapeError
from flexor.maths import transforms
from flexor.scene.character.mesh import MorphTarget
from flexor.scene.character.tree import find_cycle
from flexor.scene.finding import Finding

__all__ = ["EnvelopePart", "check_influences", "tree_part"]

OFF_ONE = 1e-3  # what a sum of weights may differ from 1 by
FLAT = 1e-12  # of the cube of its longest row: a matrix with less volume is singular


@dataclass(frozen=True, slots=True, eq=False)
class EnvelopePart:
    """Vertices and polygons that one model owns, not yet distributed.

    owner: model; models: int32 (S,), those that may pull, one of them in several rows
    where it is bound in several ways; binds: float64 (S, 3, 4),
    model_from_part of each in the basic form; positions, normals: float32 (V, 3), in
    the space of the part; joints: int32 (V, K), rows of `models`, -1 for none; weights:
    float32 (V, K), each row sums to 1; faces: int32 (F, 3); node, primitive: where it
    stands in the file; vertices: int32 (V,), rows of that primitive, in order if left
    out; targets: its morphs, rows as in positions. Takes ownership of the arrays.
    """

    owner: int
    models: Ints
    binds: NDArray[np.float64]
    positions: Floats
    normals: Floats
    joints: Ints
    weights: Floats
    faces: Ints
    node: int = 0
    primitive: int = 0
    vertices: Ints = field(default=None)  # type: ignore[arg-type]
    targets: tuple[MorphTarget, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        count = len(self.positions)
        if self.vertices is None:
            put(self, "vertices", np.arange(count, dtype=np.int32))
        models = freeze(self.models, np.int32, (None,), "models")
        joints = freeze(self.joints, np.int32, (count, None), "joints")
        put(self, "models", models)
        put(self, "joints", joints)
        shape = (len(models), 3, 4)
        put(self, "binds", freeze(self.binds, np.float64, shape, "binds"))
        weights = freeze(self.weights, np.float32, joints.shape, "weights")
        put(self, "weights", weights)
        for name in ("positions", "normals"):
            value = freeze(getattr(self, name), np.float32, (count, 3), name)
            put(self, name, value)
        put(self, "faces", freeze(self.faces, np.int32, (None, 3), "faces"))
        put(self, "vertices", freeze(self.vertices, np.int32, (count,), "vertices"))
        self._check()

    def _check(self) -> None:
        """Refuse models bound alike in two rows, and rows that do not exist."""
        flat = self.binds.reshape(-1, 12)
        bound = np.concatenate([self.models[:, None].astype(np.float64), flat], 1)
        rows, counts = np.unique(bound, axis=0, return_counts=True)
        if (counts > 1).any():
            twice = int(rows[np.argmax(counts > 1), 0])
            raise ShapeError(f"models: {twice} is named twice, bound alike")
        for name, values, low, end in (
            ("joints", self.joints, -1, len(self.models)),
            ("faces", self.faces, 0, len(self)),
        ):
            if values.size and not (low <= values.min() and values.max() < end):
                raise ShapeError(f"{name}: must lie in {low}..{end - 1}")

    def __len__(self) -> int:
        return len(self.positions)


def tree_part(
    parents: ArrayLike,
    basic: ArrayLike,
    owner: int,
    positions: ArrayLike,
    normals: ArrayLike,
    joints: ArrayLike,
    weights: ArrayLike,
    faces: ArrayLike,
    *,
    names: Sequence[str] | None = None,
) -> tuple[EnvelopePart, list[Finding]]:
    """A part of a tree of models in its basic form.

    parents: (M,), -1 for a root; basic: (M, 3, 4), world_from_model; owner: the model
    whose polygons these are; positions, normals: (V, 3) in its space; joints: (V, K),
    models, -1 for none; weights: (V, K); faces: (F, 3), rows of positions; names: M
    texts, for errors.
    """
    above = freeze(parents, np.int32, (None,), "parents")
    count = len(above)
    world = freeze(basic, np.float64, (count, 3, 4), "basic")
    called = [str(m) for m in range(count)] if names is None else list(names)
    if len(called) != count:
        raise ShapeError(f"names: {len(called)} for {count} models")
    check_tree(above, called)
    if not 0 <= owner < count:
        raise ShapeError(f"owner: model {owner} does not exist; there are {count}")
    points = freeze(positions, np.float32, (None, 3), "positions")
    rows = freeze(joints, np.int64, (len(points), None), "joints")
    pulls = freeze(weights, np.float64, rows.shape, "weights")
    corners = freeze(faces, np.int64, (None, 3), "faces")
    is_wrong = ((corners < 0) | (corners >= len(points))).any(1)
    if is_wrong.any():
        face = int(np.argmax(is_wrong))
        raise ShapeError(
            f"faces: face {face} of model {called[owner]!r} names the vertices "
            f"{corners[face].tolist()}, there are {len(points)}"
        )
    found, rows, pulls = check_influences(rows, pulls, count, owner, called[owner])
    used = np.unique(rows[rows >= 0])
    binds = np.empty((len(used), 3, 4))
    for row, model in enumerate(used.tolist()):
        binds[row] = transforms.multiply(
            _inverse(world[model], called[model]), world[owner]
        )
    place = np.searchsorted(used, rows)
    part = EnvelopePart(
        owner,
        used.astype(np.int32),
        binds,
        points,
        freeze(normals, np.float32, points.shape, "normals"),
        np.where(rows >= 0, place, -1).astype(np.int32),
        pulls.astype(np.float32),
        corners.astype(np.int32),
        node=owner,
    )
    return part, found


def check_tree(parents: Ints, names: Sequence[str]) -> None:
    """Refuse parents that do not exist, and models that are their own ancestors."""
    is_wrong = (parents < -1) | (parents >= len(parents))
    if is_wrong.any():
        model = int(np.argmax(is_wrong))
        raise ShapeError(
            f"parents: the parent of model {names[model]!r} is {parents[model]}; there "
            f"are {len(parents)} models"
        )
    cycle = find_cycle(parents)
    if cycle is not None:
        raise ShapeError(f"parents: model {names[cycle]!r} is its own ancestor")


def check_influences(
    joints: NDArray[np.int64],
    weights: NDArray[np.float64],
    count: int,
    owner: int,
    name: str,
) -> tuple[list[Finding], NDArray[np.int64], NDArray[np.float64]]:
    """Joints and weights (V, K) that are right, or an error that names the vertex.

    Sums that are off 1 by less than OFF_ONE are mended; a vertex that nothing pulls is
    given to `owner`; joints without a weight become -1. count: of models.
    """

    def refuse(is_wrong: NDArray[np.bool_], text: str) -> None:
        if is_wrong.any():
            vertex, column = np.argwhere(is_wrong)[0].tolist()
            raise ShapeError(
                f"vertex {vertex} of model {name!r}: "
                + text.format(w=weights[vertex, column], m=joints[vertex, column])
            )

    refuse(~np.isfinite(weights), "a weight is {w}, expected a number 0 to 1")
    refuse(weights < 0, "a weight is {w:g}, expected 0 to 1")
    is_used = (weights > 0) & (joints != -1)
    refuse(
        is_used & ((joints < 0) | (joints >= count)),
        f"pulled by model {{m}}, which does not exist; there are {count}",
    )
    joints = np.where(is_used, joints, -1)
    weights = np.where(is_used, weights, 0.0)
    sums = weights.sum(1)
    is_free = ~is_used.any(1)
    off = np.where(is_free, 0.0, np.abs(sums - 1))
    if (off > OFF_ONE).any():
        vertex = int(np.argmax(off > OFF_ONE))
        raise ShapeError(
            f"vertex {vertex} of model {name!r}: its weights add up to "
            f"{sums[vertex]:.6g}, expected 1"
        )
    if is_free.any() and not joints.shape[1]:
        joints = np.full((len(joints), 1), -1, np.int64)
        weights = np.zeros((len(joints), 1))
    if is_free.any():
        joints[is_free, 0], weights[is_free, 0] = owner, 1.0
    found = []
    is_off = off > 1e-6  # what float32 cannot avoid
    if is_off.any():
        weights[is_off] /= sums[is_off, None]
        found.append(
            Finding(
                "warning",
                "weights-not-1",
                name,
                f"the weights of {int(is_off.sum())} vertices did not add up to 1 and "
                "were divided by their sum",
            )
        )
    return found, joints, weights


def _inverse(matrix: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """The inverse of an affine matrix (3, 4)."""
    turn = matrix[:, :3]
    is_whole = bool(np.isfinite(matrix).all())
    if is_whole:
        longest = float(np.linalg.norm(turn, axis=1).max())
        is_whole = abs(float(np.linalg.det(turn))) > FLAT * longest**3
    if not is_whole:
        raise ShapeError(
            f"basic: the matrix of model {name!r} is singular; it has no inverse"
        )
    inverse = np.linalg.inv(turn)
    return np.concatenate([inverse, -inverse @ matrix[:, 3:]], 1)
