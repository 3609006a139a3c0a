"""A short game of the goal, as presses: a goal, and then a save."""

from __future__ import annotations

import numpy as np

from flexor.scene.stage.moves import InputLog, button_mask

__all__ = ["make_demo", "make_log"]

# Ticks, and the buttons that are held so long.
SCRIPT = (
    (45, ""),
    (4, "A"),  # start
    (14, ""),
    (16, "right+up"),
    (38, "right"),
    (2, "Y"),  # it bends to the right
    (5, ""),
    (25, "B"),
    (205, ""),  # a goal at tick 181, and some of its replay
    (3, "A"),
    (8, ""),
    (4, "left+up"),
    (39, "left"),
    (2, "X"),
    (5, ""),
    (27, "B"),
    (198, ""),  # saved at tick 470, and all of its replay
)


def make_demo() -> InputLog:
    """About ten seconds for a game with the mannequin and the seed 0."""
    return make_log(SCRIPT)


def make_log(script: tuple[tuple[int, str], ...]) -> InputLog:
    """Presses of the first pad: ticks, and the buttons that are held so long."""
    ticks, states, at, held = [], [], 0, 0
    for count, buttons in script:
        mask = button_mask(buttons) if buttons else 0
        if mask != held:
            ticks.append(at)
            states.append(mask)
            held = mask
        at += count
    return InputLog(
        np.array(ticks, np.int32),
        np.zeros(len(ticks), np.int32),
        np.array(states, np.uint32),
        at,
    )
