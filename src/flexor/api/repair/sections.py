"""Parts of the page of a repair that speak of joints: the table, and a section each."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from flexor.api.repair.joint_pictures import JointFilm
from flexor.arrays import Pixels
from flexor.output.formats.webp import encode_webp
from flexor.output.ordered import Ordered

if TYPE_CHECKING:
    from flexor.convert.repair.report import JointChange
    from flexor.convert.repair.trials import JointTrial

__all__ = ["NONE", "escaped", "joint_section", "joint_table", "verdict", "worst_score"]

QUALITY, METHOD = 80, 2  # of WebP; a tenth of the size of PNG
LONGEST = 160  # letters of a name
LITTLE = 0.01  # a share of skin that looks bad of which nothing is seen
SAME = 0.005  # measures that differ by less are as good
NONE = "\u2013"
ARROW = "\u2192"
TURNS = ("twisted", "bent", "bent")  # about the axes of a bone
# What is said of how a joint looks: heading, name in a JointScore.
LOOKS = (("folds", "folds"), ("torn", "torn"), ("squeezed", "squeezed"))
# The volume that is left: what it is bent by, name in a JointMeasure.
MEASURES = (
    ("bent 90\u00b0", "bend90"),
    ("bent 150\u00b0", "bend150"),
    ("twisted 180\u00b0", "twist180"),
)


def worst_score(joint: JointChange) -> float:
    """The higher of a joint's two scores, -1 if it has none."""
    looks = (joint.looked, joint.looks)
    return max((look.score for look in looks if look is not None), default=-1.0)


def verdict(joint: JointChange) -> str:
    """Whether a joint looks "better" or "worse" than before; "" for neither."""
    from flexor.convert.shape.judge_joints import is_better, is_worse

    if joint.looked is None or joint.looks is None:
        return ""
    if is_worse(joint.looks, joint.looked):
        return "worse"
    return "better" if is_better(joint.looks, joint.looked) else ""


def joint_table(joints: Sequence[JointChange], shown: set[int], most: float) -> str:
    """A table of joints; shown: nodes of those with pictures; most: the longest bar."""
    heads = (
        "joint",
        "score",
        "",
        *(heading for heading, _ in LOOKS),
        "volume left",
        "vertices",
        "links",
    )
    rows = ["".join(f'<th scope="col">{head}</th>' for head in heads)]
    for joint in joints:
        name = escaped(joint.name) or NONE
        if joint.node in shown:
            name = f'<a href="#joint-{joint.node}">{name}</a>'
        cells = [
            f"<td>{_score(joint)}</td>",
            f'<td class="bars">{_bars(joint, most)}</td>',
            *(f"<td>{_pair(joint, field)}</td>" for _, field in LOOKS),
            f"<td>{_pair(joint, 'left', is_share=True)}</td>",
            f"<td>{f'{joint.vertices:,}' if joint.vertices else NONE}</td>",
            f"<td>{joint.links or NONE}</td>",
        ]
        rows.append(f'<th scope="row">{name}</th>{"".join(cells)}')
    head, *body = (f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="card wide"><table><thead>{head}</thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def joint_section(joint: JointChange, film: JointFilm, shown: tuple[int, int]) -> str:
    """A joint with its pictures and the slider that turns it.

    shown: width and height of a picture on the page, pixels.
    """
    name = escaped(joint.name) or NONE
    assert joint.trial is not None
    turn = TURNS[joint.trial.axis]
    said = [_angle(turn, angle) for angle in film.angles]
    figures = [("before", "before", film.before)]
    if film.largest:
        figures.append(("after", "after", film.after))
        figures.append(("difference", _difference(film), film.difference))
    else:
        figures = [("before and after", "before and after: the same", film.before)]
    views = []
    for when, caption, frames in figures:
        alts = [f"{name}, {words}, {when}" for words in said]
        views.append(
            f"<figure><figcaption>{caption}</figcaption>"
            f'<div class="stage">{_images(frames, alts, film, shown)}</div></figure>'
        )
    facts = "".join(f"<li>{fact}</li>" for fact in _facts(joint))
    alone = "" if film.largest else " alone"
    return (
        f'<section class="card" id="joint-{joint.node}">'
        f'<div class="head"><h3>{name}</h3><span>{_score(joint)}</span></div>'
        f'<p class="quiet">{_pose(joint, joint.trial, said[film.still])}</p>'
        f'<div class="views{alone}">{"".join(views)}</div>'
        f"{_slider(joint, film, said)}"
        f'<ul class="said quiet">{facts}</ul></section>'
    )


def _pose(joint: JointChange, trial: JointTrial, still: str) -> str:
    """In which pose a joint is shown first."""
    way = ", ".join(f"{round(part, 2) + 0.0:.2f}" for part in trial.way)
    seen = max((look.seen for look in (joint.looked, joint.looks) if look), default=0)
    told = f"bad there {trial.before:.2f} {ARROW} {trial.after:.2f}"
    if max(trial.before, trial.after) < LITTLE < seen:
        told = "it looks bad in clips, or with others at random, not turned alone"
    return f"First shown {still} about ({way}) of its own axes; {told}"


def _facts(joint: JointChange) -> list[str]:
    """What else there is to say of a joint, HTML."""
    facts = []
    for field, what in (("folds", "edges folded"), ("torn", "triangles torn")):
        if any(look and getattr(look, field) for look in (joint.looked, joint.looks)):
            facts.append(f"{what} in a trial {_pair(joint, field)}")
    if joint.looked and joint.looks and (joint.looked.seen or joint.looks.seen):
        seen = f"{_percent(joint.looked.seen)} {ARROW} {_percent(joint.looks.seen)}"
        facts.append(f"skin that looks bad in clips or at random {seen}")
    for how, field in MEASURES:
        if _measure(joint, field) != NONE:
            facts.append(f"volume left {how} {_measure(joint, field)}")
    if joint.vertices:
        facts.append(
            f"{joint.vertices:,} vertices have other weights, by {joint.largest:.2f} "
            "at most"
        )
    if joint.links:
        facts.append("1 link" if joint.links == 1 else f"{joint.links} links")
    if not (joint.vertices or joint.links):
        facts.append("its own weights did not change")
    return facts


def _difference(film: JointFilm) -> str:
    """The caption of a picture of what differs."""
    return (
        'how far it moved: 0<span class="ramp" aria-hidden="true"></span>'
        f"{100 * film.largest:.1f}\u202f% of the body"
    )


def _images(
    frames: Sequence[Pixels],
    alts: Sequence[str],
    film: JointFilm,
    shown: tuple[int, int],
) -> str:
    """Pictures one behind the other in the page itself; alts: HTML already."""
    coded: list[bytes] = []
    work = Ordered(coded.append)
    try:
        for pixels in frames:
            work.add(partial(encode_webp, pixels, QUALITY, METHOD))
        work.finish()
    finally:
        work.close()
    tags = []
    for at, (data, alt) in enumerate(zip(coded, alts, strict=True)):
        source = base64.b64encode(data).decode("ascii")
        hidden = "" if at == film.still else " hidden"
        tags.append(
            f'<img src="data:image/webp;base64,{source}" width="{shown[0]}" '
            f'height="{shown[1]}" alt="{alt}" decoding="sync"{hidden}>'
        )
    return "".join(tags)


def _slider(joint: JointChange, film: JointFilm, said: Sequence[str]) -> str:
    """What turns a joint from one end of its range to the other."""
    own = f"turn-{joint.node}"
    name = escaped(joint.name) or NONE
    last = len(film.angles) - 1
    low, high = (f"{_degrees(film.angles[at])}\u00b0" for at in (0, -1))
    return (
        f'<div class="scrub"><output for="{own}">{said[film.still]}</output>'
        f'<span class="quiet">{low}</span>'
        f'<input type="range" id="{own}" min="0" max="{last}" step="1" '
        f'value="{film.still}" aria-label="turn of {name}" '
        f'aria-valuetext="{said[film.still]}" data-said="{"|".join(said)}">'
        f'<span class="quiet">{high}</span></div>'
    )


def _angle(turn: str, angle: float) -> str:
    return f"{turn} {_degrees(angle)}\u00b0" if angle else "at rest"


def _degrees(angle: float) -> str:
    return f"{math.degrees(angle):.0f}".replace("-", "\u2212")


def _score(joint: JointChange) -> str:
    """The score before and after, marked where it is better or worse."""
    text = _pair(joint, "score")
    kind = verdict(joint)
    if not kind:
        return text
    mark = "\u25b2" if kind == "better" else "\u25bc"
    return f'<span class="{kind}" title="{kind}">{text} {mark}</span>'


def _bars(joint: JointChange, most: float) -> str:
    """Both scores as bars."""
    looks = (joint.looked, joint.looks)
    if None in looks:
        return ""
    widths = [100 * min(look.score / most, 1) for look in looks if look is not None]
    return "".join(f'<i style="width:{width:.0f}%"></i>' for width in widths)


def _pair(joint: JointChange, field: str, *, is_share: bool = False) -> str:
    """A part of a score before and after."""
    texts = []
    for look in (joint.looked, joint.looks):
        value = None if look is None else getattr(look, field)
        if value is None:
            texts.append(NONE)
        elif is_share:
            texts.append(_percent(value))
        else:
            texts.append(f"{value:.2f}" if field == "score" else f"{value:.1f}")
    return NONE if texts == [NONE, NONE] else f"{texts[0]} {ARROW} {texts[1]}"


def _measure(joint: JointChange, field: str) -> str:
    """A volume before and after, marked where it got better or worse."""
    old = None if joint.before is None else getattr(joint.before, field)
    new = None if joint.after is None else getattr(joint.after, field)
    if old is None and new is None:
        return NONE
    text = f"{_percent(old)} {ARROW} {_percent(new)}"
    if old is None or new is None or _percent(old) == _percent(new):
        return text
    gain = abs(old - 1) - abs(new - 1)
    if abs(gain) < SAME:
        return text
    kind, mark = ("better", "\u25b2") if gain > 0 else ("worse", "\u25bc")
    return f'<span class="{kind}" title="{kind}">{text} {mark}</span>'


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.0f}\u202f%"


def escaped(value: str, longest: int = LONGEST) -> str:
    """A text of a file as HTML: escaped, without control characters, not too long."""
    plain = "".join(c if c.isprintable() else "\ufffd" for c in value[: longest + 1])
    if len(plain) > longest:
        plain = plain[:longest] + "\u2026"
    return escape(plain)
