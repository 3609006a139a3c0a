"""Bodies of any number of vertices and joints, made from the mannequin.

Its vertices are welded by place, its triangles cut into four as often as that fits, and
then triangles are cut into three at their middle until the number is met. Joints are
taken away at the ends of chains, the shortest bones first (these are of fingers), or
added halfway along bones, the longest first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor import samples
from flexor.arrays import Ints
from flexor.convert.shape.body import Body, Pull, body_surface, gather_bodies
from flexor.errors import SettingError
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.normals import vertex_normals

__all__ = ["make_body"]


def make_body(vertices: int, joints: int) -> Body:
    """A body of so many vertices and joints; all of it hangs on the first joint."""
    (body,) = gather_bodies(samples.mannequin().scene)
    body = _with_joints(body, joints)
    surface = body_surface(body, is_by_place=True)
    points, faces = surface.positions, surface.point_of_vertex[body.faces]
    if vertices < len(points):
        text = f"vertices: {vertices}, expected {len(points)} or more"
        raise SettingError(text)
    positions, faces = _refine(points.astype(np.float64), faces, vertices)
    flat = Primitive(
        positions.astype(np.float32), indices=faces.reshape(-1).astype(np.uint32)
    )
    return replace(
        body,
        starts=(0, vertices),
        places=((0, 0),),
        positions=positions,
        normals=vertex_normals(flat).astype(np.float64),
        faces=faces,
        pull=Pull(
            np.zeros((vertices, 1), np.int32), np.ones((vertices, 1), np.float32)
        ),
        rigid=np.zeros(vertices, bool),
    )


def _refine(
    positions: NDArray[np.float64], faces: Ints, count: int
) -> tuple[NDArray[np.float64], Ints]:
    """`count` positions and the triangles between them."""
    while True:
        finer, parts = _in_four(positions, faces)
        if len(finer) > count:
            break
        positions, faces = finer, parts
    while len(positions) < count:
        missing = min(count - len(positions), len(faces))
        # Spread over all of the surface.
        chosen = np.arange(missing) * len(faces) // missing
        cut = faces[chosen]
        middles = np.arange(len(positions), len(positions) + missing, dtype=np.int32)
        positions = np.concatenate([positions, positions[cut].mean(1)])
        sides = [(0, 1), (1, 2), (2, 0)]
        thirds = [np.stack([cut[:, a], cut[:, b], middles], 1) for a, b in sides]
        faces = np.concatenate([np.delete(faces, chosen, axis=0), *thirds])
    return positions, np.ascontiguousarray(faces, np.int32)


def _in_four(
    positions: NDArray[np.float64], faces: Ints
) -> tuple[NDArray[np.float64], Ints]:
    """Every triangle as four, between its corners and the middles of its sides."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    edges, of_side = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    a, b, c = faces.T
    ab, bc, ca = (of_side.reshape(3, -1) + len(positions)).astype(np.int32)
    quarters = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return (
        np.concatenate([positions, positions[edges].mean(1)]),
        np.concatenate([np.stack(corners, 1) for corners in quarters]),
    )


def _with_joints(body: Body, count: int) -> Body:
    """The body with other joints, of which the first are those that it had."""
    names, parents = list(body.names), body.parents.tolist()
    frames = list(body.frames)

    def length(row: int) -> float:
        """From a joint's parent to it; 0 for a root."""
        above = parents[row]
        across = frames[row][:, 3] - frames[above][:, 3]
        return float(np.linalg.norm(across)) if above >= 0 else 0.0

    while len(names) > max(count, 1):
        ends = set(range(len(names))) - set(parents)
        gone = min(sorted(ends), key=length)
        del names[gone], parents[gone], frames[gone]
        parents = [row - (row > gone) for row in parents]
    while len(names) < count:
        below = max(range(len(names)), key=length)
        above = parents[below]
        frame = frames[above].copy()
        frame[:, 3] = (frames[above][:, 3] + frames[below][:, 3]) / 2
        parents[below] = len(names)
        names.append(f"{names[below]}-half{len(names)}")
        parents.append(above)
        frames.append(frame)
    return replace(
        body,
        joints=np.arange(len(names), dtype=np.int32),
        names=tuple(names),
        parents=np.array(parents, np.int32),
        frames=np.stack(frames),
    )
