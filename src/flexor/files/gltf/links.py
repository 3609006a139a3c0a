"""Links of nodes: `"extras": {"flexor_link": {"joint": 4, "fraction": 0.25}}`.

Extras, and no extension: a file with links is complete without them, since its clips
move the links like all other nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexor.errors import AssetError
from flexor.files.gltf.checked import Checked
from flexor.scene.character.skeleton import Link, find_link_fault
from flexor.scene.finding import Finding

__all__ = ["add_link", "read_links", "without_link"]

KEY = "flexor_link"


def read_links(
    nodes: list[Checked], parents: list[int], findings: list[Finding]
) -> dict[int, Link]:
    """Links by node; one that cannot be followed is a finding, and its node a plain
    one.
    """
    found: dict[int, Link] = {}
    places: dict[int, str] = {}

    def refuse(where: str, text: str) -> None:
        whole = f"{text}; the node does not follow a joint"
        findings.append(Finding("warning", "bad-link", where, whole))

    for row, item in enumerate(nodes):
        extras = item.get("extras")
        if extras is None or not extras.has(KEY):
            continue
        link = extras.child(KEY)
        try:
            joint = link.row("joint", len(nodes), "node")
            fraction = link.child("fraction").as_number()
            axis = _read_axis(link)
        except AssetError as error:
            refuse(error.pointer, error.text)
            continue
        made = Link(joint, fraction, axis)
        # Alone first: what is no link cannot keep others from following it.
        fault = find_link_fault(row, {row: made}, parents)
        if fault is not None:
            refuse(link.pointer, fault)
            continue
        found[row], places[row] = made, link.pointer
    good: dict[int, Link] = {}
    for row, made in found.items():
        fault = find_link_fault(row, found, parents)
        if fault is None:
            good[row] = made
        else:
            refuse(places[row], fault)
    return good


def _read_axis(link: Checked) -> tuple[float, float, float] | None:
    if not link.has("axis"):
        return None
    x, y, z = link.vector("axis", (0.0, 0.0, 0.0))
    return x, y, z


def without_link(carried: dict[str, Any] | None) -> dict[str, Any] | None:
    """What a node carries beside a link, good or bad; None for nothing.

    A bad one must not be written back: node numbers that mean nothing now may mean
    something in a file with more nodes.
    """
    if carried is None or not isinstance(carried.get("extras"), dict):
        return carried
    if KEY not in carried["extras"]:
        return carried
    extras = {key: value for key, value in carried["extras"].items() if key != KEY}
    kept = {key: value for key, value in carried.items() if key != "extras"}
    return ({**kept, "extras": extras} if extras else kept) or None


def add_link(
    node: dict[str, Any], number: int, links: Mapping[int, Link]
) -> dict[str, Any]:
    """The JSON of a node, with its link if it is one."""
    link = links.get(number)
    if link is None:
        return node
    extras = node.get("extras")
    extras = extras if isinstance(extras, dict) else {}
    body: dict[str, Any] = {"joint": link.joint, "fraction": link.fraction}
    if link.axis is not None:
        body["axis"] = list(link.axis)
    return {**node, "extras": {**extras, KEY: body}}
