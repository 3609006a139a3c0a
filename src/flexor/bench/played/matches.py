"""Matches of the arena that two computer opponents play, and what is found in them."""

from __future__ import annotations

import math
from dataclasses import replace

from flexor import samples
from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.bench.played.faults import Found, init_watch, look
from flexor.files.text.stage import read_stage
from flexor.games.match.rival import Rival
from flexor.scene.stage.moves import RATE
from flexor.scene.stage.plan import CameraRule, StagePlan

__all__ = ["CAMERAS", "arena_stage", "play_match"]

BEATEN = 150  # ticks that who is beaten is looked at before the next round
# That matches are seen by in turn; None: that of the stage.
CAMERAS = (
    None,
    CameraRule(rule="behind", distance=3.4, height=2.1, fov=math.radians(50)),
    CameraRule(rule="side", distance=7.5, height=4.2, fov=math.radians(38)),
)


def arena_stage(
    hero: Character, seed: int = 0, camera: CameraRule | None = None
) -> Stage:
    """The arena as a stage, without words and spectators; camera: None for its own."""
    plan: StagePlan = replace(read_stage(samples.arena()), seed=seed)
    if camera is not None:
        plan = replace(plan, camera=camera)
    return Stage(plan, characters={"mannequin": hero})


def play_match(hero: Character, seed: int, seconds: float) -> Found:
    """Let two play for some seconds, round after round, seen by one of the cameras."""
    stage = arena_stage(hero, seed, CAMERAS[seed % len(CAMERAS)])
    rivals = [Rival(row, 1000 * seed + row) for row in range(len(stage))]
    watch, over = init_watch(stage), 0
    for _ in range(round(seconds * RATE)):
        stage.step([rival.press(stage) for rival in rivals])
        look(watch)
        over = over + 1 if (stage.energy <= 0).any() else 0
        if over > BEATEN:
            stage.restart()
            over = 0
    return watch.found
