"""Whether a draw list names only what was uploaded."""

from __future__ import annotations

from collections.abc import Sequence

from flexor.draw.drawlist import DrawList
from flexor.errors import SettingError, ShapeError

__all__ = ["check_list"]


def check_list(
    draw_list: DrawList, vertex_counts: Sequence[int], texture_count: int
) -> None:
    """Refuse numbers of meshes and textures that do not exist, and wrong vertices.

    vertex_counts: of every uploaded mesh.
    """
    for row, item in enumerate(draw_list.items):
        if not 0 <= item.mesh < len(vertex_counts):
            have = len(vertex_counts)
            raise SettingError(f"items[{row}]: mesh {item.mesh} of {have} uploaded")
        vertices, wanted = item.positions.shape[-2], vertex_counts[item.mesh]
        if vertices != wanted:
            raise ShapeError(
                f"items[{row}]: {vertices} positions for a mesh of {wanted} vertices"
            )
        if item.look is None:
            continue
        for texture in (item.look.texture, item.look.emissive_texture):
            if not -1 <= texture < texture_count:
                raise SettingError(
                    f"items[{row}]: texture {texture} of {texture_count} uploaded"
                )
