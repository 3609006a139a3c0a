"""Levels of detail of a character, made by measuring.

For each level nodes are dropped in the order of a plan, weights are handed to the nodes
that stay, influences and triangles are taken away, all as far as the skin stays within
the goals: so many pixels where the level takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from flexor.arrays import Bools, Floats
from flexor.convert.levels.body import LevelBody, make_level_body
from flexor.convert.levels.choose_nodes import NodeWords, SlotTable, read_words
from flexor.convert.levels.drop_nodes import plan_drops, used_nodes
from flexor.convert.levels.fit_level import (
    FittedLevel,
    LevelGoals,
    Measure,
    fit_level,
    make_measure,
)
from flexor.convert.levels.poses import level_poses, says_enough
from flexor.convert.levels.report import LevelReport, report_level
from flexor.convert.levels.surfaces import LevelSkin, make_surfaces
from flexor.pose.layout import make_layout
from flexor.scene.character.skeleton import rest_world
from flexor.scene.finding import Finding
from flexor.scene.runtime.level_settings import ROWS, LevelChoice, LevelSettings
from flexor.scene.runtime.levels import Levels
from flexor.scene.runtime.node_table import make_node_table
from flexor.scene.scene import Scene

__all__ = ["LevelChoice", "LevelReport", "LevelSettings", "make_levels"]

DEFAULTS = LevelSettings()


def make_levels(
    scene: Scene,
    settings: LevelSettings = DEFAULTS,
    *,
    each: Callable[[], None] | None = None,
) -> tuple[Levels, list[LevelReport], list[Finding]]:
    """The levels of what is shown of a scene, a report of each, and what was odd.

    each: called after each level. BackendMissing without the package meshoptimizer.
    """
    done = each or (lambda: None)
    body, findings = make_level_body(scene)
    tall = _height(body)
    choices = settings.levels()
    if choices and not tall:
        text = "there are no triangles" if not len(body.faces) else "it has no size"
        findings.append(Finding("warning", "one-level", "scene", f"{text}: one level"))
        choices = ()
    whole = FittedLevel(
        LevelSkin(body.faces, body.joints, body.weights),
        0,
        body.joints.shape[1],
        (0.0, 0.0),
    )
    table = make_node_table(scene.skeleton)
    used = used_nodes(table, body.slots, body.joints, body.weights)
    fitted, slots = [whole], (body.slots, body.binds)
    masks, drops = [used], [np.zeros_like(used)]
    done()
    if choices:
        measure = _measure(scene, body, used, tall)
        grown, words = SlotTable(measure.plan), None
        for level, choice in enumerate(choices, 1):
            words = read_words(table, choice, words, level)
            goals = _goals(settings, choice, tall)
            fitted.append(fit_level(measure, fitted[-1], goals, choice, words, grown))
            masks.append(_selected(measure, fitted[-1], grown, words))
            drops.append(words.drop)
            done()
        slots = np.array(grown.slots, np.int32), np.array(grown.binds, np.float32)
    levels = Levels(
        table,
        _nested(masks, drops),
        slots[0],
        slots[1],
        np.array([level.error for level in fitted], np.float32),
        tall,
        make_surfaces(body, [level.skin for level in fitted]),
    )
    reports = [
        report_level(levels, level, choice.name, choice.height or 0.0, settings)
        for level, choice in enumerate((LevelChoice(height=ROWS), *choices))
    ]
    for level, fit in enumerate(fitted):
        if level and not len(fit.skin.faces) and len(body.faces):
            text = f"level {level} has no triangles: nothing of it is seen"
            findings.append(Finding("warning", "empty-level", "levels", text))
    return levels, reports, findings


def _nested(masks: Sequence[Bools], drops: Sequence[Bools]) -> Bools:
    """Masks (L, T) in which a level has all nodes of the next, but those dropped.

    A carrier may come to pull only when what it carries is handed over.
    """
    nested = np.array(masks, np.bool_)
    for level in range(len(nested) - 2, -1, -1):
        nested[level] |= nested[level + 1] & ~drops[level]
    return nested


def _height(body: LevelBody) -> float:
    """Metres from the lowest vertex to the highest; of a flat body the largest extent.

    0 where there is nothing.
    """
    if not len(body):
        return 0.0
    extents = np.ptp(body.rest, axis=0)
    return float(extents[1] or extents.max())


def _goals(settings: LevelSettings, choice: LevelChoice, tall: float) -> LevelGoals:
    metres = tall / (choice.height or ROWS)
    return LevelGoals(settings.mean * metres, settings.worst * metres)


def _measure(scene: Scene, body: LevelBody, used: Bools, tall: float) -> Measure:
    """The plan of drops, and the poses in which levels are measured."""
    table = make_node_table(scene.skeleton)
    rest: Floats = rest_world(scene.skeleton).astype(np.float32)
    poses = level_poses(scene, make_layout(scene))
    plan = plan_drops(
        table,
        body.slots,
        body.binds,
        body.spaces,
        body.positions,
        body.joints,
        body.weights,
        poses,
        rest,
    )
    shown = poses.clips
    if not says_enough(poses.clips, table, used):
        shown = np.concatenate([poses.clips, poses.swings])
    return make_measure(body, table, plan, used, rest, shown, tall)


def _selected(
    measure: Measure, level: FittedLevel, slots: SlotTable, words: NodeWords
) -> Bools:
    """The numbers that a level needs: those its weights name, and those kept."""
    rows = np.unique(level.skin.faces)
    nodes = np.array(slots.slots, np.int32)
    skin = level.skin
    return words.keep | used_nodes(
        measure.table, nodes, skin.joints[rows], skin.weights[rows]
    )
