"""Limits of joints in a text file (TOML), read and written.

    [joint."*ForeArm"]       # a name, or a pattern such as those of a shell
    z = [-5, 150]            # degrees from the rest about the axis it bends about
    y = [-15, 15]            # about the axis across that and the bone
    x = [-90, 90]            # twist, about the bone
    rate = 1000              # degrees a second
    bend = [0, -1, 0]        # the axis of z, in model space at rest
    tip = "LeftHand"         # the node that the bone points at

What is left out is free, or stays as it was. A joint that several tables name takes
all their words, later ones before earlier ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.errors import SettingError
from flexor.files.text.toml_text import Keys, TomlFile, Words, open_toml, say_known
from flexor.maths import exact, quaternions
from flexor.scene.character.bone_frames import (
    bone_frame,
    node_axes,
    square,
    usual_along,
)
from flexor.scene.character.limits import FREE, Limits, free_limits
from flexor.scene.character.skeleton import Skeleton, rest_world

__all__ = ["limits_text", "read_limits"]

AXES = "zyx"  # in the order of the columns
TOP: Words = {"joint": (dict, "joint")}
JOINT: Words = {
    **{axis: (tuple, axis) for axis in AXES},
    "rate": (float, "rate"),
    "bend": (tuple, "bend"),
    "along": (tuple, "along"),
    "tip": (str, "tip"),
}
LEAST_ACROSS = 0.02  # sine of the angle between a bone and the axis it bends about
SAME = 1e-6  # of a unit vector: two that differ by less are one


def read_limits(
    path: str | Path, skeleton: Skeleton, base: Limits | None = None
) -> Limits:
    """The limits that a file gives the joints of a skeleton.

    base: what holds where the file says nothing, such as `human_limits(skeleton)`;
    None: everything is free there. AssetError with line and key where the file is
    wrong, names a joint that is not there, or does not allow the rest.
    """
    file = open_toml(path)
    tables = file.table(file.given, TOP, (), _check).get("joint", {})
    start = free_limits(len(skeleton)) if base is None else base
    if len(start) != len(skeleton):
        raise SettingError(
            f"base: limits of {len(start)} joints, expected {len(skeleton)}"
        )
    words: dict[int, dict[str, Any]] = {}
    for pattern, table in tables.items():
        keys: Keys = ("joint", pattern)
        if not isinstance(table, dict):
            raise file.refuse(keys, "expected a table")
        own = file.table(table, JOINT, keys, _check)
        nodes = _matching(skeleton, pattern)
        if not nodes:
            there = say_known(pattern, skeleton.names)
            raise file.refuse(keys, f"no such node; {there}")
        if "tip" in own and own["tip"] not in skeleton.names:
            there = say_known(own["tip"], skeleton.names)
            raise file.refuse((*keys, "tip"), f"no node {own['tip']!r}; {there}")
        for node in nodes:
            _check_tip(file, keys, skeleton, node, own)
            words[node] = words.get(node, {}) | own
            if "bend" in own:
                words[node]["keys of bend"] = (*keys, "bend")
    try:
        return _build(skeleton, start, words)
    except _BentAlongError as error:
        name = skeleton.names[error.node]
        fault = f"lies along the bone of {name!r}; expected an axis across it"
        raise file.refuse(words[error.node]["keys of bend"], fault) from None


class _BentAlongError(Exception):
    """The axis about which a bone bends is that along which it lies."""

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self.node = node


def _check(**words: Any) -> None:
    """Refuse values that mean nothing."""
    for name, value in words.items():
        if name in AXES:
            most = round(math.degrees(FREE[AXES.index(name)]))
            good = len(value) == 2 and -most <= value[0] <= 0 <= value[1] <= most
            wanted = f"two angles, -{most} to 0 and 0 to {most}: the rest is in between"
        elif name == "rate":
            good, wanted = value > 1e-6, "degrees a second, above 0"
        elif name in ("bend", "along"):
            good = len(value) == 3 and all(abs(one) < 1e9 for one in value)
            good = good and any(abs(one) > 1e-9 for one in value)
            wanted = "three numbers, not all 0"
        else:
            continue
        if not good:
            raise SettingError(f"{name}: {value!r}, expected {wanted}")


def _matching(skeleton: Skeleton, pattern: str) -> list[int]:
    """The nodes of a name; where there are none, of a number (#12) or a pattern."""
    names = skeleton.names
    exact = [node for node, name in enumerate(names) if name == pattern]
    if exact:
        return exact
    number = pattern.removeprefix("#")
    if number != pattern and number.isdecimal():
        row = int(number) if len(number) < 10 else len(names)
        return [row] if row < len(names) else []
    return [node for node, name in enumerate(names) if fnmatchcase(name, pattern)]


def _check_tip(
    file: TomlFile,
    keys: Keys,
    skeleton: Skeleton,
    node: int,
    own: Mapping[str, Any],
) -> None:
    """Refuse a tip that is the joint itself, and two words for where a bone points."""
    fault = ""
    if "tip" in own and "along" in own:
        fault = "tip and along both say where the bone points; expected one of them"
    elif "tip" in own and skeleton.index(own["tip"]) == node:
        fault = f"tip: {own['tip']!r} is the joint itself"
    if fault:
        raise file.refuse(keys, fault)


def _build(
    skeleton: Skeleton, start: Limits, words: Mapping[int, Mapping[str, Any]]
) -> Limits:
    """Limits with words by node put over others."""
    frames, rates = start.frames.copy(), start.rates.copy()
    low, high = start.low.copy(), start.high.copy()
    places, axes = rest_world(skeleton)[:, :, 3], node_axes(skeleton)
    for node, own in words.items():
        for column, axis in enumerate(AXES):
            if axis in own:
                low[node, column], high[node, column] = map(math.radians, own[axis])
        if "rate" in own:
            rate = math.radians(own["rate"])
            rates[node] = rate if rate < 1e30 else math.inf
        if own.keys() <= {"rate"}:
            continue
        is_known = bool(start.limited[node]) and not {"tip", "along"} & own.keys()
        if is_known and "bend" not in own:
            continue
        if not abs(exact.det(axes[node])) > 0:
            continue  # flattened: it has no axes
        along = _along(skeleton, node, own, places)
        if is_known:
            frame = quaternions.to_matrix(start.frames[node].astype(np.float64))
            along = exact.multiply(axes[node], frame[:, 0])
            along /= exact.norm(along)
        axis_z = _usual_bend(along)
        if "bend" in own:
            given = np.array(own["bend"], float)
            given /= exact.norm(given)
            if float(exact.norm(np.cross(given, along))) < LEAST_ACROSS:
                raise _BentAlongError(node)
            axis_z = square(given, along)
        frames[node] = bone_frame(axes[node], along, np.cross(axis_z, along))
    return Limits(frames, low, high, rates)


def _along(
    skeleton: Skeleton,
    node: int,
    own: Mapping[str, Any],
    places: NDArray[np.float64],
) -> Doubles:
    """Where a bone points at rest, a unit vector (3,)."""
    way = np.zeros(3)
    if "along" in own:
        way = np.array(own["along"], float)
    elif "tip" in own:
        way = places[skeleton.index(own["tip"])] - places[node]
    length = float(exact.norm(way))
    return way / length if length > 0 else usual_along(skeleton, node, places)


def _usual_bend(along: Doubles) -> Doubles:
    """The axis of z that nothing is said about: level and across the bone."""
    return square(np.cross(along, [0.0, 1, 0]), along)


def limits_text(limits: Limits, skeleton: Skeleton) -> str:
    """Limits as a text from which `read_limits` makes the same.

    Joints that are free and have no greatest speed are left out. Good to begin with:
    `limits_text(human_limits(skeleton), skeleton)`.
    """
    if len(limits) != len(skeleton):
        raise SettingError(
            f"limits: of {len(limits)} joints, the skeleton has {len(skeleton)}"
        )
    places, axes = rest_world(skeleton)[:, :, 3], node_axes(skeleton)
    blocks = []
    for node in range(len(skeleton)):
        is_quick = math.isinf(limits.rates[node])
        if is_quick and not limits.limited[node]:
            continue
        key, remark = _key(skeleton, node)
        lines = [f"[joint.{key}]{remark}"]
        for column, axis in enumerate(AXES):
            ends = limits.low[node, column], limits.high[node, column]
            if limits.limited[node]:
                first, last = (_degrees(end) for end in ends)
                lines.append(f"{axis} = [{first}, {last}]")
        if not is_quick:
            lines.append(f"rate = {_degrees(limits.rates[node])}")
        if limits.limited[node]:
            lines += _frame_lines(limits, skeleton, node, places, axes)
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _key(skeleton: Skeleton, node: int) -> tuple[str, str]:
    """A node in a text: by its name if no other has it, else by number."""
    name = skeleton.names[node]
    is_plain = all(0xD800 > ord(c) or ord(c) > 0xDFFF for c in name)
    if name and is_plain and skeleton.names.count(name) == 1:
        return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f"), ""
    remark = "".join(c if c.isprintable() else "?" for c in name)
    return f'"#{node}"', f"  # {remark}"


def _degrees(angle: Any) -> str:
    """Degrees with as few digits as give the same float32 radians."""
    exact = math.degrees(float(angle))
    for digits in range(12):
        short = round(exact, digits)
        if np.float32(math.radians(short)) == np.float32(angle):
            return f"{short:.{digits}f}"
    return repr(exact)


def _frame_lines(
    limits: Limits,
    skeleton: Skeleton,
    node: int,
    places: NDArray[np.float64],
    axes: NDArray[np.float64],
) -> list[str]:
    """The words for a bone's axes, as far as they are not the usual ones."""
    if not abs(exact.det(axes[node])) > 0:
        return []
    frame = quaternions.to_matrix(limits.frames[node].astype(np.float64))
    along = exact.multiply(axes[node], frame[:, 0])
    along /= exact.norm(along)
    usual = usual_along(skeleton, node, places)
    is_usual = float(np.abs(along - usual).max()) < SAME
    along = usual if is_usual else along
    toward = square(exact.multiply(axes[node], frame[:, 1]), along)
    bend = np.cross(along, toward)
    lines = [] if is_usual else [f"along = {_vector(along)}"]
    if float(np.abs(bend - _usual_bend(along)).max()) >= SAME:
        lines.append(f"bend = {_vector(bend)}")
    return lines


def _vector(vector: Doubles) -> str:
    return f"[{', '.join(f'{one:.8g}' for one in vector.tolist())}]"
