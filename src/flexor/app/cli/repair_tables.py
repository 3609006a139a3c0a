"""What a repair changed, and what is wrong before one, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flexor.app.cli.tables import add_row, new_table, open_console, say_count

if TYPE_CHECKING:
    from flexor.convert.check_weights import BodyCheck, StepCheck, WeightCheck
    from flexor.convert.measure_joints import JointMeasure
    from flexor.convert.repair_report import JointChange, RepairReport
    from flexor.scene.finding import Finding

__all__ = ["print_check", "print_report"]

MOST_ROWS = 40
LEGEND = (
    "bend, twist: how much of the volume around a joint is left when it turns by so "
    "many degrees, before > after; -: not measured"
)
CHECK_LEGEND = (
    "bend, twist: how much of the volume around a joint is left when it turns by so "
    "many degrees; steps: edges over which its weight changes too fast, worst: by how "
    "much, and how much the thickness there allows; -: not measured"
)


def print_report(title: str, report: RepairReport) -> None:
    """What was done, what was found, and a row for each joint that changed."""
    console = open_console()
    done = ", ".join(report.passes)
    console.print(
        f"{title}: {done}; {say_count(report.vertices)} of "
        f"{say_count(report.vertex_count)} vertices have other weights; joints a "
        f"vertex: {report.influences_before} before, {report.influences_after} after",
        markup=False,
    )
    _print_findings(report.findings)
    changed = [joint for joint in report.joints if joint.vertices or joint.links]
    changed.sort(key=lambda joint: (-joint.largest, joint.node))
    if not changed:
        return
    table = new_table(
        "", "joint", "vertices", "most", "links", "bend 90", "bend 150", "twist 180"
    )
    for joint in changed[:MOST_ROWS]:
        add_row(
            table,
            joint.name,
            say_count(joint.vertices),
            f"{joint.largest:.2f}",
            str(joint.links),
            *(_say_change(joint, at) for at in ("bend90", "bend150", "twist180")),
        )
    console.print(table)
    if len(changed) > MOST_ROWS:
        console.print(f"and {len(changed) - MOST_ROWS} joints with smaller changes")
    console.print(LEGEND, soft_wrap=True)


def print_check(title: str, check: WeightCheck) -> None:
    """What is wrong in a few words, then the joints that bend worst."""
    console = open_console()
    for body in check.bodies:
        console.print(
            f"{title}, {body.name or 'skin'}: {say_count(body.vertices)} vertices on "
            f"{body.joints} joints; {len(body.rogues)} rogue patches; "
            f"{sum(step.edges for step in body.steps)} of {say_count(body.edges)} "
            "edges with a step in weights",
            markup=False,
        )
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
    table = new_table("", *columns)
    for _, cells in rows[:MOST_ROWS]:
        add_row(table, *cells)
    console.print(table)
    if len(rows) > MOST_ROWS:
        console.print(f"and {len(rows) - MOST_ROWS} joints that bend better")
    console.print(CHECK_LEGEND, soft_wrap=True)


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
    return say_count(step.edges), f"{step.change:.2f} > {step.allowed:.2f}"


def _print_findings(findings: Sequence[Finding]) -> None:
    """Warnings first, a line each."""
    console = open_console()
    ordered = sorted(findings, key=lambda finding: finding.level != "warning")
    for finding in ordered[:MOST_ROWS]:
        console.print(str(finding), markup=False, soft_wrap=True)
    if len(findings) > MOST_ROWS:
        console.print(f"and {len(findings) - MOST_ROWS} more; --json gives all")


def _say_share(value: float | None) -> str:
    """Such as "0.87"."""
    return "-" if value is None else f"{value:.2f}"


def _say_change(joint: JointChange, name: str) -> str:
    def share(measure: JointMeasure | None) -> str:
        return _say_share(None if measure is None else getattr(measure, name))

    return f"{share(joint.before)} > {share(joint.after)}"
