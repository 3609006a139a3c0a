"""Shadows of characters on uneven ground: one matrix for each part of a body.

A part is moved down from the ground under its character to the base line, projected
along the light onto it, moved to the ground where its shadow falls, turned to the
ground's slope there and put back in place: six steps, one matrix (3, 4). Both the move
to the ground and the turn go along the light. So the move down cancels out (a part's
shadow does not depend on the height at which its character stands), and shadows are on
slopes and steps where light puts them; a move straight up and a turn that keeps lengths
would put them beside that, by half the height of a step.

A part is a set of whole faces, so a step tears a shadow between parts, not a part. Long
parts are cut into pieces, each with its own matrix: the shorter, the truer at steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Doubles, Floats, Ints, check_array, check_input, freeze
from flexor.errors import SettingError, ShapeError
from flexor.maths import threads, transforms
from flexor.scene.character.light import as_vector
from flexor.scene.character.skeleton import rest_world
from flexor.scene.human.human import Human, find_human
from flexor.scene.scene import Scene
from flexor.scene.stage.ground import Ground
from flexor.stage.effects.shadow_walls import ShadowWalls

__all__ = [
    "ShadowParts",
    "Shadows",
    "apply_shadow",
    "body_parts",
    "cast_shadows",
    "climb_walls",
    "find_middles",
    "heaviest_nodes",
    "init_shadows",
    "make_parts",
    "scene_parts",
    "shadow_matrices",
    "slant_of",
]

LOWEST = math.sin(math.radians(1.0))  # light that falls flatter makes no shadow
LONGEST = 0.1  # metres: parts are cut into pieces of this size
LEAST_WORK = 20_000  # vertices: less is not worth a second thread
LIFT = 0.004  # metres that shadows are above the ground
# By part of the body, what belongs to it; what hangs on these goes with them.
BODY = {
    "hips": ("hips",),
    "abdomen": ("spine",),
    "chest": ("chest", "upperChest"),
    "head": ("neck", "head"),
    **{
        side + part: (side + part,)
        for side in ("left", "right")
        for part in ("UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot")
    },
}


@dataclass(frozen=True, slots=True, eq=False)
class ShadowParts:
    """A body cut into K parts along the edges of its faces.

    sources: int32 (P,), the vertex that each place of the shadow shows, those of a part
    one behind the other; a vertex between parts is in all of them; starts: int32
    (K + 1,), where parts begin in `sources`; faces: int32 (F, 3), places; names: of the
    K parts, pieces of one part have the same; vertex_count: V, of the body. Takes
    ownership of the arrays.
    """

    sources: Ints
    starts: Ints
    faces: Ints
    names: tuple[str, ...]
    vertex_count: int

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "sources", freeze(self.sources, np.int32, (None,), "sources"))
        put(self, "names", tuple(self.names))
        shape = (len(self.names) + 1,)
        put(self, "starts", freeze(self.starts, np.int32, shape, "starts"))
        put(self, "faces", freeze(self.faces, np.int32, (None, 3), "faces"))
        ends = int(self.starts[0]), int(self.starts[-1])
        if ends != (0, len(self.sources)) or (np.diff(self.starts) < 1).any():
            raise ShapeError("starts: expected rising rows, from 0 to those of sources")
        _check_rows(self.sources, self.vertex_count, "sources")
        _check_rows(self.faces, len(self.sources), "faces")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def parts(self) -> Ints:
        """The part of each place: int32 (P,)."""
        counts = np.diff(self.starts)
        return np.repeat(np.arange(len(self), dtype=np.int32), counts)


@dataclass(slots=True, eq=False)
class Shadows:
    """Shadows of N characters of one body.

    parts: of the body; part_rows: int32 (P,), the part of each place; middles: float64
    (N, K, 3), of parts, metres; matrices: float64 (N, K, 3, 4), shadow_from_world;
    is_cast: bool (N,), who has a shadow; positions: float32 (N, P, 3), its vertices,
    all at the origin for who has none; met: int32 (N, K), the structure that each part
    falls on, -1 for the ground; walls: of structures, None for none.
    """

    parts: ShadowParts
    part_rows: Ints
    middles: Doubles
    matrices: Doubles
    is_cast: Bools
    positions: Floats
    met: Ints
    walls: ShadowWalls | None = None

    def rows(self, rows: slice) -> Shadows:
        """Those of some characters, in the same arrays."""
        return Shadows(
            self.parts,
            self.part_rows,
            self.middles[rows],
            self.matrices[rows],
            self.is_cast[rows],
            self.positions[rows],
            self.met[rows],
            self.walls,
        )


def init_shadows(parts: ShadowParts, count: int) -> Shadows:
    """Room for shadows of `count` characters; none is cast yet."""
    return Shadows(
        parts,
        parts.parts,
        np.zeros((count, len(parts), 3)),
        np.zeros((count, len(parts), 3, 4)),
        np.zeros(count, np.bool_),
        np.zeros((count, len(parts.sources), 3), np.float32),
        np.full((count, len(parts)), -1, np.int32),
    )


def cast_shadows(
    state: Shadows,
    light: Sequence[float] | Doubles,
    positions: Floats,
    ground: Ground,
    *,
    lift: float = LIFT,
) -> None:
    """Cast the shadows of N characters; positions: (N, V, 3), deformed, world."""
    if not len(state.positions):
        return
    if slant_of(light) is None:
        state.is_cast[:] = False
        state.positions[:] = 0
        return
    parts, count = state.parts, len(state.positions)
    shape = (count, parts.vertex_count, 3)
    check_input(positions, np.float32, shape, "positions")

    def work(rows: slice) -> None:
        own, matrices = positions[rows], state.matrices[rows]
        middles = find_middles(parts, own, out=state.middles[rows])
        cast = state.is_cast[rows]
        shadow_matrices(light, middles, ground, lift=lift, out=matrices, cast=cast)
        if state.walls is not None and len(state.walls):
            climb_walls(light, middles, state.walls, matrices, state.met[rows], lift)
        flat = state.positions[rows]
        apply_shadow(matrices, parts.sources, state.part_rows, own, out=flat)

    if count * len(parts.sources) < LEAST_WORK:
        work(slice(0, count))
    else:
        threads.run_slices(work, count)


def shadow_matrices(
    light: Sequence[float] | Doubles,
    middles: Doubles,
    ground: Ground,
    *,
    lift: float = 0.0,
    out: Doubles | None = None,
    cast: Bools | None = None,
) -> tuple[Doubles, Bools]:
    """The matrices of the shadows of parts (N, K, 3, 4), and who has one (N,).

    light: (3,), the way it travels; middles: float64 (N, K, 3), of parts, world;
    lift: metres above the ground, along its normal. out, cast: to be filled; without
    them new arrays are made.

    From the middle of each part the light is followed cell by cell to the first
    triangle of the ground that it meets. The matrix takes points of the world along the
    light onto that triangle's plane: it is right for all of the part whose shadow falls
    on that plane. Planes that the light only grazes are taken to be level. A part whose
    middle is below the ground has the plane over it. Light that comes from below, or
    falls flatter than a degree, makes no shadow, nor do places that are not finite or
    thousands of cells away: then all matrices of that character are 0.
    """
    count, parts = middles.shape[:2] if middles.ndim == 3 else (0, 0)
    check_input(middles, np.float64, (count, parts, 3), "middles")
    if not math.isfinite(lift):
        raise SettingError(f"lift: {lift!r}, expected metres")
    if out is None:
        out = np.empty((count, parts, 3, 4))
    if cast is None:
        cast = np.empty(count, np.bool_)
    check_array(out, np.float64, (count, parts, 3, 4), "out")
    check_array(cast, np.bool_, (count,), "cast")
    slant = slant_of(light)
    if slant is None or not parts:
        out[:] = 0
        cast[:] = False
        return out, cast
    from flexor.stage.effects.kernels import shadows as kernel_shadows

    kernel_shadows.cast_parts(
        *slant, lift, middles, ground.heights, *ground.corner, ground.step, out, cast
    )
    return out, cast


def climb_walls(
    light: Sequence[float] | Doubles,
    middles: Doubles,
    walls: ShadowWalls,
    matrices: Doubles,
    met: Ints,
    lift: float = 0.0,
) -> None:
    """Let parts fall onto the structures that they meet before the ground.

    middles: (N, K, 3), of parts; matrices: (N, K, 3, 4), of `shadow_matrices`, changed
    for those that meet one; met: int32 (N, K), to be filled: which, -1 for the ground;
    lift: metres that shadows are in front of walls, and above roofs.
    """
    slant = slant_of(light)
    if slant is None:
        return
    from flexor.stage.effects.kernels import shadow_walls as kernel_walls

    check_input(middles, np.float64, (*met.shape, 3), "middles")
    check_array(matrices, np.float64, (*met.shape, 3, 4), "matrices")
    check_array(met, np.int32, met.shape, "met")
    kernel_walls.climb_parts(
        *slant, lift, middles, walls.boxes, walls.rows, walls.edges, matrices, met
    )


def slant_of(light: Sequence[float] | Doubles) -> tuple[float, float] | None:
    """Metres of light's way along x and z for each metre down; None: too flat."""
    x, y, z = as_vector(light, "light")
    size = math.hypot(x, y, z)
    if not size > 0:
        raise SettingError("light: must not be zero")
    if -y < LOWEST * size:
        return None
    return x / -y, z / -y


def find_middles(
    parts: ShadowParts, positions: Floats, *, out: Doubles | None = None
) -> Doubles:
    """The middles of parts (N, K, 3): means of their vertices; positions: (N, V, 3)."""
    from flexor.stage.effects.kernels import shadows as kernel_shadows

    count = len(positions)
    check_input(positions, np.float32, (count, parts.vertex_count, 3), "positions")
    if out is None:
        out = np.empty((count, len(parts), 3))
    check_array(out, np.float64, (count, len(parts), 3), "out")
    kernel_shadows.find_middles(positions, parts.sources, parts.starts, out)
    return out


def apply_shadow(
    matrices: Doubles,
    sources: Ints,
    parts: Ints,
    positions: Floats,
    *,
    out: Floats | None = None,
) -> Floats:
    """The vertices of shadows (N, P, 3), flat on the ground.

    matrices: (N, K, 3, 4); sources, parts: int32 (P,), the vertex and the part of each
    place; positions: float32 (N, V, 3).
    """
    from flexor.stage.effects.kernels import shadows as kernel_shadows

    count, places = len(matrices), len(sources)
    check_input(matrices, np.float64, (count, None, 3, 4), "matrices")
    check_input(positions, np.float32, (count, None, 3), "positions")
    check_input(sources, np.int32, (places,), "sources")
    check_input(parts, np.int32, (places,), "parts")
    _check_rows(sources, positions.shape[1], "sources")
    _check_rows(parts, matrices.shape[1], "parts")
    if out is None:
        out = np.empty((count, places, 3), np.float32)
    check_array(out, np.float32, (count, places, 3), "out")
    kernel_shadows.flatten(matrices, positions, sources, parts, out)
    return out


def _check_rows(rows: Ints, count: int, name: str) -> None:
    if rows.size and not 0 <= rows.min() <= rows.max() < count:
        have = f"{rows.min()} to {rows.max()}"
        raise ShapeError(f"{name}: {have}, expected 0 to {count - 1}")


def make_parts(
    faces: Ints,
    heaviest: Ints,
    part_of_joint: Ints,
    names: Sequence[str] | None = None,
    *,
    places: NDArray[np.floating] | None = None,
    longest: float | None = None,
) -> ShadowParts:
    """A body cut into parts.

    faces: (F, 3); heaviest: (V,), the joint that pulls each vertex most; part_of_joint:
    (J,), numbers from 0 on; names: of those parts; places: (V, 3), metres, at rest, and
    longest: metres: faces of a part whose middles are farther apart than this along x,
    y or z are halved, and halved again; None: parts stay whole.

    A face belongs to the part that two of its corners belong to, or the first. Parts
    without faces are left out.
    """
    faces = np.asarray(faces, np.int32)
    if faces.ndim != 2 or faces.shape[1] != 3:
        raise ShapeError(f"faces: shape {faces.shape}, expected (F, 3)")
    heaviest, part_of_joint = np.asarray(heaviest), np.asarray(part_of_joint)
    _check_rows(faces, len(heaviest), "faces")
    _check_rows(heaviest, len(part_of_joint), "heaviest")
    last = int(part_of_joint.max(initial=-1))
    if names is None:
        names = [str(part) for part in range(last + 1)]
    _check_rows(part_of_joint, len(names), "part_of_joint")
    a, b, c = part_of_joint[heaviest][faces].T
    part = np.where(b == c, b, a)
    groups = [np.flatnonzero(part == number) for number in range(len(names))]
    if longest is not None:
        if not longest > 0:
            raise SettingError(f"longest: {longest!r}, expected metres above 0")
        where = np.asarray(places, np.float64)
        if where.shape != (len(heaviest), 3) or not np.isfinite(where).all():
            raise ShapeError(
                f"places: shape {where.shape}, expected ({len(heaviest)}, 3), finite"
            )
        middles = where[faces].mean(1)
    kept: list[NDArray[np.intp]] = []
    titles: list[str] = []
    for name, rows in zip(names, groups, strict=True):
        if len(rows):
            pieces = [rows] if longest is None else _halve(middles, rows, longest)
            kept += pieces
            titles += [name] * len(pieces)
    return _split(faces, kept, titles, len(heaviest))


def _halve(
    middles: Doubles, rows: NDArray[np.intp], longest: float
) -> list[NDArray[np.intp]]:
    """Rows of middles (F, 3) in groups that are no larger than `longest`."""
    left, done = [rows], []
    while left:
        own = left.pop()
        low, high = middles[own].min(0), middles[own].max(0)
        axis = int(np.argmax(high - low))
        if high[axis] - low[axis] <= longest:
            done.append(own)
            continue
        is_low = middles[own, axis] < (low[axis] + high[axis]) / 2
        left += [own[~is_low], own[is_low]]
    return done


def _split(
    faces: Ints, pieces: list[NDArray[np.intp]], names: list[str], count: int
) -> ShadowParts:
    """Faces (F, 3) of pieces that share no vertices."""
    sources, starts, corners = [np.zeros(0, np.int32)], [0], [np.zeros((0, 3), int)]
    for rows in pieces:
        own, inside = np.unique(faces[rows], return_inverse=True)
        corners.append(inside.reshape(-1, 3) + starts[-1])
        sources.append(own)
        starts.append(starts[-1] + len(own))
    return ShadowParts(
        np.concatenate(sources),
        np.array(starts),
        np.concatenate(corners),
        tuple(names),
        count,
    )


def body_parts(scene: Scene) -> tuple[Ints, tuple[str, ...]]:
    """The part of the body that each node belongs to (J,), and the names of parts.

    Of a human body: hips, abdomen, chest, head, and arms and legs in three parts each;
    fingers go with hands, toes with feet, shoulders with the chest. Of any other body
    each node is its own part.
    """
    skeleton = scene.skeleton
    human = find_human(skeleton, scene.carried)
    if human.lacks:
        return np.arange(len(skeleton), dtype=np.int32), tuple(skeleton.names)
    return _human_parts(human, skeleton.parents, skeleton.order)


def _human_parts(
    human: Human, parents: Ints, order: Sequence[int] | NDArray[np.integer]
) -> tuple[Ints, tuple[str, ...]]:
    known = {
        human[bone]: row
        for row, bones in enumerate(BODY.values())
        for bone in bones
        if bone in human
    }
    for node in human.trunk[1:]:
        known.setdefault(node, list(BODY).index("chest"))
    parts = np.zeros(len(parents), np.int32)  # what hangs on none goes with the hips
    for node in order:
        parent = int(parents[node])
        parts[node] = known.get(int(node), parts[parent] if parent >= 0 else 0)
    return parts, tuple(BODY)


def heaviest_nodes(scene: Scene, node: int, primitive: int) -> Ints:
    """The node that pulls each vertex of a primitive most: int32 (V,)."""
    own = scene.meshes[scene.node_mesh[node]].primitives[primitive]
    row = int(scene.node_skin[node])
    if row < 0 or own.skin is None:
        return np.full(len(own), node, np.int32)
    most = own.skin.weights.argmax(1)[:, None]
    pull = np.take_along_axis(own.skin.joints, most, 1)[:, 0]
    nodes: Ints = scene.skins[row].joints[pull].astype(np.int32)
    return nodes


def scene_parts(scene: Scene, longest: float | None = LONGEST) -> ShadowParts:
    """The parts of all surfaces of a scene, whose vertices stand one behind the other,
    ordered by node, then primitive (as `bind_scene` does); longest: see make_parts.
    """
    part_of_node, names = body_parts(scene)
    world = rest_world(scene.skeleton)
    faces, heaviest, places = [np.zeros((0, 3), np.int32)], [np.zeros(0, int)], []
    first = 0
    for node in np.flatnonzero(scene.shown_nodes() & (scene.node_mesh >= 0)).tolist():
        for primitive in scene.meshes[scene.node_mesh[node]].primitives:
            row = int(scene.node_skin[node])
            if row >= 0 and primitive.skin is not None:
                skin = scene.skins[row]
                most = primitive.skin.weights.argmax(1)[:, None]
                pull = np.take_along_axis(primitive.skin.joints, most, 1)[:, 0]
                joints = skin.joints[pull].astype(np.intp)
                moves = transforms.multiply(
                    world[skin.joints], skin.inverse_binds.astype(np.float64)
                )[pull]
            else:
                joints = np.full(len(primitive), node)
                moves = world[joints]
            faces.append(primitive.triangles() + np.int32(first))
            heaviest.append(joints)
            points = primitive.positions.astype(np.float64)[..., None]
            places.append((moves[:, :, :3] @ points)[..., 0] + moves[:, :, 3])
            first += len(primitive)
    return make_parts(
        np.concatenate(faces),
        np.concatenate(heaviest),
        part_of_node,
        names,
        places=np.concatenate([np.zeros((0, 3)), *places]),
        longest=longest,
    )
