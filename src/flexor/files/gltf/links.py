"""Links of nodes: `"extras": {"flexor_link": {"joint": "elbow", "fraction": 0.25}}`.

Extras, and no extension: a file with links is complete without them, since its clips
move the links like all other nodes. Links know their joint by its name, since other
programs number nodes anew; older files say its number. Where a program has dropped the
extras, names of links (`elbow-link2`) say the same, and so do node constraints.

Whatever says it is checked: a link and its joint hang on the same node, stand at the
same place at rest, and are joints of the same skins. What does not fit is a finding,
and its node a plain one, which its tracks move.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexor.errors import AssetError
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extensions.vrmc_node_constraint import (
    NAME,
    constraint_json,
    read_rotation,
)
from flexor.scene.character.skeleton import Link, Skeleton, find_link_fault
from flexor.scene.character.weights import Skin
from flexor.scene.finding import Finding

__all__ = ["add_link", "read_links", "undriven", "without_link"]

KEY = "flexor_link"
# How far a link's rest may be from its joint's: of the largest number in either, and in
# the four of a rotation. Blender is off by 2e-6.
SAME = 1e-4
LINK_NAME = re.compile(r"(.+)-link([1-9]\d{0,3})(?:-\d+)?(?:\.\d{3})?", re.DOTALL)
TWIST_NAME = re.compile(r"(.+)-twist[1-9]\d{0,3}(?:-\d+)?(?:\.\d{3})?", re.DOTALL)
AGAIN = re.compile(r"\.\d{3}")  # what Blender puts behind a name that is taken


@dataclass(frozen=True, slots=True)
class _Record:
    """What a file says of a link: its joint by name or number, and where it says so.

    is_sure: whether it is a record of ours, so that one that does not fit is told.
    """

    joint: str | int
    fraction: float
    axis: tuple[float, float, float] | None
    pointer: str
    is_sure: bool = True
    is_swing: bool = False


def read_links(
    nodes: Sequence[Checked],
    skeleton: Skeleton,
    skins: Sequence[Skin],
    findings: list[Finding],
) -> dict[int, Link]:
    """Links by node; one that cannot be followed is a finding, and its node a plain
    one.

    skeleton: of the file's nodes, without links.
    """
    records, refused = _read_records(nodes, findings)
    names = _read_names(skeleton, records.keys() | refused)
    for row, item in enumerate(nodes):
        if row in records or row in refused:
            continue
        constraint = read_rotation(item, len(nodes))
        if constraint is not None:
            place = f"{item.pointer}/extensions/{NAME}"
            records[row] = _Record(*constraint, None, place, is_sure=False)
        elif row in names:
            records[row] = names[row]
    if not records:
        return {}
    matcher = _Matcher(skeleton, skins, records)
    good: dict[int, Link] = {}
    guessed = 0
    for row, record in records.items():
        joint, fault = matcher.find(row, record)
        if fault is None:
            made = Link(joint, record.fraction, record.axis, record.is_swing)
            # Alone: which nodes are links the matcher knows.
            fault = find_link_fault(row, {row: made}, skeleton.parents)
        if fault is None:
            good[row] = made
            guessed += not record.is_sure and record.pointer.endswith("/name")
        elif record.is_sure:
            findings.append(_refusal(record.pointer, fault))
    for row in [row for row, link in good.items() if link.joint in good]:
        fault = f"joint {good[row].joint} is a link itself"
        findings.append(_refusal(records[row].pointer, fault))
        del good[row]
    if guessed:
        text = (
            f"{guessed} links are known by their names alone: a program has dropped "
            "what else the file said of them"
        )
        findings.append(Finding("info", "links-by-name", "/nodes", text))
    return good


def _refusal(where: str, fault: str) -> Finding:
    text = f"{fault}; the node does not follow a joint"
    return Finding("warning", "bad-link", where, text)


def _read_records(
    nodes: Sequence[Checked], findings: list[Finding]
) -> tuple[dict[int, _Record], set[int]]:
    """What extras say, and the nodes whose extras cannot be read."""
    records: dict[int, _Record] = {}
    refused = set()
    for row, item in enumerate(nodes):
        extras = item.get("extras")
        if extras is None or not extras.has(KEY):
            continue
        link = extras.child(KEY)
        try:
            named = link.child("joint").value
            joint = named
            if not isinstance(named, str):
                joint = link.row("joint", len(nodes), "node")
            fraction = link.child("fraction").as_number()
            axis = _read_axis(link)
            is_swing = link.flag("swing")
        except AssetError as error:
            findings.append(_refusal(error.pointer, error.text))
            refused.add(row)
            continue
        records[row] = _Record(joint, fraction, axis, link.pointer, is_swing=is_swing)
    return records, refused


def _read_axis(link: Checked) -> tuple[float, float, float] | None:
    if not link.has("axis"):
        return None
    x, y, z = link.vector("axis", (0.0, 0.0, 0.0))
    return x, y, z


def _read_names(skeleton: Skeleton, known: set[int]) -> dict[int, _Record]:
    """What names say of nodes that are not `known`: link k of n takes k / (n + 1).

    All n must be there. Beside twist links they leave out the twist about an axis that
    names do not tell: their tracks move them.
    """
    groups: dict[tuple[int, str], dict[int, list[int]]] = {}
    twisted = set()
    for row, (name, parent) in enumerate(
        zip(skeleton.names, skeleton.parents.tolist(), strict=True)
    ):
        found = LINK_NAME.fullmatch(name)
        if found is not None:
            mine = groups.setdefault((parent, found[1]), {})
            mine.setdefault(int(found[2]), []).append(row)
        found = TWIST_NAME.fullmatch(name)
        if found is not None:
            twisted.add((parent, found[1]))
    records = {}
    for (parent, joint), mine in groups.items():
        count = len(mine)
        if (parent, joint) in twisted:
            continue
        if max(mine) != count or any(len(rows) > 1 for rows in mine.values()):
            continue
        for number, (row,) in mine.items():
            if row not in known:
                part, place = number / (count + 1), f"/nodes/{row}/name"
                records[row] = _Record(joint, part, None, place, is_sure=False)
    return records


class _Matcher:
    """Finds the joints of links among the nodes that hang beside them."""

    def __init__(
        self, skeleton: Skeleton, skins: Sequence[Skin], links: Mapping[int, _Record]
    ) -> None:
        self._skeleton = skeleton
        self._parents: list[int] = skeleton.parents.tolist()
        self._size = float(np.abs(skeleton.translations).max())
        self._skins = [set(skin.joints.tolist()) for skin in skins]
        # What follows something cannot be followed; what says nonsense can.
        self._links = {
            row
            for row, record in links.items()
            if not isinstance(record.joint, int) or self._is_beside(row, record.joint)
        }
        self._beside: dict[tuple[int, str], list[int]] = {}
        for row, name in enumerate(skeleton.names):
            if row not in self._links:
                key = (self._parents[row], AGAIN.sub("", name))
                self._beside.setdefault(key, []).append(row)

    def _is_beside(self, row: int, joint: int) -> bool:
        return joint != row and self._parents[joint] == self._parents[row]

    def find(self, row: int, record: _Record) -> tuple[int, str | None]:
        """The joint, and what is wrong with it, or None."""
        if isinstance(record.joint, str):
            return self._find_name(row, record.joint)
        fault = self._fault(row, record.joint)
        said = LINK_NAME.fullmatch(self._skeleton.names[row])
        if record.is_sure and said is not None:
            # Numbers change more easily than names do.
            name = self._skeleton.names[record.joint]
            if fault is not None or said[1] not in (name, AGAIN.sub("", name)):
                joint, other = self._find_name(row, said[1])
                if other is None:
                    return joint, None
        return record.joint, fault

    def _find_name(self, row: int, name: str) -> tuple[int, str | None]:
        """The one node beside a link that has a name and fits."""
        key = (self._parents[row], AGAIN.sub("", name))
        named = self._beside.get(key, [])
        exact = [joint for joint in named if self._skeleton.names[joint] == name]
        for joints in (exact, named):
            fits = [joint for joint in joints if self._fault(row, joint) is None]
            if len(fits) == 1:
                return fits[0], None
            if fits:
                text = f"{len(fits)} nodes beside it are called {name!r}"
                return -1, text
        for joint in exact or named:
            return joint, self._fault(row, joint)
        return -1, f"no joint {name!r} hangs beside it"

    def _fault(self, row: int, joint: int) -> str | None:
        """Why a node cannot be what another follows, or None."""
        if joint == row:
            return "a node cannot follow itself"
        if self._parents[joint] != self._parents[row]:
            return f"joint {joint} has another parent"
        if joint in self._links:
            return f"joint {joint} is a link itself"
        skeleton = self._skeleton
        for part in (skeleton.translations, skeleton.rotations, skeleton.scales):
            one, other = part[[row, joint]].astype(np.float64)
            largest = max(np.abs(one).max(), np.abs(other).max())
            off = np.abs(one - other).max()
            if part is skeleton.rotations:
                off = min(off, np.abs(one + other).max())
            if part is skeleton.translations:
                largest = max(largest, self._size)
            if off > SAME * largest:
                return f"joint {joint} stands elsewhere at rest"
        if any(row in joints and joint not in joints for joints in self._skins):
            return f"joint {joint} is not in all skins that the node is in"
        return None


def undriven(skeleton: Skeleton, clips: Mapping[str, Any]) -> Iterator[Finding]:
    """What becomes of links in other programs if no clip moves them."""
    if skeleton.links and not clips:
        text = (
            f"{len(skeleton.links)} links and no clip that moves them: programs for "
            "VRM drive them by their constraints, others need a script "
            "(docs/guide/links.md); else they stay at rest, and skin on them with them"
        )
        yield Finding("info", "links-undriven", "/nodes", text)


def without_link(
    carried: dict[str, Any] | None, *, is_link: bool = False
) -> dict[str, Any] | None:
    """What a node carries beside a link, good or bad; None for nothing.

    A bad one must not be written back: node numbers that mean nothing now may mean
    something in a file with more nodes. The constraint of a link is written anew.
    """
    if carried is None:
        return None
    kept = dict(carried)
    for outer, inner, goes in (("extras", KEY, True), ("extensions", NAME, is_link)):
        body = kept.get(outer)
        if goes and isinstance(body, dict) and inner in body:
            kept[outer] = {key: value for key, value in body.items() if key != inner}
            if not kept[outer]:
                del kept[outer]
    return kept or None


def add_link(
    node: dict[str, Any], number: int, skeleton: Skeleton, *, has_clips: bool
) -> dict[str, Any]:
    """The JSON of a node, with its link if it is one.

    has_clips: whether the file has clips, which move its links; else a constraint does.
    """
    link = skeleton.links.get(number)
    if link is None:
        return node
    body: dict[str, Any] = {
        "joint": _joint_name(skeleton, link.joint),
        "fraction": link.fraction,
    }
    if link.axis is not None:
        body["axis"] = list(link.axis)
    if link.is_swing:
        body["swing"] = True
    made = dict(_with(node, "extras", {KEY: body}))
    extensions = made.get("extensions")
    if not has_clips and NAME not in (extensions or {}):
        made = dict(_with(made, "extensions", {NAME: constraint_json(link)}))
    return made


def _with(node: dict[str, Any], key: str, more: dict[str, Any]) -> dict[str, Any]:
    old = node.get(key)
    return {**node, key: {**(old if isinstance(old, dict) else {}), **more}}


def _joint_name(skeleton: Skeleton, joint: int) -> str | int:
    """A joint's name, or its number where none or another beside it has that name."""
    name = skeleton.names[joint]
    same = sum(1 for _ in _namesakes(skeleton, joint))
    return name if name and same == 1 else joint


def _namesakes(skeleton: Skeleton, joint: int) -> Iterator[int]:
    name = AGAIN.sub("", skeleton.names[joint])
    for row in np.flatnonzero(skeleton.parents == skeleton.parents[joint]).tolist():
        if row not in skeleton.links and AGAIN.sub("", skeleton.names[row]) == name:
            yield row
