"""Left and right: which joints are twins, and where the plane between them is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.errors import SettingError

__all__ = ["Mirror", "find_mirror", "mirror_pairs", "swap_side"]

NEAR = 0.05  # of the skeleton's size: twins mirror each other this closely
# Where in a name a side may stand: the whole word anywhere; a letter that separators
# set apart; a small letter before a word (lThigh); a capital after one (ThighL).
_SIDES = (
    re.compile(r"left|right", re.IGNORECASE),
    re.compile("[左右]"),
    re.compile(r"(?:(?<=^)|(?<=[\s._:|-]))[lr](?=$|[\s._:|-])", re.IGNORECASE),
    re.compile(r"(?:(?<=^)|(?<=[\s._:|-]))[lr](?=[A-Z])"),
    re.compile(r"(?<=[a-z0-9])[LR](?=$|[\s._:|\d-])"),
)
_OTHER = {"left": "right", "right": "left", "l": "r", "r": "l", "左": "右", "右": "左"}
_LEFT = {"left", "l", "左"}
_NUMBER = re.compile(r"[\s._-]*\d+_?$")
LOOKED_FOR = (
    "names such as LeftArm and RightArm, leftHand, arm.L and arm.R, arm_l, l-arm, "
    "J_Bip_L_Hand, lThigh, ThighL"
)


@dataclass(frozen=True, slots=True, eq=False)
class Mirror:
    """The plane between left and right, and each joint's twin across it.

    axis: 0 to 2, across the plane; middle: where the plane is on that axis; sign: 1 if
    left is where the coordinate is larger, else -1; twins: int32 (S,), rows, itself
    where a joint has none.
    """

    axis: int
    middle: float
    sign: int
    twins: Ints

    def away(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """How far to the left of the plane each of points (P, 3) is, (P,)."""
        across: NDArray[np.float64] = self.sign * (
            points[:, self.axis].astype(np.float64) - self.middle
        )
        return across

    def reflect(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Points (P, 3) on the other side of the plane."""
        out = points.astype(np.float64)
        out[:, self.axis] = 2 * self.middle - out[:, self.axis]
        return out


def mirror_pairs(names: Sequence[str], frames: NDArray[np.floating]) -> Ints:
    """For each joint its twin on the other side, itself where there is none: (S,).

    names: of S joints; frames: (S, 3, 4), mesh_from_joint. Twins are found by name and
    must stand where the other's mirror image is.
    """
    if not _candidates(names):
        return np.arange(len(names), dtype=np.int32)
    return find_mirror(names, frames).twins


def find_mirror(names: Sequence[str], frames: NDArray[np.floating]) -> Mirror:
    """The plane and the pairs; refuses joints of which no two are left and right.

    names: of S joints; frames: (S, 3, 4), mesh_from_joint. The plane stands across one
    of the three axes: where most pairs by name mirror each other, and among those best
    in the sense of least squares.
    """
    pairs = _candidates(names)
    if not pairs:
        raise SettingError(f"no left and right joints: looked for {LOOKED_FOR}")
    left, right = np.array(pairs, np.intp).T
    places = frames[:, :, 3].astype(np.float64)
    near = NEAR * max(float(np.ptp(places, axis=0).max()), 1e-6)
    axis, middle = _fit(places[left], places[right], near)
    is_twin = _gaps(places[left], places[right], axis, middle) <= near
    across = (places[left, axis] - places[right, axis])[is_twin]
    twins = np.arange(len(names), dtype=np.int32)
    mirror = Mirror(axis, middle, 1 if across.sum() >= 0 else -1, twins)
    for one, other in _exact_pairs(names):
        gap = _gaps(places[[one]], places[[other]], axis, middle)[0]
        if gap <= near:
            twins[one], twins[other] = other, one
    _pair_by_place(names, places, mirror, near)
    sided = np.unique(pairs)
    found = int((twins[sided] != sided).sum())
    if 2 * found < len(sided) or not np.abs(across).max(initial=0) > 0:
        some = f"{names[left[0]]!r} and {names[right[0]]!r}"
        raise SettingError(
            f"{found} of {len(sided)} joints such as {some} mirror each other across "
            "an axis in the bind pose; at least half must, and not stand in one place"
        )
    return mirror


def _gaps(
    left: NDArray[np.float64], right: NDArray[np.float64], axis: int, middle: float
) -> NDArray[np.float64]:
    """How far each pair of (Q, 3) is from mirroring each other, (Q,)."""
    image = left.copy()
    image[:, axis] = 2 * middle - image[:, axis]
    gaps: NDArray[np.float64] = np.linalg.norm(image - right, axis=1)
    return gaps


def _fit(
    left: NDArray[np.float64], right: NDArray[np.float64], near: float
) -> tuple[int, float]:
    """Axis and middle of the plane between most pairs of (Q, 3).

    Each pair proposes the plane halfway; names may mislead, so the most count.
    """
    best: tuple[int, float, int, NDArray[np.bool_]] | None = None
    for axis in range(3):
        for middle in np.unique((left + right)[:, axis] / 2).tolist():
            gaps = _gaps(left, right, axis, middle)
            is_near = gaps <= near
            rank = -int(is_near.sum()), float(np.square(gaps[is_near]).sum())
            if best is None or rank < best[:2]:
                best = *rank, axis, is_near
    assert best is not None
    axis, is_near = best[2:]
    chosen = is_near if is_near.any() else ~is_near
    return axis, float((left + right)[chosen, axis].mean() / 2)


def _pair_by_place(
    names: Sequence[str], places: NDArray[np.float64], mirror: Mirror, near: float
) -> None:
    """Pair joints without a twin that are called alike but for side and number.

    Of such a family, those that are nearest to each other's mirror image.
    """
    alone = [row for row in range(len(names)) if mirror.twins[row] == row]
    for left, right in _families(names, alone):
        images = mirror.reflect(places[left])
        gaps = np.linalg.norm(images[:, None] - places[right], axis=2)
        for i, j in enumerate(np.argmin(gaps, axis=1).tolist()):
            if gaps[i, j] <= near and int(np.argmin(gaps[:, j])) == i:
                mirror.twins[left[i]] = right[j]
                mirror.twins[right[j]] = left[i]


def swap_side(name: str) -> list[tuple[str, bool]]:
    """What the twin of a joint may be called, and whether the joint itself is left."""
    found = []
    for pattern in _SIDES:
        for match in pattern.finditer(name):
            word = match[0]
            other = _OTHER[word.lower()]
            if word.isupper():
                other = other.upper()
            elif word[0].isupper():
                other = other.capitalize()
            swapped = name[: match.start()] + other + name[match.end() :]
            found.append((swapped, word.lower() in _LEFT))
    return found


def _candidates(names: Sequence[str]) -> list[tuple[int, int]]:
    """Rows of left and right joints that may be pairs, by their names.

    Names that differ in the side alone; where there are none, all that are called alike
    but for side and number.
    """
    exact = _exact_pairs(names)
    if exact:
        return exact
    families = _families(names, list(range(len(names))))
    return [(one, other) for left, right in families for one in left for other in right]


def _exact_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Rows of left and right joints whose names differ in the side alone."""
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    rows = {name: row for row, name in reversed(list(enumerate(names)))}
    for row, name in enumerate(names):
        for other, is_left in swap_side(name):
            twin = rows.get(other, row)
            if is_left and twin != row and not {row, twin} & taken:
                pairs.append((row, twin))
                taken |= {row, twin}
    return pairs


def _families(
    names: Sequence[str], rows: list[int]
) -> list[tuple[list[int], list[int]]]:
    """Left and right rows, of those given, called alike but for side and number."""
    sides: dict[str, tuple[list[int], list[int]]] = {}
    for row in rows:
        stem = _NUMBER.sub("", names[row])
        for other, is_left in swap_side(stem):
            family = sides.setdefault(stem if is_left else other, ([], []))
            family[not is_left].append(row)
    return [family for family in sides.values() if family[0] and family[1]]
