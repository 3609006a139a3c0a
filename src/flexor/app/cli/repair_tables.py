"""What a repair changed, and what is wrong before one, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flexor.app.cli.tables import add_row, new_table, open_console, say_count

if TYPE_CHECKING:
    from flexor.convert.measure_joints import JointMeasure
    from flexor.convert.repair_report import JointChange, RepairReport
    from flexor.scene.finding import Finding

__all__ = ["print_findings", "print_report", "say_share"]

MOST_ROWS = 40
LEGEND = (
    "bend, twist: how much of the volume around a joint is left when it turns by so "
    "many degrees, before > after; -: not measured"
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
    print_findings(report.findings)
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
    console.print(LEGEND)


def print_findings(findings: Sequence[Finding]) -> None:
    """Warnings first, a line each."""
    console = open_console()
    ordered = sorted(findings, key=lambda finding: finding.level != "warning")
    for finding in ordered[:MOST_ROWS]:
        console.print(str(finding), markup=False, soft_wrap=True)
    if len(findings) > MOST_ROWS:
        console.print(f"and {len(findings) - MOST_ROWS} more; --json gives all")


def say_share(value: float | None) -> str:
    """Such as "0.87"."""
    return "-" if value is None else f"{value:.2f}"


def _say_change(joint: JointChange, name: str) -> str:
    def share(measure: JointMeasure | None) -> str:
        return say_share(None if measure is None else getattr(measure, name))

    return f"{share(joint.before)} > {share(joint.after)}"
