"""Weights of one side of a body copied to the other."""

from __future__ import annotations

from typing import Literal

import numpy as np

from flexor.arrays import Ints
from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import Body, Pull, merge_same
from flexor.convert.weights.transfer_weights import transfer_pull
from flexor.errors import SettingError
from flexor.scene.character.mirror_pairs import find_mirror
from flexor.scene.finding import Finding

__all__ = ["Side", "mirror_pass", "mirror_weights"]

Side = Literal["left", "right"]

IN_PLANE = 1e-4  # of the body's size


def mirror_pass(task: BodyTask, *, mirror: Side) -> Mended:
    """The weights of one side on both; a body that has no sides stays as it is."""
    task.note("mirroring")
    pull = task.body.pull
    try:
        return Mended(mirror_weights(task.body, pull, source=mirror))
    except SettingError as error:  # a hat, say; refused if no body can be mirrored
        found = Finding("warning", "not-mirrored", task.where, str(error))
        return Mended(pull, (found,))


def mirror_weights(body: Body, pull: Pull, *, source: Side) -> Pull:
    """The pull of a body's V vertices with one side's weights on both sides.

    source: the side that is copied, by the names of the joints. Each vertex of the
    other side takes the weights of the point of the source side's surface that is
    nearest to its mirror image, with left and right joints swapped. Vertices in the
    plane between the sides, within 1e-4 of the body's size, get the mean of their own
    weights and those swapped. Vertices of the source side stay as they are, to the bit.
    """
    if source not in ("left", "right"):
        raise SettingError(f"source: {source!r}, expected 'left' or 'right'")
    mirror = find_mirror(body.names, body.frames)
    away = mirror.away(body.positions) * (1 if source == "left" else -1)
    slack = IN_PLANE * body.size
    faces = body.faces[(away[body.faces] >= -slack).all(1)]
    targets = np.flatnonzero(away < -slack).astype(np.int32)
    middle = np.flatnonzero(np.abs(away) <= slack).astype(np.int32)
    if len(targets) and not len(faces):
        raise SettingError(f"the body has no triangles on its {source} side")
    width = max(pull.joints.shape[1], 8)
    out = pull.widened(width)
    own = pull.take(middle)
    twice = np.concatenate([own.joints, _swapped(own, mirror.twins)], 1)
    _put(out, middle, merge_same(twice, np.tile(own.weights, 2)))
    if len(targets):
        # Vertices in the plane are seen as they come out: alike from both sides.
        images = mirror.reflect(body.positions[targets])
        found, _ = transfer_pull(body.positions, faces, out, images)
        _put(out, targets, Pull(_swapped(found, mirror.twins), found.weights))
    return out


def _swapped(pull: Pull, twins: Ints) -> Ints:
    """Joints (R, K) of a pull, left and right exchanged."""
    return np.where(pull.joints >= 0, twins[pull.joints], -1).astype(np.int32)


def _put(out: Pull, rows: Ints, new: Pull) -> None:
    """Write rows of a pull; of those wider than it the largest weights."""
    width = out.joints.shape[1]
    if new.joints.shape[1] > width:
        new = merge_same(new.joints[:, :width], new.weights[:, :width])
    out.joints[rows], out.weights[rows] = -1, 0
    out.joints[rows, : new.joints.shape[1]] = new.joints
    out.weights[rows, : new.joints.shape[1]] = new.weights
