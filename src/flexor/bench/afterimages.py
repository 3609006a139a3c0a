"""Afterimages: what they cost beside their drawing, and what is transformed again."""

from __future__ import annotations

from collections.abc import Iterator

from flexor import samples
from flexor.api.stage import Stage
from flexor.bench.timing import Result, best_seconds
from flexor.draw.scene.style import DrawStyle
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, CameraRule, StagePlan
from flexor.stage.effects.afterimage_rule import leave_afterimages
from flexor.stage.frame import make_frame

__all__ = ["run"]

LEG = ("rightUpperLeg", "rightLowerLeg", "rightFoot")
SIZE = (640, 480)
WARM, TICKS = 20, 24  # ticks before, and those that are measured: the kick itself
STYLE = DrawStyle(samples=1)


def _kicking(afterimages: tuple[str, ...]) -> Stage:
    """One in the middle of a kick whose leg leaves afterimages, or none."""
    move = Move("spin-kick", 26, 9, 31, parts=("rightFoot",), afterimages=afterimages)
    plan = StagePlan(
        cast=(Actor(name="one", opponent="none"),),
        ground=shape_ground((12, 12), 0.5),
        moves=MoveTable((move,), singles={"B": "spin-kick"}),
        camera=CameraRule(rule="fixed", eye=(0.5, 1.4, 3.6), target=(0, 0.9, 0)),
    )
    stage = Stage(plan, characters={"mannequin": samples.mannequin()})
    for tick in range(WARM):
        stage.step("B" if tick < 4 else "")
        make_frame(stage.state)
    return stage


def _play(afterimages: tuple[str, ...]) -> tuple[int, int]:
    """Play the kick; gives vertices that were transformed, and afterimages seen."""
    stage = _kicking(afterimages)
    before, seen = stage.state.bodies[0].deformed, 0
    for _ in range(TICKS):
        stage.step()
        seen += sum(len(body.afterimages) for body in make_frame(stage.state).bodies)
    return stage.state.bodies[0].deformed - before, seen


def run(rounds: int = 20) -> Iterator[Result]:
    """Frames of a kick with and without afterimages, in turns."""
    plain, faint = _kicking(()), _kicking(LEG)
    frames = make_frame(plain.state), make_frame(faint.state)

    def keep(stage: Stage) -> None:
        body = stage.state.bodies[0]
        body.skinned_at[:] = -1  # as if the tick were a new one
        body.shaded_at[:] = -1
        if body.afterimages is not None:
            own = body.afterimages.kept[0]
            own.newest = (own.newest - 1) % len(own.ticks)
        leave_afterimages(stage.state)
        make_frame(stage.state)

    without, kept = best_seconds(
        lambda: keep(plain), lambda: keep(faint), rounds=rounds
    )
    bare, drawn = best_seconds(
        lambda: plain.draw(SIZE, style=STYLE),
        lambda: faint.draw(SIZE, style=STYLE),
        rounds=rounds,
    )
    count = sum(len(body.afterimages) for body in frames[1].bodies)
    note = f"{count} afterimages of a leg"
    yield Result(
        "effects/afterimages/keep",
        (kept - without) * 1e6,
        "us",
        f"more than a frame without takes, {without * 1e6:.0f}; {note}",
    )
    yield Result(
        "effects/afterimages/draw",
        (drawn - bare) * 1e6,
        "us",
        f"more than a picture without takes, {bare * 1e6:.0f}; {note}",
    )
    (own, _), (other, seen) = _play(()), _play(LEG)
    yield Result(
        "effects/afterimages/transformed_again",
        other - own,
        "",
        f"vertices, of {own} in {TICKS} frames in which {seen} afterimages are seen",
    )
