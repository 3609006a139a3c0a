"""The recipe of a repair: which passes, in which order, and what they changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.links.choose_links import choose_links
from flexor.convert.links.link_bones import link_bones, own_meshes
from flexor.convert.links.link_weights import LinkSettings
from flexor.convert.repair.report import RepairReport, most_influences, report_repair
from flexor.convert.shape.body import Body, Pull, gather_bodies, with_pulls
from flexor.convert.shape.sections import body_shape
from flexor.convert.shape.thickness import point_thickness
from flexor.convert.weights.edit_weights import limit_influences, prune_weights
from flexor.convert.weights.mend_rogues import SPARE, mend_rogues
from flexor.convert.weights.mirror_weights import mirror_weights
from flexor.convert.weights.regenerate_weights import regenerate_weights
from flexor.convert.weights.smooth_weights import SmoothSettings, smooth_weights
from flexor.convert.weights.split_palettes import split_palettes
from flexor.convert.weights.transfer_weights import transfer_weights
from flexor.errors import SettingError
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["JointRule", "RepairSettings", "repair_scene", "rigid_meshes"]

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointRule:
    """Links of the joints whose names fit a pattern; None: as for all joints."""

    pattern: str
    count: int | None = None
    length: float | None = None
    fade: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairSettings:
    """Which passes are run, and how; without any, nothing is changed.

    regenerate: new weights from shape and joints; rogues: patches that are cut off from
    their bone, spare: see mend_rogues; smooth: how weights are smoothed, None for not;
    mirror: the side whose weights the other one gets; links: of every joint, count 0
    for none, and rules for some, of which the last that fits counts; is_forced: also at
    joints that are worse with them; prune: weights below this are dropped;
    most_influences: joints a vertex, 0 for any number, None for as many as there were,
    but at least 4: what engines take; most_palette: joints a surface, 0 for any number;
    joints: patterns of names: only these joints' weights are changed; rigid: patterns
    of names of meshes that are not smoothed or linked.
    """

    regenerate: bool = False
    rogues: bool = False
    spare: float = SPARE
    smooth: SmoothSettings | None = None
    mirror: Literal["left", "right"] | None = None
    links: LinkSettings = field(default_factory=lambda: LinkSettings(count=0))
    rules: tuple[JointRule, ...] = ()
    is_forced: bool = False
    prune: float = 0.0
    most_influences: int | None = None
    most_palette: int = 0
    joints: tuple[str, ...] = ()
    rigid: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mirror not in (None, "left", "right"):
            raise SettingError(f"mirror: {self.mirror!r}, expected left or right")
        for name in ("prune", "spare"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise SettingError(f"{name}: {value!r}, expected 0 to 1")
        for name in ("most_influences", "most_palette"):
            value = getattr(self, name)
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if value is not None and (not is_whole or value < 0):
                raise SettingError(f"{name}: {value!r}, expected 0 or more")
        for name in ("joints", "rigid"):
            patterns = getattr(self, name)
            if not all(isinstance(pattern, str) for pattern in patterns):
                raise SettingError(f"{name}: {patterns!r}, expected texts")

    def passes(self) -> tuple[str, ...]:
        """What is done, in order."""
        has_links = self.links.count > 0 or any(rule.count for rule in self.rules)
        chosen = {
            "regenerate": self.regenerate,
            "rogues": self.rogues,
            "smooth": self.smooth is not None,
            "mirror": self.mirror is not None,
            "links": has_links,
            "prune": self.prune > 0,
            "limit": bool(self.most_influences),
            "palette": self.most_palette > 0,
        }
        return tuple(name for name, is_chosen in chosen.items() if is_chosen)


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
    passes = settings.passes()
    given = scene
    if source is not None:
        passes = ("transfer", *passes)
        note("taking weights over")
        had_skins = bool(gather_bodies(scene))
        scene, findings = transfer_weights(source, scene)
        given = given if had_skins else scene
    bodies = gather_bodies(scene, rigid_meshes(scene, settings.rigid))
    rows = [_chosen(body, settings.joints) for body in bodies]
    if settings.joints and not any(len(chosen) for chosen in rows):
        _refuse_pattern(bodies, settings.joints)
    for name in ("transfer", "regenerate", "rogues", "smooth", "mirror"):
        if name in passes and scene.skeleton.links:
            raise SettingError(
                f"{name}: the character has links already; take the file without them"
            )
    pulls: dict[int, Pull] = {}
    for number, (body, chosen) in enumerate(zip(bodies, rows, strict=True)):
        joints = chosen if settings.joints else None
        if joints is None or len(joints):
            marked, odd = own_meshes(scene, body)
            shared = marked.rigid & ~body.rigid
            new = _mend(body, joints, settings, findings, note)
            pulls[number] = _with_rows(new, body.pull, shared)
            findings += odd if shared.any() and "links" not in passes else []
    odd_ones = [one for one in findings if one.code == "not-mirrored"]
    if odd_ones and len(odd_ones) == len(pulls):
        raise SettingError(odd_ones[0].text)
    repaired = with_pulls(scene, pulls, bodies)
    if "links" in passes:
        note("putting in links")
        repaired, found = _link(repaired, rows, settings)
        findings += found
    most = settings.most_influences
    if most is None:
        most = max(4, most_influences(scene))
    repaired = _limit(repaired, settings.prune, most)
    whole = repaired
    if settings.most_palette:
        note("splitting surfaces")
        repaired, found = split_palettes(repaired, settings.most_palette)
        findings += found
    if has_measures:
        note("bending joints")
    report = report_repair(given, whole, passes, findings, has_measures=has_measures)
    return repaired, report


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


def _refuse_pattern(bodies: Sequence[Body], patterns: Sequence[str]) -> None:
    names = [name for body in bodies for name in body.names]
    some = ", ".join(repr(name) for name in names[:8]) or "none"
    more = ", ..." if len(names) > 8 else ""
    asked = ", ".join(repr(pattern) for pattern in patterns)
    raise SettingError(f"joints: none fits {asked}; there are: {some}{more}")


def _mend(
    body: Body,
    joints: Ints | None,
    settings: RepairSettings,
    findings: list[Finding],
    note: Note,
) -> Pull:
    """The weights of a body after the passes that change nothing but weights."""
    where = body.names[0] if len(body.names) else "skin"
    if settings.regenerate:
        note(f"regenerating {len(body):,} vertices")
        smooth = SmoothSettings() if settings.smooth is None else settings.smooth
        body = replace(body, pull=regenerate_weights(body, joints, smooth))
        text = "weights were made from shape and joints"
        findings.append(Finding("info", "weights-regenerated", where, text))
    if settings.rogues:
        note(f"looking for rogue patches in {len(body):,} vertices")
        chosen = None if joints is None else joints.tolist()
        rogues = mend_rogues(body, chosen, spare=settings.spare)
        body = replace(body, pull=rogues.pull)
        findings += rogues.findings(body.names)
    if settings.smooth is not None and not settings.regenerate:
        note(f"smoothing {len(body):,} vertices")
        body = replace(body, pull=_smooth(body, joints, settings.smooth))
    if settings.mirror is not None:
        note("mirroring")
        try:
            pull = mirror_weights(body, body.pull, source=settings.mirror)
            body = replace(body, pull=pull)
        except SettingError as error:  # a hat, say; refused if no body can be mirrored
            findings.append(Finding("warning", "not-mirrored", where, str(error)))
    return body.pull


def _with_rows(new: Pull, old: Pull, rows: NDArray[np.bool_]) -> Pull:
    """New weights, but old ones in some rows (V,)."""
    if not rows.any():
        return new
    width = max(new.joints.shape[1], old.joints.shape[1])
    a, b = old.widened(width), new.widened(width)
    return Pull(
        np.where(rows[:, None], a.joints, b.joints),
        np.where(rows[:, None], a.weights, b.weights),
    )


def _smooth(body: Body, joints: Ints | None, settings: SmoothSettings) -> Pull:
    """Smoother weights, but not where the body is rigid or hangs on other joints."""
    shape = body_shape(body)
    surface, pull = shape.surface, shape.pull
    thickness = point_thickness(surface.positions, pull, shape.bones, shape.sections)
    if joints is not None:
        thickness[~np.isin(pull.joints, joints).any(1)] = 0
    thickness[surface.point_of_vertex[body.rigid]] = 0
    smooth = smooth_weights(surface, pull, thickness.astype(np.float32), settings)
    return smooth.take(surface.point_of_vertex)


def _link(
    scene: Scene, rows: Sequence[Ints], settings: RepairSettings
) -> tuple[Scene, list[Finding]]:
    """The scene with links at the chosen joints of its bodies."""
    bodies = gather_bodies(scene, rigid_meshes(scene, settings.rigid))
    used = set()
    wanted: list[dict[int, LinkSettings]] = []
    for body, chosen in zip(bodies, rows, strict=True):
        own = {}
        for row in chosen.tolist():
            links = settings.links
            for rule in settings.rules:
                if fnmatchcase(body.names[row], rule.pattern):
                    used.add(rule.pattern)
                    links = _ruled(links, rule)
            if links.count:
                own[row] = links
        wanted.append(own)
    for rule in settings.rules:
        if rule.pattern not in used:
            _refuse_pattern(bodies, [rule.pattern])
    return (link_bones if settings.is_forced else choose_links)(scene, bodies, wanted)


def _ruled(links: LinkSettings, rule: JointRule) -> LinkSettings:
    return LinkSettings(
        count=links.count if rule.count is None else rule.count,
        length=links.length if rule.length is None else rule.length,
        fade=links.fade if rule.fade is None else rule.fade,
    )


def _limit(scene: Scene, prune: float, most: int) -> Scene:
    """The scene with small and surplus weights dropped; most: 0 for any number."""
    bodies = gather_bodies(scene)
    pulls = {}
    for number, body in enumerate(bodies):
        pull = prune_weights(body.pull, prune)
        pulls[number] = limit_influences(pull, most) if most else pull
    return with_pulls(scene, pulls, bodies)
