"""Levels made by hand, for tests: no simplification, nodes dropped as told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexor.scene.runtime.levels import Levels, LevelSurface
from flexor.scene.runtime.node_table import make_node_table
from flexor.scene.scene import Scene


def make_hand_levels(
    scene: Scene,
    keep: Sequence[Sequence[int]] = (),
    shares: Sequence[float] = (),
    errors: Sequence[float] = (),
) -> Levels:
    """Level 0 whole; each further one keeps some nodes of the skeleton and a share of
    the vertices, in the file's order.

    What dropped nodes pull goes to the nearest kept node above, by slots that are made
    so that nothing moves at rest; a vertex has one surface for each primitive.
    """
    table = make_node_table(scene.skeleton)
    number = {node: row for row, node in enumerate(table.nodes.tolist())}
    slots: list[int] = []
    binds: list[np.ndarray] = []
    surfaces = []
    shown = np.flatnonzero(scene.shown_nodes() & (scene.node_mesh >= 0)).tolist()
    levels = 1 + len(keep)
    masks = np.zeros((levels, len(table)), bool)
    for node in shown:
        for row, primitive in enumerate(scene.meshes[scene.node_mesh[node]].primitives):
            skin_row = int(scene.node_skin[node])
            first = len(slots)
            if skin_row >= 0 and primitive.skin is not None:
                skin = scene.skins[skin_row]
                slots += skin.joints.tolist()
                binds += list(skin.inverse_binds)
                joints = primitive.skin.joints.astype(np.int64) + first
                weights = primitive.skin.weights
            else:
                slots.append(node)
                binds.append(np.eye(3, 4, dtype=np.float32))
                joints = np.full((len(primitive), 1), first)
                weights = np.ones((len(primitive), 1), np.float32)
            joints = np.where(weights > 0, joints, joints[:, :1])
            every = [joints]
            for kept in keep:
                own = [first + s for s, n in enumerate(slots[first:]) if n in kept]
                to = np.arange(len(slots))
                for slot in range(first, len(slots)):
                    up = slots[slot]
                    while up >= 0 and up not in kept:
                        up = int(scene.skeleton.parents[up])
                    near = [s for s in own if slots[s] == up] or own
                    to[slot] = near[0]
                every.append(to[joints])
            faces = primitive.triangles()
            counts = [len(primitive)]
            lists = [faces]
            for share in shares:
                counts.append(max(3, int(len(primitive) * share)))
                lists.append(faces[(faces < counts[-1]).all(1)])
            surfaces.append(
                LevelSurface(
                    -1 if primitive.material is None else primitive.material,
                    np.stack(
                        np.broadcast_arrays(node, row, np.arange(len(primitive))), 1
                    ).astype(np.int32),
                    np.array(counts, np.int32),
                    tuple(lists),
                    tuple(
                        j[:n].astype(np.uint16)
                        for j, n in zip(every, counts, strict=True)
                    ),
                    tuple(weights[:n].copy() for n in counts),
                )
            )
            for level, j in enumerate(every):
                for slot in np.unique(j[: counts[level]]).tolist():
                    masks[level, number[slots[slot]]] = True
    far = np.array([0.0, *errors])
    return Levels(
        table,
        masks,
        np.array(slots, np.int32),
        np.array(binds, np.float32).reshape(-1, 3, 4),
        np.stack([far, 3 * far], 1).astype(np.float32),
        1.8,
        tuple(surfaces),
    )
