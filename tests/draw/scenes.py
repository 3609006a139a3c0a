"""Small scenes with looks, for the way from scenes to draw lists."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from flexor.scene.character.material import Image, Material, Sampler, Texture
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import Scene


def png(pixels: Any, kind: str = "PNG") -> bytes:
    """A picture (h, w, c) as the bytes of a file."""
    from PIL import Image as Pillow

    stream = BytesIO()
    Pillow.fromarray(np.asarray(pixels, np.uint8)).save(stream, kind)
    return stream.getvalue()


def skeleton(count: int = 1, scales: Any = None, parents: Any = None) -> Skeleton:
    """Nodes "node0", "node1", ... in a chain, or as `parents` says."""
    return Skeleton(
        tuple(f"node{i}" for i in range(count)),
        np.arange(count) - 1 if parents is None else parents,
        np.zeros((count, 3)),
        np.tile([0.0, 0, 0, 1], (count, 1)),
        np.ones((count, 3)) if scales is None else scales,
    )


def square(**more: Any) -> Primitive:
    """Two triangles in the plane z = 0, facing +z, with texture coordinates."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], np.float32)
    settings: dict[str, Any] = {
        "normals": np.tile([0.0, 0, 1], (4, 1)),
        "texcoords": (corners[:, :2].copy(),),
        "indices": [0, 1, 2, 0, 2, 3],
        "material": 0,
        **more,
    }
    return Primitive(corners, **settings)


def square_scene(
    material: Material | None = None,
    picture: bytes = b"",
    *,
    primitive: Primitive | None = None,
    sampler: Sampler | None = None,
    nodes: Skeleton | None = None,
) -> Scene:
    """A square at every node, with one material and one texture."""
    nodes = nodes or skeleton()
    count = len(nodes)
    return Scene(
        nodes,
        np.zeros(count, np.int32),
        np.full(count, -1),
        (Mesh("square", (square() if primitive is None else primitive,)),),
        materials=(material or Material("paint"),),
        textures=(Texture("texture", 0, 0),),
        samplers=(sampler or Sampler(),),
        images=(Image("image", picture, "image/png"),),
    )
