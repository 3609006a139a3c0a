"""Games by scripts, in processes of their own: how they end, to the bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache

import pytest

from tests.conftest import ROOT
from tests.draw.test_golden import machine

PINNED = ROOT / "tests" / "golden" / "play.json"
FIRST = """
import numpy as np
"""
SCRIPT = """
from flexor.games.{module} import {make}
from flexor.stage.movement.buttons import buttons_at, init_replay
game = {make}({words})
log, held, heard = game.demo, np.zeros(2, np.uint32), set()
replay = init_replay(log, 2)
for tick in range(min(log.length, 1200)):
    game.step(buttons_at(replay, tick, out=held))
    heard.update(game.sounds)
print(" ".join(sorted(heard)), game.hash())
"""
GAMES = {
    "arena": ("arena.arena", "make_arena", 'seed=2, versus="two"', {"parry", "hit"}),
    "goal": ("goal.game", "make_goal_game", "", {"goal", "guard", "net"}),
}


@cache
def play(threads: str) -> dict[str, list[str]]:
    """What was heard in each game, and the hash last."""
    script = FIRST
    for module, make, words, _ in GAMES.values():
        script += SCRIPT.format(module=module, make=make, words=words)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "FLEXOR_THREADS": threads},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    return {name: line.split() for name, line in zip(GAMES, lines, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(GAMES))
def test_demos_end_as_they_did(name: str) -> None:
    one, two = play("1")[name], play("2")[name]
    assert one == two
    assert GAMES[name][3] <= set(one[:-1])
    pinned = json.loads(PINNED.read_text())
    if pinned["machine"] != machine():
        pytest.skip("hashes are pinned for another kind of machine")
    assert one[-1] == pinned[name]
