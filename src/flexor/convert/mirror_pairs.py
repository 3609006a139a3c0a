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
    if not _name_pairs(names):
        return np.arange(len(names), dtype=np.int32)
    return find_mirror(names, frames).twins


def find_mirror(names: Sequence[str], frames: NDArray[np.floating]) -> Mirror:
    """The plane and the pairs; refuses joints of which no two are left and right.

    names: of S joints; frames: (S, 3, 4), mesh_from_joint. The plane stands across the
    axis on which the pairs mirror each other best, in the sense of least squares.
    """
    pairs = _name_pairs(names)
    if not pairs:
        raise SettingError(f"no left and right joints: looked for {LOOKED_FOR}")
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    places = frames[:, :, 3].astype(np.float64)
    near = NEAR * max(float(np.ptp(places, axis=0).max()), 1e-6)
    axis, middle, gaps = _fit(places[left], places[right])
    if (gaps <= near).any():  # again, without those that are no twins
        axis, middle, gaps = _fit(
            places[left], places[right], weights=(gaps <= near).astype(float)
        )
    across = places[left, axis] - places[right, axis]
    is_twin = gaps <= near
    if not is_twin.any() or not np.abs(across[is_twin]).max() > 0:
        some = f"{names[left[0]]!r} and {names[right[0]]!r}"
        raise SettingError(
            f"joints such as {some} do not mirror each other across any axis "
            "in the bind pose"
        )
    twins = np.arange(len(names), dtype=np.int32)
    twins[left[is_twin]] = right[is_twin]
    twins[right[is_twin]] = left[is_twin]
    sign = 1 if across[is_twin].sum() >= 0 else -1
    mirror = Mirror(axis, middle, sign, twins)
    _pair_by_place(names, places, mirror, near)
    return mirror


def _pair_by_place(
    names: Sequence[str], places: NDArray[np.float64], mirror: Mirror, near: float
) -> None:
    """Pair joints that have a side but no twin and are called alike but for numbers.

    Of such a family, those that are nearest to each other's mirror image.
    """
    alone = [row for row in range(len(names)) if mirror.twins[row] == row]
    sides: dict[str, tuple[list[int], list[int]]] = {}  # left and right of each family
    for row in alone:
        stem = _NUMBER.sub("", names[row])
        for other, is_left in swap_side(stem):
            family = sides.setdefault(stem if is_left else other, ([], []))
            family[not is_left].append(row)
    for left, right in sides.values():
        if not left or not right:
            continue
        images = mirror.reflect(places[left])
        gaps = np.linalg.norm(images[:, None] - places[right], axis=2)
        for i, j in enumerate(np.argmin(gaps, axis=1).tolist()):
            if gaps[i, j] <= near and int(np.argmin(gaps[:, j])) == i:
                mirror.twins[left[i]] = right[j]
                mirror.twins[right[j]] = left[i]


def _fit(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> tuple[int, float, NDArray[np.float64]]:
    """Axis and middle of the best plane between pairs (Q, 3), and how far each pair is
    from mirroring the other, (Q,).
    """
    amounts = np.ones(len(left)) if weights is None else weights
    best: tuple[float, int, float, NDArray[np.float64]] | None = None
    for axis in range(3):
        middle = float(np.average((left + right)[:, axis] / 2, weights=amounts))
        image = left.copy()
        image[:, axis] = 2 * middle - image[:, axis]
        gaps = np.linalg.norm(image - right, axis=1)
        error = float((amounts * gaps**2).sum())
        if best is None or error < best[0]:
            best = error, axis, middle, gaps
    assert best is not None
    return best[1:]


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


def _name_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Rows of left and right joints, by their names.

    First names that differ in the side alone, then those that also differ in a number
    at the end, where no other could be meant.
    """
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    rows = {name: row for row, name in reversed(list(enumerate(names)))}
    for row, name in enumerate(names):
        for other, is_left in swap_side(name):
            twin = rows.get(other, row)
            if is_left and twin != row and not {row, twin} & taken:
                pairs.append((row, twin))
                taken |= {row, twin}
    stems: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        if row not in taken:
            stems.setdefault(_NUMBER.sub("", name), []).append(row)
    for stem, mine in stems.items():
        for other, is_left in swap_side(stem):
            theirs = stems.get(other, [])
            if is_left and len(mine) == 1 and len(theirs) == 1 and other != stem:
                if not {mine[0], theirs[0]} & taken:
                    pairs.append((mine[0], theirs[0]))
                    taken |= {mine[0], theirs[0]}
    return sorted(pairs)
