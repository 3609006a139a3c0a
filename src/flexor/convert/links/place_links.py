"""The pass that puts links at joints: which joints, and how many links each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from flexor.convert.links.choose_links import choose_links
from flexor.convert.links.link_bones import link_bones
from flexor.convert.links.link_weights import LinkSettings
from flexor.convert.repair.report import most_influences
from flexor.convert.repair.task import SceneTask, refuse_pattern
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.weights.edit_weights import most_joints
from flexor.scene.finding import Finding

__all__ = ["JointRule", "links_pass"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointRule:
    """Links of the joints whose names fit a pattern; None: as for all joints."""

    pattern: str
    count: int | None = None
    twists: int | None = None
    length: float | None = None
    fade: float | None = None


def links_pass(
    task: SceneTask,
    *,
    links: int,
    twists: int,
    links_length: float | None,
    links_fade: float | None,
    always: bool,
    rules: Sequence[JointRule],
    max_influences: int | None,
) -> tuple[SceneFacts, list[Finding]]:
    """The scene with links at the chosen joints of its bodies.

    links, twists, links_length, links_fade: of every joint, see LinkSettings; rules:
    for some joints, of which the last that fits counts; always: also at joints that
    look no better with them; max_influences: see `limit_pass`.
    """
    task.note("putting in links")
    every = LinkSettings(
        count=links, twists=twists, length=links_length, fade=links_fade
    )
    used = set()
    wanted: list[dict[int, LinkSettings]] = []
    for facts, chosen in zip(task.facts.bodies, task.rows, strict=True):
        own = {}
        for row in chosen.tolist():
            settings = every
            for rule in rules:
                if fnmatchcase(facts.body.names[row], rule.pattern):
                    used.add(rule.pattern)
                    settings = _ruled(settings, rule)
            if settings.count or settings.twists:
                own[row] = settings
        wanted.append(own)
    for rule in rules:
        if rule.pattern not in used:
            refuse_pattern(task.facts.bodies, [rule.pattern])
    if always:
        return link_bones(task.facts, wanted)
    most = most_joints(max_influences, most_influences(task.facts.scene))
    most = 0 if max_influences == 0 else most
    return choose_links(task.facts, wanted, most, given=task.given)


def _ruled(links: LinkSettings, rule: JointRule) -> LinkSettings:
    return LinkSettings(
        count=links.count if rule.count is None else rule.count,
        twists=links.twists if rule.twists is None else rule.twists,
        length=links.length if rule.length is None else rule.length,
        fade=links.fade if rule.fade is None else rule.fade,
    )
