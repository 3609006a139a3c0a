"""The recipe of a repair: the passes of the table in their order, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from inspect import signature
from typing import Any

import numpy as np

from flexor.arrays import Ints
from flexor.convert.links.link_bones import own_meshes
from flexor.convert.repair.report import RepairReport, most_influences, report_repair
from flexor.convert.repair.rows import Pass, Stage, Values
from flexor.convert.repair.settings import RepairSettings, changing_nothing
from flexor.convert.repair.task import (
    BodyTask,
    Mended,
    Note,
    SceneTask,
    refuse_pattern,
)
from flexor.convert.shape.body import Body, Pull, rows_of
from flexor.convert.shape.chained import hang_in_chains
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.weights.bind_scene import bind_scene
from flexor.convert.weights.check_flight import find_flight
from flexor.convert.weights.transfer_weights import transfer_weights
from flexor.errors import SettingError
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["repair_scene", "rigid_meshes"]

NO_SKIN = "no skin hangs on joints, so nothing was mended"
HAS_LINKS = (
    "the character has links already and stays as it is; for another repair take the "
    "file as it was before it got them, or ask for single passes"
)
FLAT = (
    "no joint gets links, as all hang on one node: what of a turn is a joint's own and "
    "what came from the joint before it is not told"
)


def repair_scene(
    scene: Scene,
    settings: RepairSettings,
    *,
    source: Scene | None = None,
    has_measures: bool = True,
    note: Note = lambda text: None,
) -> tuple[Scene, RepairReport]:
    """The scene with better weights and joints, and what was changed.

    source: a scene on the same skeleton whose weights are taken over first;
    has_measures: whether joints are bent before and after, to say how much of them is
    left; note: called with a few words before each part of the work.
    """
    findings: list[Finding] = []
    linked_before = settings.is_automatic and bool(scene.skeleton.links)
    if linked_before:
        settings = changing_nothing(settings)
    passes = settings.passes()
    if "regenerate" in passes:
        scene, findings = bind_scene(scene)
    rigid = rigid_meshes(scene, settings.values["rigid"])
    hung = hang_in_chains(scene)
    is_flat = hung is not scene
    given = facts = SceneFacts(hung, rigid)
    if source is not None:
        passes = ("transfer", *passes)
        note("taking weights over")
        facts, found = transfer_weights(SceneFacts(source), given)
        findings += found
        given = given if given.bodies else facts
    if not facts.bodies:
        passes = ()
        findings.append(Finding("warning", "no-skin", "meshes", NO_SKIN))
    patterns: Sequence[str] = settings.values["joints"]
    rows = tuple(_chosen(own.body, patterns) for own in facts.bodies)
    if patterns and not any(len(chosen) for chosen in rows):
        refuse_pattern(facts.bodies, patterns)
    _refuse_linked(facts.scene, settings, has_source=source is not None)
    influences = most_influences(facts.scene)
    mended = _mend(SceneTask(facts, facts, rows, note), influences, settings, findings)
    if "regenerate" in passes:
        if not scene.clips:
            note("trying poses")
            findings += find_flight(facts, mended)
        facts = mended  # how the old weights looked says nothing about the new
    task = SceneTask(mended, facts, rows, note)
    linked = mended
    if not is_flat:
        linked = _run_on_scene("links", task, settings, findings)
    elif any(settings.due("links")):
        findings.append(Finding("info", "links-left-out", "links", FLAT))
    if linked_before:
        findings.append(Finding("info", "has-links", "links", HAS_LINKS))
    whole = _limit(SceneTask(linked, facts, rows, note), influences, settings)
    if has_measures:
        note("bending joints")
    report = report_repair(given, whole, passes, findings, has_measures=has_measures)
    if is_flat:
        pulls = {number: own.body.pull for number, own in enumerate(whole.bodies)}
        whole = SceneFacts(scene, rigid).with_pulls(pulls)
    task = SceneTask(whole, facts, rows, note)
    late: list[Finding] = []
    repaired = _run_on_scene("surfaces", task, settings, late)
    report = replace(report, findings=(*report.findings, *late))
    return repaired.scene, report


def rigid_meshes(scene: Scene, patterns: Sequence[str] = ()) -> list[bool]:
    """For each mesh whether it is marked: by a pattern, or in the file's extras."""

    def is_marked(name: str, carried: object) -> bool:
        extras = carried.get("extras") if isinstance(carried, dict) else None
        mark = extras.get("rigid") if isinstance(extras, dict) else None
        return mark is True or any(fnmatchcase(name, one) for one in patterns)

    for pattern in patterns:
        if not any(fnmatchcase(mesh.name, pattern) for mesh in scene.meshes):
            there = ", ".join(repr(mesh.name) for mesh in scene.meshes[:8]) or "none"
            raise SettingError(f"rigid: no mesh fits {pattern!r}; there are: {there}")
    return [is_marked(mesh.name, mesh.carried) for mesh in scene.meshes]


def _chosen(body: Body, patterns: Sequence[str]) -> Ints:
    """Rows of the joints whose names fit a pattern."""
    wanted = [
        not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
        for name in body.names
    ]
    return np.flatnonzero(wanted).astype(np.int32)


def _refuse_linked(scene: Scene, settings: RepairSettings, *, has_source: bool) -> None:
    """Refuse passes that give a scene with links other weights."""
    names = ["transfer"] if has_source else []
    names += [row.name for row in settings.due("weights")]
    if names and scene.skeleton.links:
        raise SettingError(
            f"{names[0]}: the character has links already; take the file without them"
        )


def _run(row: Pass, task: BodyTask | SceneTask, values: Values) -> Any:
    """Do a pass with the settings that its function asks for."""
    function = row.load()
    names = list(signature(function).parameters)[1:]
    return function(task, **{name: values[name] for name in names})


def _mend(
    task: SceneTask,
    influences: int,
    settings: RepairSettings,
    findings: list[Finding],
) -> SceneFacts:
    """The scene after the passes that change nothing but weights, body by body."""
    is_linked = any(settings.due("links"))
    pulls: dict[int, Pull] = {}
    for number, (own, chosen) in enumerate(
        zip(task.facts.bodies, task.rows, strict=True)
    ):
        joints = chosen if settings.values["joints"] else None
        if joints is not None and not len(joints):
            continue
        marked, odd = own_meshes(task.facts.scene, own.body)
        shared = marked.rigid & ~own.body.rigid
        facts = own
        for row in settings.due("weights"):
            body_task = BodyTask(
                number, task.facts, facts, joints, influences, task.note
            )
            mended: Mended = _run(row, body_task, settings.values)
            findings += mended.findings
            if mended.pull is not facts.body.pull:
                facts = facts.with_pull(mended.pull)
        pulls[number] = rows_of(facts.body.pull, own.body.pull, shared)
        findings += odd if shared.any() and not is_linked else []
    odd_ones = [one for one in findings if one.code == "not-mirrored"]
    if odd_ones and len(odd_ones) == len(pulls):
        raise SettingError(odd_ones[0].text)
    return task.facts.with_pulls(pulls)


def _limit(task: SceneTask, influences: int, settings: RepairSettings) -> SceneFacts:
    """The scene after the passes that drop weights, which all bodies go through."""
    pulls = {}
    for number, facts in enumerate(task.facts.bodies):
        for row in settings.due("limits"):
            body_task = BodyTask(number, task.facts, facts, None, influences, task.note)
            mended: Mended = _run(row, body_task, settings.values)
            facts = facts.with_pull(mended.pull)
        pulls[number] = facts.body.pull
    return task.facts.with_pulls(pulls)


def _run_on_scene(
    stage: Stage, task: SceneTask, settings: RepairSettings, findings: list[Finding]
) -> SceneFacts:
    """The scene after the passes of a stage that change more than weights."""
    for row in settings.due(stage):
        facts, found = _run(row, task, settings.values)
        findings += found
        task = SceneTask(facts, task.given, task.rows, task.note)
    return task.facts
