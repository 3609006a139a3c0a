"""The skin of a body in poses, by the same code as in use."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise

import numpy as np

from flexor.arrays import Floats
from flexor.convert.shape.body import Body
from flexor.deform.bind import Bind, bind_primitive
from flexor.pose.layout import Layout
from flexor.scene.scene import Scene

__all__ = ["bind_body", "clip_poses", "deform_body"]

MOST_CLIPS = 8
TIMES = 4  # of each clip


def bind_body(scene: Scene, body: Body) -> list[Bind]:
    """The body's surfaces for the skinning kernels, in their order."""
    is_ours = np.isin(scene.node_skin, body.skins)
    nodes = {
        mesh: int(np.flatnonzero(is_ours & (scene.node_mesh == mesh))[0])
        for mesh, _ in body.places
    }
    return [bind_primitive(scene, nodes[mesh], row) for mesh, row in body.places]


def deform_body(
    layout: Layout, binds: Sequence[Bind], local: Floats
) -> tuple[Floats, Floats]:
    """Vertices (N, V, 3) and nodes (N, J, 3, 4) for local transforms (N, 10 * L).

    Morphs are left aside.
    """
    from flexor.deform.vertices import init_skin, skin_vertices
    from flexor.pose.links import follow_links
    from flexor.pose.model_space import init_world, world_from_local

    local = np.ascontiguousarray(local).copy()
    follow_links(layout, local)
    world = world_from_local(init_world(layout, len(local)), local).matrices
    ends = np.cumsum([0, *(bind.vertex_count for bind in binds)]).tolist()
    whole = np.empty((len(local), ends[-1], 3), np.float32)
    for bind, (start, stop) in zip(binds, pairwise(ends), strict=True):
        positions = np.empty((len(local), stop - start, 3), np.float32)
        weights = np.zeros((len(local), len(bind.deltas)), np.float32)
        skin_vertices(
            init_skin(bind, len(local)),
            world,
            weights,
            positions=positions,
            normals=np.empty_like(positions),
        )
        whole[:, start:stop] = positions
    return whole, world


def clip_poses(scene: Scene, layout: Layout) -> Floats:
    """Local transforms (N, 10 * L) at four times of each of the first eight clips."""
    from flexor.pose.clip_tables import pack_clip
    from flexor.pose.sample import init_sample, sample

    poses = [np.zeros((0, len(layout.rest)), np.float32)]
    for clip in islice(scene.clips.values(), MOST_CLIPS):
        times = np.linspace(0, clip.duration, TIMES, endpoint=False, dtype=np.float32)
        state = init_sample(pack_clip(clip, layout), layout, TIMES)
        poses.append(sample(state, times).local)
    return np.concatenate(poses)
