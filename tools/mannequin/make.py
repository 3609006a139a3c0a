"""The whole recipe: skeleton, skin, weights, texture and clips as plain arrays.

Run once to make the shipped file; deterministic, so the same versions of the tools give
the same bytes. Needs SciPy, scikit-image, fast-simplification and Pillow.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from tools.mannequin.body import build_skin
from tools.mannequin.clips import ClipParts, build_clips
from tools.mannequin.field import BodyField
from tools.mannequin.nodes import build_nodes
from tools.mannequin.surface import paint_wood
from tools.mannequin.unwrap import build_charts
from tools.mannequin.weights import build_weights


@dataclass(frozen=True, slots=True, eq=False)
class MannequinParts:
    """Everything the mannequin is made of; metres, Y up, facing +Z.

    names: J node names; parents: int32 (J,), -1 for the root; translations (J, 3) and
    rotations (J, 4) xyzw: local rest, float32.
    positions, normals: float32 (V, 3); texcoords: float32 (V, 2), v down;
    faces: int32 (F, 3), counter-clockwise seen from outside.
    joints: uint16 (V, 4); weights: float32 (V, 4), rows sum to 1.
    texture_png: base colour, 256 x 256; clips: see `ClipParts`.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int32]
    translations: Floats
    rotations: Floats
    positions: Floats
    normals: Floats
    texcoords: Floats
    faces: NDArray[np.int32]
    joints: NDArray[np.uint16]
    weights: Floats
    texture_png: bytes
    clips: tuple[ClipParts, ...]


def make_mannequin() -> MannequinParts:
    """Make the mannequin; about 20 s.

    Vertices on chart borders appear twice with the same position, normal and weights.
    """
    nodes = build_nodes()
    field = BodyField(nodes)
    skin = build_skin(field, nodes)
    joints, weights = build_weights(skin, field, nodes)
    charts = build_charts(skin, field, nodes)
    return MannequinParts(
        names=nodes.names,
        parents=nodes.parents,
        translations=nodes.translations.astype(np.float32),
        rotations=nodes.rotations.astype(np.float32),
        positions=skin.positions[charts.source].astype(np.float32),
        normals=skin.normals[charts.source].astype(np.float32),
        texcoords=charts.texcoords,
        faces=charts.faces,
        joints=joints[charts.source],
        weights=weights[charts.source],
        texture_png=paint_wood(skin, charts, field, nodes, joints),
        clips=build_clips(nodes),
    )
