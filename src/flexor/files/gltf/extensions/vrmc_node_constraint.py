"""VRMC_node_constraint of VRM 1.0: nodes that turn as others do.

Links of files without clips are written as rotation constraints, which programs for VRM
follow. Other constraints are carried.
"""

from __future__ import annotations

from typing import Any

from flexor.errors import AssetError
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extension import Extension
from flexor.scene.character.skeleton import Link

__all__ = ["EXTENSION", "NAME", "constraint_json", "read_rotation"]

NAME = "VRMC_node_constraint"

EXTENSION = Extension(names=(NAME,))


def read_rotation(node: Checked, count: int) -> tuple[int, float] | None:
    """Source and weight of a node's rotation constraint; None without a good one.

    count: of the file's nodes. What is wrong in one is not said: it stays as it is.
    """
    try:
        extensions = node.object("extensions")
        body = None if extensions is None else extensions.object(NAME)
        whole = None if body is None else body.object("constraint")
        rotation = None if whole is None else whole.object("rotation")
        if rotation is None:
            return None
        return rotation.row("source", count, "node"), rotation.number("weight", 1.0)
    except AssetError:
        return None


def constraint_json(link: Link) -> dict[str, Any]:
    """What drives a link: a rotation constraint.

    A twist link takes all of the turn: constraints know the swing with all of the
    twist, or the twist without the swing, which would tear the skin. So a swing link
    takes its part of all of it, too.
    """
    weight = link.fraction if link.axis is None or link.is_swing else 1.0
    rotation = {"source": link.joint, "weight": weight}
    return {"specVersion": "1.0", "constraint": {"rotation": rotation}}
