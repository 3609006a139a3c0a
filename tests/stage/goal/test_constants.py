"""What kernels and the tables made for them call by number is the same number."""

from __future__ import annotations

from flexor.stage.goal import areas, sheet, state
from flexor.stage.goal.kernels import ball as kernel_ball
from flexor.stage.goal.kernels import net as kernel_net


def test_sides_holds_and_events_have_the_same_numbers() -> None:
    for name in ("BEFORE", "INSIDE", "OUTSIDE"):
        assert getattr(areas, name) == getattr(kernel_ball, name)
    for name in ("FREE", "SPRUNG", "FIXED"):
        assert getattr(sheet, name) == getattr(kernel_net, name)
    met = kernel_ball.MET_ROD, kernel_ball.MET_GROUND, kernel_ball.MET_NET
    assert (state.ROD, state.GROUND, state.NET) == met
    assert state.SCORED == kernel_ball.SCORED
