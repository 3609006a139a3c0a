"""The runtime form of a character: its scene, and what was made of it to run fast."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexor.arrays import Ints
from flexor.errors import ShapeError
from flexor.scene.runtime.envelope import Envelope, Envelopes, SomeEnvelopes
from flexor.scene.runtime.layout import (
    END,
    MODEL,
    MORPH_NODE,
    NODE,
    OP,
    OWNER,
    PRIMITIVE,
    VERTICES,
)
from flexor.scene.runtime.levels import Levels
from flexor.scene.scene import Scene

__all__ = ["GivenEnvelopes", "Package", "check_envelope", "check_envelopes"]

GivenEnvelopes = Envelopes | SomeEnvelopes | None


class Package:
    """A scene, the envelopes that were made of it, and its levels of detail, if any.

    Each may be given by a function, which is called when it is first asked for (those
    for envelopes and levels with the scene): few uses of a file need all that is in it.
    """

    def __init__(
        self,
        scene: Scene | Callable[[], Scene],
        envelopes: GivenEnvelopes | Callable[[Scene], GivenEnvelopes],
        levels: Levels | Callable[[Scene], Levels | None] | None = None,
    ) -> None:
        self._scene = scene
        self._envelopes = envelopes
        self._levels = levels

    @property
    def scene(self) -> Scene:
        """All that the file says, in the file's order."""
        if not isinstance(self._scene, Scene):
            self._scene = self._scene()
        return self._scene

    @property
    def envelopes(self) -> GivenEnvelopes:
        """With all weights and with one, as far as they were kept; None: nobody has
        said which are to be.
        """
        if callable(self._envelopes):
            self._envelopes = self._envelopes(self.scene)
        return self._envelopes

    @property
    def levels(self) -> Levels | None:
        """The levels of detail; None: it has none."""
        if self._levels is not None and not isinstance(self._levels, Levels):
            self._levels = self._levels(self.scene)
        return self._levels


def check_envelopes(envelopes: Envelopes | SomeEnvelopes, scene: Scene) -> None:
    """Refuse envelopes that are not of a scene."""
    if not isinstance(envelopes, Envelopes | SomeEnvelopes):
        raise ShapeError(f"envelopes: {type(envelopes).__name__}, expected Envelopes")
    for envelope in (envelopes.multi, envelopes.one):
        if envelope is None and isinstance(envelopes, SomeEnvelopes):
            continue
        if not isinstance(envelope, Envelope):
            raise ShapeError(f"envelopes: {type(envelope).__name__}, expected Envelope")
        check_envelope(envelope, scene)


def check_envelope(envelope: Envelope, scene: Scene) -> None:
    """Refuse what the scene does not have: nodes, primitives, vertices, targets."""
    if not (np.isfinite(envelope.data).all() and np.isfinite(envelope.deltas).all()):
        raise ShapeError("data, deltas: must be finite")
    count = len(scene.skeleton)
    lists = envelope.steps[envelope.steps[:, OP] <= END]
    _check_nodes("steps: model", lists[:, MODEL], count)
    _check_nodes("parts: owner", envelope.parts[:, OWNER], count)
    _check_nodes("parts: node", envelope.parts[:, NODE], count)
    _check_nodes("morphs: node", envelope.morphs[:, MORPH_NODE], count)
    _check_order(envelope, scene)
    for node, target in set(map(tuple, envelope.morphs[:, :2].tolist())):
        mesh = int(scene.node_mesh[node])
        if mesh < 0 or target >= len(scene.meshes[mesh].morph_weights):
            raise ShapeError(f"morphs: node {node} has no target {target}")


def _check_order(envelope: Envelope, scene: Scene) -> None:
    """Refuse parts that are not all vertices of all that is shown, and nothing else."""
    shown = np.flatnonzero(scene.shown_nodes() & (scene.node_mesh >= 0)).tolist()
    sizes = [sum(len(p) for p in mesh.primitives) for mesh in scene.meshes]
    if sum(sizes[scene.node_mesh[node]] for node in shown) > len(envelope.order):
        raise ShapeError("order: vertices of the scene lack")
    is_there = {
        (node, row): np.zeros(len(primitive), bool)
        for node in shown
        for row, primitive in enumerate(scene.meshes[scene.node_mesh[node]].primitives)
    }
    at = 0
    for part in envelope.parts.tolist():
        place = part[NODE], part[PRIMITIVE]
        order = envelope.order[at : at + part[VERTICES]]
        at += part[VERTICES]
        own = is_there.get(place)
        if own is None:
            raise ShapeError(f"parts: primitive {place[1]} at node {place[0]}")
        if order.size and int(order.max()) >= len(own):
            raise ShapeError(f"order: a vertex that node {place[0]} does not have")
        own[order] = True
    for (node, row), own in is_there.items():
        if not own.all():
            raise ShapeError(f"order: vertices of primitive {row} at node {node} lack")


def _check_nodes(name: str, rows: Ints, count: int) -> None:
    if rows.size and not (0 <= rows.min() and rows.max() < count):
        raise ShapeError(f"{name}: must lie in 0..{count - 1}")
