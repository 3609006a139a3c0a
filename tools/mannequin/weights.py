"""Skin weights: smooth steps along each chain of bones, then a little diffusion.

Each vertex first belongs to a part of the body (field.PARTS), so nothing can leak from
leg to leg, finger to finger or arm to chest through the air. Within a part, weights
step from one joint to the next across a plane at the joint. Diffusing over the mesh
then softens the borders of the parts. At most four joints a vertex, rows sum to 1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from tools.mannequin.body import Skin
from tools.mannequin.field import PARTS, BodyField, nearest_part
from tools.mannequin.nodes import FINGERS, NodeTable
from tools.mannequin.rotation import normalize

INFLUENCES = 4
_SMOOTHINGS = 5
_FAINT = 0.008


def build_weights(
    skin: Skin, field: BodyField, nodes: NodeTable
) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Joints uint16 (V, 4) and weights float32 (V, 4) of the skin, heaviest first."""
    flip = np.array([-1.0, 1.0, 1.0])
    left = np.where(skin.positions[:, :1] < 0.0, skin.positions * flip, skin.positions)
    weights = _Steps(field, nodes).weights(left)
    other = mirror_nodes(nodes)
    right = skin.positions[:, 0] < 0.0
    weights[right] = weights[right][:, other]
    spread = _averaging(skin)
    part = nearest_part(field, left)
    for _ in range(_SMOOTHINGS):
        weights = 0.5 * weights + 0.5 * (spread @ weights)
        _part_fingers(weights, part, nodes)
    weights = 0.5 * (weights + weights[skin.twin][:, other])
    return _heaviest(weights)


def mirror_nodes(nodes: NodeTable) -> NDArray[np.intp]:
    """Row of each node's mirror image, (J,)."""
    swap = {"l-": "r-", "r-": "l-"}
    names = [swap.get(n[:2], n[:2]) + n[2:] for n in nodes.names]
    return np.array([nodes.index(name) for name in names], np.intp)


def smooth_step(value: Doubles) -> Doubles:
    """Cubic step from 0 to 1 while value goes from -0.5 to 0.5."""
    t = np.clip(value + 0.5, 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


class _Steps:
    """Weights before diffusion, for points of the left half."""

    def __init__(self, field: BodyField, nodes: NodeTable) -> None:
        self._field = field
        self._nodes = nodes

    def weights(self, points: Doubles) -> Doubles:
        """Dense weights (V, J) of points (V, 3), x >= 0."""
        distances = self._field.part_distances(points)
        table = np.stack([distances[part] for part in PARTS])
        part = np.argmin(table, axis=0)
        torso = self._torso(points)
        leg, leg_share = self._leg(points), self._leg_share(points)
        arm, arm_share = self._arm(points), self._arm_share(points)
        result = torso.copy()
        is_leg = np.isin(part, [PARTS.index("leg"), PARTS.index("foot")])
        lower = is_leg | ((part == PARTS.index("torso")) & (points[:, 1] < 1.02))
        share = np.where(lower, leg_share, 0.0)[:, None]
        result = (1.0 - share) * result + share * leg
        limb = [PARTS.index(p) for p in ("arm", "hand", *FINGERS)]
        share = np.where(np.isin(part, limb), arm_share, 0.0)[:, None]
        result = (1.0 - share) * result + share * arm
        for finger in FINGERS:
            result = self._with_finger(result, finger, points, part, distances)
        return result

    def _chain(
        self, points: Doubles, names: Sequence[str], widths: Sequence[float]
    ) -> Doubles:
        """Weights (V, J) along a chain; widths of the step into each later joint."""
        nodes = self._nodes
        rows = nodes.indices(*names)
        result = np.zeros((len(points), len(nodes.names)))
        left = np.ones(len(points))
        past = np.ones(len(points))
        for before, row, width in zip(rows[:-1], rows[1:], widths, strict=True):
            normal = normalize(nodes.frames[before, :, 0] + nodes.frames[row, :, 0])
            along = (points - nodes.positions[row]) @ normal
            past = np.minimum(past, smooth_step(along / width))
            result[:, before] = left - past
            left = past
        result[:, rows[-1]] = left
        return result

    def _torso(self, points: Doubles) -> Doubles:
        """Spine, neck and head by height; collar bone by how far out and up."""
        raised = points + np.array([0.0, 0.6, 0.0]) * points[:, 2:]
        is_high = points[:, 1] > 1.53
        straight = np.where(is_high[:, None], raised, points)
        straight[:, 2] = 0.0
        names = ("hips", "spine0", "spine1", "chest", "neck", "head")
        result = self._chain(straight, names, (0.10, 0.10, 0.11, 0.07, 0.05))
        chest, collar = self._nodes.indices("chest", "l-shoulder")
        out = smooth_step((points[:, 0] - 0.115) / 0.11)
        up = smooth_step((points[:, 1] - 1.385) / 0.11)
        moved = result[:, chest] * out * up
        result[:, collar] = moved
        result[:, chest] -= moved
        return result

    def _arm(self, points: Doubles) -> Doubles:
        names = ("arm", "arm-roll", "elbow", "elbow-roll", "wrist", "hand")
        widths = (0.20, 0.068, 0.18, 0.042, 0.040)
        return self._chain(points, [f"l-{n}" for n in names], widths)

    def _arm_share(self, points: Doubles) -> Doubles:
        row = self._nodes.index("l-arm")
        along = (points - self._nodes.positions[row]) @ self._nodes.frames[row, :, 0]
        return smooth_step((along - 0.005) / 0.12)

    def _leg(self, points: Doubles) -> Doubles:
        names = [f"l-{n}" for n in ("hip", "hip-roll", "knee", "knee-roll", "ankle")]
        result = self._chain(points, names, (0.26, 0.095, 0.24, 0.055))
        ankle, foot, toe = self._nodes.indices("l-ankle", "l-foot", "l-toe")
        forward = points[:, 2]
        front = smooth_step((forward - 0.020) / 0.05)
        tip = smooth_step((forward - self._nodes.positions[toe, 2]) / 0.040)
        whole = result[:, ankle].copy()
        result[:, ankle] = whole * (1.0 - front)
        result[:, foot] = whole * (front - tip)
        result[:, toe] = whole * tip
        return result

    def _leg_share(self, points: Doubles) -> Doubles:
        """How much the leg takes, across the fold from crotch to outer hip."""
        away = points - self._nodes.positions[self._nodes.index("l-hip")]
        across = away @ normalize([0.50, -0.87, 0.0])
        fold = smooth_step((across - 0.012) / 0.105)
        side = smooth_step(points[:, 0] / 0.06 - 0.4)
        below = smooth_step((across - 0.040) / 0.04)
        return np.asarray(fold * np.maximum(side, below))

    def _with_finger(
        self,
        weights: Doubles,
        finger: str,
        points: Doubles,
        part: NDArray[np.intp],
        distances: dict[str, Doubles],
    ) -> Doubles:
        """Hand over to one finger on its own part, and a little on the palm by it."""
        names = ["l-hand", *(f"l-{finger}{i}" for i in range(3))]
        root = 0.030 if finger == "thumb" else 0.020
        chain = self._chain(points, names, (root, 0.012, 0.011))
        # The first plane stands across the finger itself, not half-way to the hand.
        row = self._nodes.index(names[1])
        along = (points - self._nodes.positions[row]) @ self._nodes.frames[row, :, 0]
        chain[:, row] += chain[:, self._nodes.index("l-hand")]
        chain[:, self._nodes.index("l-hand")] = 0.0
        share = smooth_step(along / root)
        own = part == PARTS.index(finger)
        reach = 0.016 if finger == "thumb" else 0.010
        near = smooth_step(0.5 - distances[finger] / reach)
        on_palm = part == PARTS.index("hand")
        share = np.where(own, share, np.where(on_palm, share * near, 0.0))[:, None]
        return np.asarray((1.0 - share) * weights + share * chain)


def _part_fingers(weights: Doubles, part: NDArray[np.intp], nodes: NodeTable) -> None:
    """Give what a finger's skin took from other fingers back to the hand, in place."""
    for side in "lr":
        hand = nodes.index(f"{side}-hand")
        rows = {
            f: nodes.indices(*(f"{side}-{f}{i}" for i in range(3))) for f in FINGERS
        }
        for finger in FINGERS:
            others = np.array([r for f in FINGERS if f != finger for r in rows[f]])
            own = np.flatnonzero(part == PARTS.index(finger))
            stray = weights[np.ix_(own, others)]
            weights[own, hand] += stray.sum(axis=1)
            weights[np.ix_(own, others)] = 0.0


def _averaging(skin: Skin) -> Any:
    """Sparse (V, V): the mean over neighbours, nearer ones counting more."""
    from scipy.sparse import coo_array, csr_array

    edges = np.concatenate([skin.faces[:, [0, 1]], skin.faces[:, [1, 2]]])
    edges = np.concatenate([edges, skin.faces[:, [2, 0]]])
    i, j = np.concatenate([edges, edges[:, ::-1]]).T
    gap = np.linalg.norm(skin.positions[i] - skin.positions[j], axis=1)
    count = len(skin.positions)
    links = coo_array((1.0 / gap, (i, j)), shape=(count, count)).tocsr()
    total = np.asarray(links.sum(axis=1)).ravel()
    return csr_array(links.multiply(1.0 / total[:, None]))


def _heaviest(weights: Doubles) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Keep the four heaviest joints of each row (V, J) and rescale them to sum 1."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, :INFLUENCES]
    kept = np.take_along_axis(weights, order, axis=1)
    kept = np.where(kept < _FAINT, 0.0, kept)
    kept = (kept / kept.sum(axis=1, keepdims=True)).astype(np.float32)
    kept[:, 0] += np.float32(1.0) - kept.sum(axis=1, dtype=np.float32)
    joints = np.where(kept > 0.0, order, 0).astype(np.uint16)
    return joints, kept
