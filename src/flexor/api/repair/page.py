"""The page of a repair: what was done, and how joints bend before and after.

One HTML file that needs nothing else: no script, no fonts, no other files.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from flexor.api.character import Character
from flexor.api.repair.joint_pictures import SHOTS, JointPictures, draw_joints
from flexor.arrays import Pixels
from flexor.draw.scene.heat import RAMP
from flexor.errors import SettingError
from flexor.output.formats.webp import encode_webp
from flexor.scene.finding import Finding

if TYPE_CHECKING:
    from flexor.convert.repair.report import JointChange, RepairReport

__all__ = ["repair_page"]

SHOWN = (260, 220)  # pixels of a picture on the page
SIZE = (520, 440)  # as drawn: sharp on fine screens
QUALITY, METHOD = 82, 2  # of WebP; a tenth of the size of PNG
MOST_FINDINGS = 200
MOST_ROWS = 30  # of joints in a table that is open
LONGEST = 160  # letters of a name
SAME = 0.005  # measures that differ by less are as good
NONE = "\u2013"

# The measures of the table: heading, name in a JointMeasure.
MEASURES = (
    ("bent 90\u00b0", "bend90"),
    ("bent 150\u00b0", "bend150"),
    ("twisted 180\u00b0", "twist180"),
    ("radius at 180\u00b0", "radius180"),
)
SHOT_MEASURES = ("bend90", "bend150", "twist180", None)  # in the order of SHOTS

STYLE = """
:root { color-scheme: light dark; --page: #f7f8f9; --card: #fff; --ink: #1d2126;
  --quiet: #5b6570; --line: #dde2e7; --stage: #e9ecef; --good: #17683a;
  --good-back: #dff3e6; --bad: #a32018; --bad-back: #fbe4e1; --chip: #e6ebf1 }
@media (prefers-color-scheme: dark) { :root { --page: #15181b; --card: #1d2125;
  --ink: #e4e8ec; --quiet: #9aa5b0; --line: #31373e; --stage: #2b3036;
  --good: #7fd8a0; --good-back: #173524; --bad: #ff9d92; --bad-back: #44201c;
  --chip: #2b323a } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
main { max-width: 1180px; margin: 0 auto; padding: 16px }
@media (min-width: 2300px) { main { max-width: 2240px } }
h1, h2, h3, p, ul, dl { margin: 0 }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 32px 0 10px }
h3 { font-size: 1rem; overflow-wrap: anywhere }
.quiet { color: var(--quiet) }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 12px 14px; margin-bottom: 14px }
.chips { display: flex; flex-wrap: wrap; gap: 6px; padding: 0; margin: 10px 0 0;
  list-style: none }
.chips li { background: var(--chip); border-radius: 99px; padding: 1px 11px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px;
  margin-top: 10px }
dt { color: var(--quiet) }
dd { margin: 0; overflow-wrap: anywhere }
.wide { overflow-x: auto; padding: 0 }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: 5px 12px; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line) }
tr:last-child > * { border-bottom: 0 }
thead th { color: var(--quiet); font-weight: 500; vertical-align: bottom }
tbody th { font-weight: 500 }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--card);
  min-width: 8em; max-width: 46vw; white-space: normal; overflow-wrap: anywhere }
.facts th { width: 17em }
.facts td { text-align: left; white-space: normal }
p + .card { margin-top: 8px }
a { color: inherit; text-decoration-color: var(--quiet); text-underline-offset: 2px }
.better, .worse { border-radius: 4px; padding: 1px 5px }
td .better, td .worse { margin: 0 -5px }
.better { color: var(--good); background: var(--good-back) }
.worse { color: var(--bad); background: var(--bad-back) }
.findings { list-style: none; padding: 0 }
.findings li { padding: 5px 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere }
.findings li:last-child { border-bottom: 0 }
.warning, .info { border-radius: 4px; padding: 1px 6px; font-size: .85em }
.warning { color: var(--bad); background: var(--bad-back) }
.info { background: var(--chip) }
summary { cursor: pointer; padding: 6px 0 }
.pairs { display: grid; gap: 14px; margin-top: 10px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)) }
figure { margin: 0 }
figcaption { margin-bottom: 4px }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 4px }
.pair > div { position: relative; background: var(--stage); border-radius: 6px;
  overflow: hidden }
.pair img { display: block; width: 100%; height: auto }
.pair span { position: absolute; left: 5px; top: 5px; padding: 0 6px;
  border-radius: 4px; background: var(--card); font-size: .8em; opacity: .85 }
.ramp { display: inline-block; width: 90px; height: .7em; border-radius: 3px;
  vertical-align: -1px; margin: 0 5px; background: linear-gradient(90deg, RAMP) }
"""


def repair_page(
    before: Character,
    after: Character,
    report: RepairReport,
    *,
    title: str,
    notes: Sequence[tuple[str, str]],
    most_joints: int = 24,
    advance: Callable[[], None] = lambda: None,
) -> bytes:
    """A whole HTML page about a repair, UTF-8.

    before, after: the character; after has the same nodes, and links after them; title:
    such as the name of the file; notes: what was asked for, as (name, value);
    most_joints: how many joints get pictures, those that changed most; advance: called
    after each picture. The same input gives the same bytes.
    """
    if most_joints < 0:
        raise SettingError(f"most_joints: {most_joints}, expected 0 or more")
    changed, others = _by_change(report.joints)
    changes = {joint.node: joint for joint in changed}
    sections: list[str] = []
    shown: list[JointChange] = []
    drawn = draw_joints(before, after, changes, SIZE, most_joints, advance)
    for pictures in drawn:
        joint = changes[pictures.node]
        shown.append(joint)
        sections.append(_joint_section(joint, pictures))
    stops = ", ".join(f"rgb({r} {g} {b})" for r, g, b in RAMP.tolist())
    style = STYLE.replace("RAMP", stops)
    about = _about_pictures(len(shown), len(changed), most_joints)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(title)} \u2013 repair</title>",
        f"<style>{style}</style></head><body><main>",
        *_head(title, report, notes),
        *_findings(report.findings),
        *_joints(changed, others, {joint.node for joint in shown}),
        "<h2>Before and after</h2>",
        f'<p class="quiet">{about}</p>',
        *sections,
        "</main></body></html>\n",
    ]
    return "\n".join(parts).encode("utf-8", "replace")


def _by_change(
    joints: Iterable[JointChange],
) -> tuple[list[JointChange], list[JointChange]]:
    """Joints that changed, those that did most first; and the others."""
    every = sorted(joints, key=lambda j: (-j.vertices * j.largest, -j.links, j.node))
    changed = [joint for joint in every if joint.vertices or joint.links]
    others = [joint for joint in every if not (joint.vertices or joint.links)]
    return changed, sorted(others, key=lambda joint: joint.node)


def _head(
    title: str, report: RepairReport, notes: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Title, what was done, and how much of it."""
    yield f'<p class="quiet">Repair</p><h1>{_text(title)}</h1>'
    passes = "".join(f"<li>{_text(name)}</li>" for name in report.passes)
    if passes:
        yield f'<ul class="chips" aria-label="passes">{passes}</ul>'
    if notes:
        yield _pairs((_text(name), _text(value, 2000)) for name, value in notes)
    yield "<h2>Summary</h2>"
    count = report.vertex_count
    part = f" ({report.vertices / count:.0%})" if count else ""
    levels = Counter(finding.level for finding in report.findings)
    found = ", ".join(f"{n:,} {level}" for level, n in sorted(levels.items()))
    joints = sum(1 for joint in report.joints if joint.vertices or joint.links)
    rows = [
        ("vertices with other weights", f"{report.vertices:,} of {count:,}{part}"),
        ("joints that changed", f"{joints:,} of {len(report.joints):,}"),
        (
            "joints a vertex, at most",
            f"{report.influences_before} \u2192 {report.influences_after}",
        ),
        ("links added", f"{sum(joint.links for joint in report.joints):,}"),
        ("findings", found or "none"),
    ]
    cells = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in rows)
    yield f'<div class="card wide"><table class="facts">{cells}</table></div>'


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
        f'<li><span class="{_level(finding)}">{_text(finding.level)}</span> '
        f"<b>{_text(finding.code)}</b> {_text(finding.where)}: "
        f"{_text(finding.text, 2000)}</li>"
        for finding in ordered[:MOST_FINDINGS]
    ]
    if len(ordered) > MOST_FINDINGS:
        rows.append(f"<li>and {len(ordered) - MOST_FINDINGS:,} more</li>")
    yield f'<div class="card"><ul class="findings">{"".join(rows)}</ul></div>'


def _level(finding: Finding) -> str:
    return "warning" if finding.level == "warning" else "info"


def _joints(
    changed: Sequence[JointChange], others: Sequence[JointChange], shown: set[int]
) -> Iterator[str]:
    """Tables of the joints; shown: nodes of those with pictures below."""
    if not changed and not others:
        return
    yield "<h2>Joints</h2>"
    if changed:
        yield (
            '<p class="quiet">How much of the volume around a joint is left when it '
            "turns, and of the least radius: before \u2192 after. "
            '<span class="better">\u25b2 better</span> '
            f'<span class="worse">\u25bc worse</span> {NONE} not measured</p>'
        )
        yield _table(changed[:MOST_ROWS], shown)
    if changed[MOST_ROWS:]:
        left = len(changed) - MOST_ROWS
        yield f"<details><summary>{left:,} more that changed less</summary>"
        yield f"{_table(changed[MOST_ROWS:], shown)}</details>"
    if others:
        yield f"<details><summary>{len(others):,} did not change</summary>"
        yield f"{_table(others, shown)}</details>"


def _table(joints: Sequence[JointChange], shown: set[int]) -> str:
    heads = ("joint", "vertices", "largest change", "links", *(m[0] for m in MEASURES))
    rows = ["".join(f'<th scope="col">{head}</th>' for head in heads)]
    for joint in joints:
        name = _text(joint.name) or NONE
        if joint.node in shown:
            name = f'<a href="#joint-{joint.node}">{name}</a>'
        cells = [
            f"{joint.vertices:,}" if joint.vertices else NONE,
            f"{joint.largest:.2f}" if joint.vertices else NONE,
            f"{joint.links}" if joint.links else NONE,
            *(_change(joint, field) for _, field in MEASURES),
        ]
        rows.append(
            f'<th scope="row">{name}</th>'
            + "".join(f"<td>{cell}</td>" for cell in cells)
        )
    head, *body = (f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="card wide"><table><thead>{head}</thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _change(joint: JointChange, field: str) -> str:
    """A measure before and after, marked where it got better or worse."""
    old = None if joint.before is None else getattr(joint.before, field)
    new = None if joint.after is None else getattr(joint.after, field)
    if old is None and new is None:
        return NONE
    text = f"{_percent(old)} \u2192 {_percent(new)}"
    if old is None or new is None or _percent(old) == _percent(new):
        return text
    gain = abs(old - 1) - abs(new - 1)
    if field == "radius180":
        gain = min(new, 1.0) - min(old, 1.0)  # a limb may well get thicker
    if abs(gain) < SAME:
        return text
    kind, mark = ("better", "\u25b2") if gain > 0 else ("worse", "\u25bc")
    return f'<span class="{kind}" title="{kind}">{text} {mark}</span>'


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.0f}\u202f%"


def _about_pictures(shown: int, changed: int, most: int) -> str:
    """What the pictures show, and how many joints have none."""
    if not changed:
        return "No joint changed."
    if not most:
        return f"No pictures were asked for; {changed:,} joints changed."
    if not shown:
        return "No pictures: no joint that changed bends a skin."
    text = (
        "Each joint is turned alone, as clips bend it if they do; other limbs are left "
        "out. Weights are those of the joint and its links together:"
        ' 0<span class="ramp" aria-hidden="true"></span>1.'
    )
    left = changed - shown
    said = "1 is" if left == 1 else f"{left:,} are"
    if left and shown >= most:
        text += (
            f" Shown are the {shown} of {changed:,} changed joints that changed most; "
            f"{said} left out."
        )
    elif left:
        text += (
            f" Of {changed:,} changed joints {said} left out: with no joint above, or "
            "no skin, nothing bends."
        )
    return text


def _joint_section(joint: JointChange, pictures: JointPictures) -> str:
    """A joint with its pictures."""
    name = _text(joint.name) or NONE
    facts = [f"{joint.vertices:,} vertices", f"largest change {joint.largest:.2f}"]
    if joint.links:
        facts.append("1 link" if joint.links == 1 else f"{joint.links} links")
    figures = []
    rows = zip(SHOTS, SHOT_MEASURES, pictures.before, pictures.after, strict=True)
    for shot, field, old, new in rows:
        change = NONE if field is None else _change(joint, field)
        measure = "" if change == NONE else f", volume {change}"
        images = "".join(
            f"<div>{_image(pixels, f'{name}, {shot}, {when}')}<span>{when}</span></div>"
            for pixels, when in ((old, "before"), (new, "after"))
        )
        figures.append(
            f"<figure><figcaption>{shot}{measure}</figcaption>"
            f'<div class="pair">{images}</div></figure>'
        )
    return (
        f'<section class="card" id="joint-{joint.node}"><h3>{name}</h3>'
        f'<p class="quiet">{", ".join(facts)}</p>'
        f'<div class="pairs">{"".join(figures)}</div></section>'
    )


def _image(pixels: Pixels, alt: str) -> str:
    """A picture in the page itself; alt: HTML already."""
    data = base64.b64encode(encode_webp(pixels, QUALITY, METHOD)).decode("ascii")
    return (
        f'<img src="data:image/webp;base64,{data}" width="{SHOWN[0]}" '
        f'height="{SHOWN[1]}" alt="{alt}">'
    )


def _text(value: str, longest: int = LONGEST) -> str:
    """A text of a file as HTML: escaped, without control characters, not too long."""
    plain = "".join(c if c.isprintable() else "\ufffd" for c in value[: longest + 1])
    if len(plain) > longest:
        plain = plain[:longest] + "\u2026"
    return escape(plain)
