"""What a repair changed, and what is wrong before one, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flexor.cli.tables.columns import (
    add_row,
    new_table,
    open_console,
    say_count,
    say_plain,
)

if TYPE_CHECKING:
    from rich.table import Table

    from flexor.convert.repair.report import JointChange, RepairReport
    from flexor.convert.shape.judge_joints import JointScore
    from flexor.convert.weights.check_weights import BodyCheck, StepCheck, WeightCheck
    from flexor.scene.finding import Finding

__all__ = ["print_check", "print_report"]

MOST_ROWS = 40
LEGEND = (
    "score: how much of the skin around a joint looks bad when it turns, in trials and "
    "in clips; folds, torn, squeezed: edges and triangles, in the mean of all trials; "
    "left: the least share of the volume; -: not measured"
)
CHECK_LEGEND = (
    f"{LEGEND}; steps: edges over which its weight changes too fast, worst: the "
    "change, and what the thickness there allows"
)


def print_report(title: str, report: RepairReport) -> None:
    """What was done, what was found, and a row for each joint that changed."""
    console = open_console()
    done = ", ".join(report.passes) or "nothing was asked for that changes it"
    console.print(
        f"{title}: {done}; {say_count(report.vertices)} of "
        f"{say_count(report.vertex_count)} vertices have other weights; joints a "
        f"vertex: {report.influences_before} before, {report.influences_after} after",
        markup=False,
        soft_wrap=True,
    )
    if report.moved is not None:
        mean, most = report.moved
        console.print(
            f"in clips the skin moves by {mean:.2%} of its size on average, by "
            f"{most:.1%} at most",
            soft_wrap=True,
        )
    if report.strains is not None:
        (folds, torn, _), (folds_now, torn_now, _) = report.strains
        console.print(
            f"in a pose of clips or at random {folds:.1f} edges were folded and "
            f"{torn:.1f} triangles torn; now {folds_now:.1f} and {torn_now:.1f}",
            soft_wrap=True,
        )
    _print_findings(report.findings)
    changed = [joint for joint in report.joints if joint.vertices or joint.links]
    worse = [joint for joint in changed if _is_worse(joint)]
    if worse:
        names = say_plain(", ".join(joint.name for joint in worse[:8]))
        more = ", ..." if len(worse) > 8 else ""
        console.print(
            f"{len(worse)} joints look worse than before: {names}{more}",
            markup=False,
            soft_wrap=True,
        )
    changed.sort(key=lambda joint: (not _is_worse(joint), -_gain(joint), joint.node))
    if not changed:
        return
    columns = ("joint", "vertices", "links", "score", "folds", "torn", "left")
    table = _narrow_table(*columns)
    prefix = _shared_prefix([joint.name for joint in changed])
    for joint in changed[:MOST_ROWS]:
        add_row(
            table,
            joint.name[len(prefix) :],
            say_count(joint.vertices),
            str(joint.links or ""),
            *(_say_change(joint, at) for at in ("score", "folds", "torn", "left")),
        )
    console.print(table)
    if len(changed) > MOST_ROWS:
        console.print(f"and {len(changed) - MOST_ROWS} joints with smaller changes")
    console.print(LEGEND, soft_wrap=True)


def print_check(title: str, check: WeightCheck, *, has_links: bool) -> None:
    """What is wrong in a few words, then the joints that bend worst.

    has_links: whether it was repaired before; then nothing is advised.
    """
    console = open_console()
    if not check.bodies:
        console.print(f"{title}: has no skin that hangs on joints", markup=False)
        return
    for body in check.bodies:
        steps = sum(step.edges for step in body.steps)
        name = say_plain(body.name) or "skin"
        console.print(
            f"{title}, {name}: {say_count(body.vertices)} vertices on "
            f"{body.joints} joints; {len(body.rogues)} rogue patches; "
            f"{say_count(steps)} of {say_count(body.edges)} edges with a step in "
            "weights",
            markup=False,
            soft_wrap=True,
        )
        _print_verdict(body, has_links)
    in_table = ("joint-bad", "weight-step")
    _print_findings([one for one in check.findings if one.code not in in_table])
    rows = [row for body in check.bodies for row in _check_rows(body)]
    rows.sort(key=lambda row: row[0])
    if not rows:
        console.print("no joint moves any skin that could be measured")
        return
    columns = (
        "joint",
        "score",
        "folds",
        "torn",
        "squeezed",
        "left",
        "steps",
        "worst",
    )
    table = _narrow_table(*columns)
    prefix = _shared_prefix([cells[0] for _, cells in rows])
    for _, cells in rows[:MOST_ROWS]:
        add_row(table, cells[0][len(prefix) :], *cells[1:])
    console.print(table)
    if len(rows) > MOST_ROWS:
        console.print(f"and {len(rows) - MOST_ROWS} more joints; --json gives all")
    console.print(CHECK_LEGEND, soft_wrap=True)


def _print_verdict(body: BodyCheck, has_links: bool) -> None:
    """What is worth doing about a body, if anything."""
    from flexor.convert.weights.check_weights import BAD

    console = open_console()
    console.print(
        f"  in a pose of clips or at random {body.folds:.1f} edges are folded, "
        f"{body.torn:.1f} triangles torn and {body.squeezed:.1f} squeezed",
        soft_wrap=True,
    )
    if body.hard:
        names = say_plain(", ".join(body.hard[:6])) + ", ..." * (len(body.hard) > 6)
        text = f"{len(body.hard)} joints meet others in cuts, as those of machines do:"
        console.print(f"  {text} {names}", markup=False, soft_wrap=True)
    poor = [one.name for one in body.scores if one.score > BAD]
    if poor:
        names = say_plain(", ".join(poor[:6])) + (", ..." if len(poor) > 6 else "")
        text = f"{len(poor)} joints look bad when they turn:"
        console.print(f"  {text} {names}", markup=False, soft_wrap=True)
    if (poor or body.rogues or body.folds + body.torn >= 1) and not has_links:
        console.print("  try flexor repair with nothing but -o", soft_wrap=True)


def _narrow_table(*columns: str) -> Table:
    """A table for 80 columns: long names are folded, numbers never."""
    table = new_table("", *columns)
    table.box, table.padding = None, (0, 2, 0, 0)
    table.columns[0].overflow = "fold"
    for column in table.columns[1:]:
        column.no_wrap = True
    return table


def _shared_prefix(names: Sequence[str]) -> str:
    """What all names begin with, up to a colon, as in "mixamorig:Hips"."""
    head, colon, _ = names[0].partition(":") if names else ("", "", "")
    prefix = head + colon
    return prefix if colon and all(name.startswith(prefix) for name in names) else ""


def _gain(joint: JointChange) -> float:
    """How much less bad a joint looks than before."""
    if joint.looked is None or joint.looks is None:
        return 0.0
    return joint.looked.score - joint.looks.score


def _is_worse(joint: JointChange) -> bool:
    from flexor.convert.shape.judge_joints import is_worse

    if joint.looked is None or joint.looks is None:
        return False
    return is_worse(joint.looks, joint.looked)


def _check_rows(body: BodyCheck) -> Iterator[tuple[float, tuple[str, ...]]]:
    """Cells for each joint with something to say, and by what they are sorted."""
    steps = {step.joint: step for step in body.steps}
    for one in body.scores:
        step = steps.pop(one.name, None)
        counts = (f"{one.folds:.1f}", f"{one.torn:.1f}", f"{one.squeezed:.1f}")
        left = _say_share(one.left)
        cells = (one.name, _say_share(one.score), *counts, left, *_say_step(step))
        yield -one.score, cells
    for step in steps.values():
        yield 1.0, (step.joint, "-", "-", "-", "-", "-", *_say_step(step))


def _say_step(step: StepCheck | None) -> tuple[str, str]:
    if step is None:
        return "", ""
    return say_count(step.edges), f"{step.change:.2f} / {step.allowed:.2f}"


def _print_findings(findings: Sequence[Finding]) -> None:
    """Warnings first, a line each."""
    console = open_console()
    ordered = sorted(findings, key=lambda finding: finding.level != "warning")
    for finding in ordered[:MOST_ROWS]:
        console.print(say_plain(str(finding)), markup=False, soft_wrap=True)
    if len(findings) > MOST_ROWS:
        console.print(f"and {len(findings) - MOST_ROWS} more; --json gives all")


def _say_share(value: float | None) -> str:
    """Such as "0.87"."""
    return "-" if value is None else f"{value:.2f}"


def _say_change(joint: JointChange, name: str) -> str:
    def share(look: JointScore | None) -> str:
        return _say_share(None if look is None else getattr(look, name))

    return f"{share(joint.looked)}\u2192{share(joint.looks)}"
