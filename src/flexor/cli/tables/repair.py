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
    from flexor.convert.shape.measure_joints import JointMeasure
    from flexor.convert.weights.check_weights import BodyCheck, StepCheck, WeightCheck
    from flexor.scene.finding import Finding

__all__ = ["print_check", "print_report"]

MOST_ROWS = 40
WORSE = 0.02  # less is no change
LEGEND = (
    "bend, twist: shares of the volume around a joint that are left when it turns by "
    "so many degrees, the worst of all ways; below 0: inside out; -: not measured"
)
CHECK_LEGEND = (
    f"{LEGEND}; steps: edges over which its weight changes too fast, worst: the "
    "change, and what the thickness there allows"
)
POOR = 0.5  # of the volume at a bend of 150 degrees: a joint that collapses


def print_report(title: str, report: RepairReport) -> None:
    """What was done, what was found, and a row for each joint that changed."""
    console = open_console()
    done = ", ".join(report.passes)
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
    _print_findings(report.findings)
    changed = [joint for joint in report.joints if joint.vertices or joint.links]
    worse = [joint for joint in changed if _gain(joint) < -WORSE]
    if worse:
        names = say_plain(", ".join(joint.name for joint in worse[:8]))
        more = ", ..." if len(worse) > 8 else ""
        console.print(
            f"{len(worse)} joints keep less of their volume than before: {names}{more}",
            markup=False,
            soft_wrap=True,
        )
    changed.sort(key=lambda joint: (_gain(joint) >= -WORSE, -joint.largest, joint.node))
    if not changed:
        return
    columns = ("joint", "vertices", "links", "bend 90", "bend 150", "twist 180")
    table = _narrow_table(*columns)
    prefix = _shared_prefix([joint.name for joint in changed])
    for joint in changed[:MOST_ROWS]:
        add_row(
            table,
            joint.name[len(prefix) :],
            say_count(joint.vertices),
            str(joint.links or ""),
            *(_say_change(joint, at) for at in ("bend90", "bend150", "twist180")),
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
    in_table = ("joint-collapse", "weight-step")
    _print_findings([one for one in check.findings if one.code not in in_table])
    rows = [row for body in check.bodies for row in _check_rows(body)]
    rows.sort(key=lambda row: row[0])
    if not rows:
        console.print("no joint is surrounded by skin that could be measured")
        return
    columns = (
        "joint",
        "bend 90",
        "bend 150",
        "twist 90",
        "twist 180",
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
    poor = [m.name for m in body.measures if m.bend150 is not None and m.bend150 < POOR]
    advice = []
    if body.rogues:
        advice.append("--rogues")
    if poor:
        advice.append("--links 3")
    if sum(step.edges for step in body.steps) > body.edges / 50:
        advice.append("--smooth")
    console = open_console()
    if poor:
        names = say_plain(", ".join(poor[:6])) + (", ..." if len(poor) > 6 else "")
        text = f"{len(poor)} joints keep less than half of their volume at 150 degrees:"
        console.print(f"  {text} {names}", markup=False, soft_wrap=True)
    if advice and not has_links:
        console.print(f"  try flexor repair with {' '.join(advice)}", soft_wrap=True)


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
    """How much of its volume a joint keeps more than before, in its worst turn."""
    gains = [
        getattr(joint.after, turn) - getattr(joint.before, turn)
        for turn in ("bend90", "bend150", "twist180")
        if getattr(joint.after, turn, None) is not None
        and getattr(joint.before, turn, None) is not None
    ]
    return min(gains, default=0.0)


def _check_rows(body: BodyCheck) -> Iterator[tuple[float, tuple[str, ...]]]:
    """Cells for each joint with something to say, and by what they are sorted."""
    steps = {step.joint: step for step in body.steps}
    for one in body.measures:
        step = steps.pop(one.name, None)
        if one.is_measured or step is not None:
            shares = (one.bend90, one.bend150, one.twist90, one.twist180)
            cells = (one.name, *map(_say_share, shares), *_say_step(step))
            yield 2.0 if one.bend150 is None else one.bend150, cells
    for step in steps.values():
        yield 2.0, (step.joint, "-", "-", "-", "-", *_say_step(step))


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
    def share(measure: JointMeasure | None) -> str:
        return _say_share(None if measure is None else getattr(measure, name))

    return f"{share(joint.before)}\u2192{share(joint.after)}"
