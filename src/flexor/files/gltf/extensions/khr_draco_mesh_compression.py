"""KHR_draco_mesh_compression: all of a primitive in one compressed buffer view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.files import codecs
from flexor.files.gltf.accessors import Accessors
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extension import Extension
from flexor.scene.character.mesh import TRIANGLE_STRIP, TRIANGLES

__all__ = ["EXTENSION", "NAME", "draco_of", "unpack_draco"]

NAME = "KHR_draco_mesh_compression"
EXTENSION = Extension(names=(NAME,), is_undone=True)


def draco_of(primitive: Checked) -> Checked | None:
    """How a primitive is compressed; None if it is not."""
    extensions = primitive.object("extensions")
    return None if extensions is None else extensions.object(NAME)


def unpack_draco(
    item: Checked,
    packed: Checked,
    rows: dict[str, int],
    index_row: int | None,
    mode: int,
    accessors: Accessors,
) -> NDArray[np.uint32]:
    """Hand the decoded attributes to the accessors; return the indices.

    item: the primitive; packed: what `draco_of` gives for it; rows: accessors of its
    attributes; index_row: of its indices, or None; mode: what it is made of.
    """
    if mode not in (TRIANGLES, TRIANGLE_STRIP):
        raise item.error("Draco holds triangles or strips only", "mode")
    view = packed.row("bufferView", accessors.view_count, "buffer view")
    ids = packed.child("attributes")
    wanted = {name: ids.integer(name) for name in ids.names()}
    for name in wanted:
        if name not in rows:
            raise ids.error("is not an attribute of the primitive", name)
    try:
        corners, values = codecs.decode_draco(accessors.view_bytes(view), wanted)
    except codecs.CodecError as error:
        raise packed.error(str(error)) from None
    accessors.charge(packed, corners.nbytes)
    for name, array in values.items():
        accessors.replace(rows[name], array)
    if index_row is not None and accessors.count(index_row) != len(corners):
        announced = accessors.count(index_row)
        raise item.error(
            f"{announced} indices announced, {len(corners)} in the compressed data",
            "indices",
        )
    return corners.astype(np.uint32)
