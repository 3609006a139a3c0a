"""Small random scenes, built straight from the scene's own values."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from flexor.maths import quaternions, transforms
from flexor.scene.character.clip import Clip, Interpolation, Path, Track
from flexor.scene.character.mesh import Mesh, MorphTarget, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import RootSet, Scene
from tests.oracle import pose as oracle

Rng = np.random.Generator
ScaleKind = Literal["one", "even", "uneven", "negative", "mirror", "zero"]

INTERPOLATIONS: tuple[Interpolation, ...] = ("LINEAR", "STEP", "CUBICSPLINE")
WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}


def random_rotations(rng: Rng, *shape: int) -> Any:
    """Unit quaternions (*shape, 4), evenly spread."""
    return quaternions.normalise(rng.normal(size=(*shape, 4)))


def random_scales(rng: Rng, count: int, kind: ScaleKind) -> Any:
    """Scales (count, 3). even: each its own factor; mirror: a negative determinant."""
    scales = np.ones((count, 3))
    if kind == "even":
        scales *= rng.uniform(0.5, 2, (count, 1))
    elif kind != "one":
        scales = rng.uniform(0.6, 1.6, (count, 3))
    if kind == "negative":
        scales *= rng.choice([-1, 1], (count, 3))
    elif kind == "mirror":
        scales *= [-1, 1, 1]
    elif kind == "zero" and count:
        scales[rng.integers(count)] = 0
    return scales


def random_parents(rng: Rng, count: int, roots: int = 2) -> Any:
    """Parents (count,) in an order in which some children come before their parents."""
    parents = np.full(count, -1)
    for node in range(roots, count):
        parents[node] = rng.integers(max(0, node - 4), node)
    place = rng.permutation(count)
    if count > roots:  # the last child goes before its parent, whatever was drawn
        parent = int(parents[-1])
        low, high = sorted((place[-1], place[parent]))
        place[-1], place[parent] = low, high
    mixed = np.full(count, -1)
    mixed[place] = np.where(parents < 0, -1, place[parents])
    return mixed


def random_skeleton(
    rng: Rng, count: int, *, roots: int = 2, scale: ScaleKind = "one"
) -> Skeleton:
    """A tree of `count` nodes, or several."""
    return Skeleton(
        tuple(f"node{i}" for i in range(count)),
        random_parents(rng, count, roots),
        rng.normal(size=(count, 3)),
        random_rotations(rng, count),
        random_scales(rng, count, scale),
    )


def rest_world(skeleton: Skeleton) -> Any:
    """world_from_node (J, 3, 4) at rest, float64."""
    return oracle.world_matrices(skeleton, oracle.local_matrices(skeleton, None, 0))


def bound_skin(skeleton: Skeleton, joints: Any) -> Skin:
    """A skin whose bind pose is the rest pose."""
    world = rest_world(skeleton)[np.asarray(joints, int)]
    return Skin("bound", joints, transforms.invert(world))


def random_skin(rng: Rng, skeleton: Skeleton, count: int) -> Skin:
    """A skin of `count` different nodes with bind matrices of all sorts."""
    joints = rng.permutation(len(skeleton))[:count]
    turns = random_rotations(rng, count)
    scales = random_scales(rng, count, "even")
    return Skin(
        "skin", joints, transforms.compose(rng.normal(size=(count, 3)), turns, scales)
    )


def random_weights(
    rng: Rng, vertices: int, joints: int, influences: int
) -> SkinWeights:
    """Rows of `influences` columns, their joints in any order, some without weight.

    Few different sets of joints, so that some runs have several blocks.
    """
    sets = [rng.permutation(joints)[:influences] for _ in range(3)]
    names = np.zeros((vertices, influences), np.uint16)
    weights = np.zeros((vertices, influences))
    for v in range(vertices):
        mine = sets[rng.integers(len(sets))]
        used = rng.integers(1, len(mine) + 1) if v % 3 == 0 else len(mine)
        columns = rng.permutation(influences)[:used]
        names[v, columns] = mine[:used]
        weights[v, columns] = rng.uniform(0.1, 1, used)
        weights[v] /= weights[v].sum()
    return SkinWeights(names, weights)


def random_primitive(
    rng: Rng,
    vertices: int,
    *,
    skin: SkinWeights | None = None,
    targets: int = 0,
    has_normals: bool = True,
) -> Primitive:
    """A cloud of vertices; of the targets the second has no normals."""
    normals = rng.normal(size=(vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    morphs = [
        MorphTarget(
            rng.normal(size=(vertices, 3)),
            None if m == 1 else rng.normal(size=(vertices, 3)) * 0.3,
        )
        for m in range(targets)
    ]
    return Primitive(
        rng.normal(size=(vertices, 3)),
        normals if has_normals else None,
        skin=skin,
        targets=tuple(morphs),
    )


def random_times(rng: Rng, keys: int) -> Any:
    """Key times (keys,), rising, uneven, first key after 0."""
    return (0.2 + np.cumsum(rng.uniform(0.05, 0.4, keys))).astype(np.float32)


def random_track(
    rng: Rng,
    node: int,
    path: Path,
    interpolation: Interpolation,
    times: Any,
    width: int | None = None,
) -> Track:
    """Keys of one property; rotations with random signs."""
    columns = WIDTHS.get(path, width or 1)
    values = rng.normal(size=(len(times), columns))
    if path == "rotation":
        values = quaternions.normalise(values)
    if path == "scale":
        values = np.abs(values) + 0.3
    if interpolation == "CUBICSPLINE":
        tangents = rng.normal(size=(len(times), 2, columns))
        values = np.stack([tangents[:, 0], values, tangents[:, 1]], 1)
    return Track(node, path, times.copy(), values, interpolation)


def random_clip(
    rng: Rng,
    name: str,
    nodes: int,
    *,
    morph_nodes: dict[int, int] | None = None,
    interpolation: Interpolation | None = None,
    keys: int = 7,
) -> Clip:
    """Tracks on about two of three nodes, half of them on one shared timeline."""
    shared = random_times(rng, keys)
    tracks = []
    for node in range(nodes):
        for path in WIDTHS:
            if rng.random() < 0.35:
                continue
            kind = interpolation or INTERPOLATIONS[rng.integers(3)]
            own = random_times(rng, int(rng.integers(1, keys + 3)))
            times = shared if rng.random() < 0.5 else own
            tracks.append(random_track(rng, node, path, kind, times))  # type: ignore[arg-type]
    for node, width in (morph_nodes or {}).items():
        kind = interpolation or INTERPOLATIONS[rng.integers(3)]
        tracks.append(random_track(rng, node, "weights", kind, shared, width))
    return Clip(name, tuple(tracks))


def random_scene(
    rng: Rng,
    *,
    nodes: int = 11,
    vertices: int = 21,
    influences: int = 4,
    targets: int = 2,
    scale: ScaleKind = "one",
) -> Scene:
    """One of everything.

    Mesh 0: two skinned primitives, one without normals; mesh 1: rigid, with morphs,
    at two nodes (instances, one with weights of its own); mesh 2: skinned and morphed.
    A clip for each interpolation and one of all.
    """
    skeleton = random_skeleton(rng, nodes, scale=scale)
    joint_count = min(nodes, max(influences, 5))
    skin = random_skin(rng, skeleton, joint_count)

    def skinned(count: int, **more: Any) -> Primitive:
        weights = random_weights(rng, count, joint_count, min(influences, joint_count))
        return random_primitive(rng, count, skin=weights, **more)

    meshes = (
        Mesh("pair", (skinned(vertices), skinned(vertices + 4, has_normals=False))),
        Mesh(
            "rigid",
            (random_primitive(rng, 9, targets=targets),),
            rng.normal(size=targets),
        ),
        Mesh(
            "face",
            (skinned(vertices, targets=targets), skinned(5, targets=targets)),
            rng.normal(size=targets),
        ),
    )
    node_mesh, node_skin = np.full(nodes, -1), np.full(nodes, -1)
    node_mesh[:5] = 1, 0, -1, 1, 2
    node_skin[:5] = -1, 0, -1, -1, 0
    morphs = {0: targets, 3: targets, 4: targets}
    clips = {
        name: random_clip(rng, name, nodes, morph_nodes=morphs, interpolation=kind)
        for name, kind in zip(
            ("linear", "step", "cubic", "mixed"), (*INTERPOLATIONS, None), strict=True
        )
    }
    return Scene(
        skeleton,
        node_mesh,
        node_skin,
        meshes,
        (skin,),
        clips,
        root_sets=(
            RootSet("all", tuple(np.nonzero(skeleton.parents < 0)[0].tolist())),
        ),
        default_set=0,
        node_weights={3: rng.normal(size=targets).astype(np.float32)},
    )


def plain_scene(skeleton: Skeleton, *clips: Clip) -> Scene:
    """Nodes and clips, no meshes."""
    none = np.full(len(skeleton), -1)
    return Scene(skeleton, none, none.copy(), clips={clip.name: clip for clip in clips})


def one_mesh_scene(
    skeleton: Skeleton, primitive: Primitive, skin: Skin | None
) -> Scene:
    """One primitive, at the last node of the file."""
    node_mesh, node_skin = np.full((2, len(skeleton)), -1)
    node_mesh[-1] = 0
    node_skin[-1] = -1 if skin is None else 0
    mesh = Mesh("mesh", (primitive,), np.zeros(len(primitive.targets)))
    return Scene(skeleton, node_mesh, node_skin, (mesh,), (skin,) if skin else ())
