"""The page of a repair: what was done, and how joints turn before and after.

One HTML file that needs nothing else: no fonts, no other files, and no script but the
few lines in it that turn joints; without them it shows one pose of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from flexor.api.character import Character
from flexor.api.repair.joint_pictures import draw_joints
from flexor.api.repair.sections import (
    escaped,
    joint_section,
    joint_table,
    verdict,
    worst_score,
)
from flexor.api.repair.style import SCRIPT, style_sheet
from flexor.convert.shape.chained import hang_in_chains
from flexor.errors import SettingError
from flexor.scene.finding import Finding

if TYPE_CHECKING:
    from flexor.convert.repair.report import JointChange, RepairReport

__all__ = ["repair_page"]

SIZE = (440, 384)  # pixels of a picture, as it is drawn and as it is on the page
MOST_BYTES = 12_000_000  # when the page has so many, no other joint is drawn
MOST_FINDINGS, OPEN_FINDINGS = 200, 6
MOST_ROWS = 30  # of joints in a table that is open
LONGEST_BAR = 1.0  # the score from which a bar is as long as any
LOOKS_BAD = 0.05  # the least score of a joint that is drawn though it did not change


def repair_page(
    before: Character,
    after: Character,
    report: RepairReport,
    *,
    title: str,
    notes: Sequence[tuple[str, str]],
    names: Sequence[str] = (),
    most_joints: int = 12,
    most_bytes: int = MOST_BYTES,
    advance: Callable[[], None] = lambda: None,
) -> bytes:
    """A whole HTML page about a repair, UTF-8.

    before, after: the character; after has the same nodes, and links after them; title:
    such as the name of the file; notes: what was asked for, as (name, value); names:
    patterns of the joints that get pictures, none: any; most_joints: how many do, those
    that look worst, before or after; most_bytes: when the pictures have so many, the
    rest is left out; advance: called after each picture. The same input gives the same
    bytes.
    """
    if most_joints < 0:
        raise SettingError(f"most_joints: {most_joints}, expected 0 or more")
    rows = _worst_first(report.joints)
    wanted = {joint.node: joint for joint in rows if _is_drawn(joint, names)}
    trials = {node: joint.trial for node, joint in wanted.items() if joint.trial}
    sections: list[str] = []
    shown: list[int] = []
    length = 0
    pair = (_hung(before), _hung(after))
    drawn = draw_joints(*pair, trials, SIZE, most_joints, advance=advance)
    for film in drawn:
        shown.append(film.node)
        sections.append(joint_section(wanted[film.node], film, SIZE))
        length += len(sections[-1])
        if length >= most_bytes:
            break
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escaped(title)} \u2013 repair</title>",
        f"<style>{style_sheet()}</style></head><body><main>",
        *_head(title, report, notes),
        *_findings(report.findings),
        *_joints(rows, set(shown)),
        '<h2 id="pictures">Before and after</h2>',
        *_about_pictures(len(shown), len(wanted), most_joints, names),
        *sections,
        *_left_out(len(shown), len(wanted)),
        f"</main><script>{SCRIPT}</script></body></html>\n",
    ]
    return "\n".join(parts).encode("utf-8", "replace")


def _hung(character: Character) -> Character:
    """The character as its joints are judged: those of flat rigs in chains."""
    scene = hang_in_chains(character.scene)
    return character if scene is character.scene else Character(scene)


def _worst_first(joints: Iterable[JointChange]) -> list[JointChange]:
    """Joints by how bad they look or looked, then by how much changed."""

    def rank(joint: JointChange) -> tuple[float, ...]:
        changed = joint.vertices * joint.largest
        return -round(worst_score(joint), 6), -changed, -joint.links, joint.node

    return sorted(joints, key=rank)


def _is_changed(joint: JointChange) -> bool:
    return bool(joint.vertices or joint.links)


def _is_drawn(joint: JointChange, names: Sequence[str]) -> bool:
    """Whether there is anything to see of a joint that is asked for."""
    if names and not any(fnmatchcase(joint.name, pattern) for pattern in names):
        return False
    return _is_changed(joint) or worst_score(joint) >= LOOKS_BAD


def _head(
    title: str, report: RepairReport, notes: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Title, what was done, and how much of it."""
    yield f'<p class="quiet">Repair</p><h1>{escaped(title)}</h1>'
    passes = "".join(f"<li>{escaped(name)}</li>" for name in report.passes)
    if passes:
        yield f'<ul class="chips" aria-label="passes">{passes}</ul>'
    if notes:
        yield _pairs((escaped(name), escaped(value, 2000)) for name, value in notes)
    yield "<h2>Summary</h2>"
    rows = [*_looks(report), *_changes(report)]
    cells = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in rows)
    yield f'<div class="card"><dl class="facts">{cells}</dl></div>'


def _looks(report: RepairReport) -> Iterator[tuple[str, str]]:
    """How it looks now, of all of it, in rows of names and HTML."""
    verdicts = Counter(verdict(joint) for joint in report.joints)
    if any(joint.looks for joint in report.joints):
        better, worse = verdicts["better"], verdicts["worse"]
        text = f'<span class="better">{better:,} better</span> ' if better else ""
        text += f'<span class="worse">{worse:,} worse</span> ' if worse else ""
        yield "joints that look", f"{text}{verdicts['']:,} as before"
    if report.strains is not None:
        old, new = report.strains
        names = ("edges folded", "triangles torn", "squeezed")
        parts = [
            f"{name} {one:.1f} \u2192 {other:.1f}"
            for name, one, other in zip(names, old, new, strict=True)
        ]
        yield "in a pose of clips or at random", ", ".join(parts)
    if report.moved is not None:
        mean, most = report.moved
        yield (
            "skin moved in clips",
            f"by {mean:.2%} of its size on average, {most:.1%} at most",
        )


def _changes(report: RepairReport) -> Iterator[tuple[str, str]]:
    """How much changed, in rows of names and HTML."""
    count = report.vertex_count
    part = f" ({report.vertices / count:.0%})" if count else ""
    levels = Counter(finding.level for finding in report.findings)
    found = ", ".join(f"{n:,} {level}" for level, n in sorted(levels.items()))
    joints = sum(1 for joint in report.joints if _is_changed(joint))
    yield "vertices with other weights", f"{report.vertices:,} of {count:,}{part}"
    yield "joints that changed", f"{joints:,} of {len(report.joints):,}"
    influences = f"{report.influences_before} \u2192 {report.influences_after}"
    yield "joints a vertex, at most", influences
    yield "links added", f"{sum(joint.links for joint in report.joints):,}"
    yield "findings", found or "none"


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of names and values, both HTML already."""
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in pairs)
    return f"<dl>{rows}</dl>"


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    """What was odd, warnings first."""
    if not findings:
        return
    yield "<h2>Findings</h2>"
    ordered = sorted(findings, key=lambda finding: finding.level != "warning")
    rows = [
        f'<li><span class="{_level(finding)}">{escaped(finding.level)}</span> '
        f"<b>{escaped(finding.code)}</b> {escaped(finding.where)}: "
        f"{escaped(finding.text, 2000)}</li>"
        for finding in ordered[:MOST_FINDINGS]
    ]
    if len(ordered) > MOST_FINDINGS:
        rows.append(f"<li>and {len(ordered) - MOST_FINDINGS:,} more</li>")
    first, rest = "".join(rows[:OPEN_FINDINGS]), "".join(rows[OPEN_FINDINGS:])
    yield f'<div class="card"><ul class="findings">{first}</ul>'
    if rest:
        left = len(ordered) - OPEN_FINDINGS
        yield f"<details><summary>{left:,} more</summary>"
        yield f'<ul class="findings">{rest}</ul></details>'
    yield "</div>"


def _level(finding: Finding) -> str:
    return "warning" if finding.level == "warning" else "info"


def _joints(rows: Sequence[JointChange], shown: set[int]) -> Iterator[str]:
    """Tables of the joints, the worst first; shown: nodes of those with pictures."""
    if not rows:
        return
    kept = [joint for joint in rows if _is_drawn(joint, ())]
    others = [joint for joint in rows if not _is_drawn(joint, ())]
    most = min(max(*(worst_score(joint) for joint in rows), 0.1), LONGEST_BAR)
    if kept:
        yield "<h2>Joints, the worst first</h2>"
        yield (
            '<p class="quiet">Score: how much of the skin around a joint looks bad when'
            " it turns, before \u2192 after (the upper and the lower bar); 0 is "
            "faultless, 0.5 is bad. Folds, torn, squeezed: edges and triangles in the "
            "mean of its trials; volume left: the least in any. "
            '<span class="better">\u25b2 better</span> '
            '<span class="worse">\u25bc worse</span> \u2013 not measured</p>'
        )
        yield joint_table(kept[:MOST_ROWS], shown, most)
    if kept[MOST_ROWS:]:
        left = len(kept) - MOST_ROWS
        yield f"<details><summary>{left:,} more that look less bad</summary>"
        yield f"{joint_table(kept[MOST_ROWS:], shown, most)}</details>"
    if others:
        text = f"{len(others):,} did not change and do not look bad"
        yield f"<details><summary>{text}</summary>"
        yield f"{joint_table(others, shown, most)}</details>"


def _about_pictures(
    shown: int, wanted: int, most: int, names: Sequence[str]
) -> Iterator[str]:
    """What the pictures show."""
    text = (
        "Each joint is turned alone, as far as it may, and first shown where there is "
        "most to see, from the side that sees most of it. "
        '<span class="spot" aria-hidden="true"></span>Red: skin that is folded, torn'
        ' or squeezed. <span class="rule" aria-hidden="true"></span>Line: where the '
        "outline was before."
    )
    if not wanted:
        text = "No joint changed, and none looks bad."
    elif not most:
        text = f"No pictures were asked for; there is something to see at {wanted:,}."
    elif not shown:
        text = "No pictures: nothing that changed was measured as it bends a skin."
    elif names:
        patterns = ", ".join(f"<code>{escaped(name)}</code>" for name in names)
        text += f" Only joints of these names: {patterns}."
    yield f'<p class="quiet">{text}</p>'


def _left_out(shown: int, wanted: int) -> Iterator[str]:
    """How many joints have no pictures, and how to see them."""
    left = wanted - shown
    if not (shown and left):
        return
    said = "1 joint more has" if left == 1 else f"{left:,} joints more have"
    yield (
        f'<p class="card quiet">{said} changes or faults that are not shown here; '
        f"these {shown} look worst, and the table names the rest. "
        "<code>--joints 'NAME*'</code> repairs and shows only joints of such names."
        "</p>"
    )
