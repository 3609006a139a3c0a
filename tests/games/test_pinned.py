"""Games, a stage and a crowd in processes of their own: how they end, to the bit.

The same with machine code that is compiled now, kept on disk or brought with the
package, on one thread or two, and on every machine of a level of processors.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from flexor.maths.machine.keep import find_code, keep_code, prebuilt_place, write_code
from flexor.maths.machine.target import find_target
from flexor.maths.machine.warm import file_of, kernel_modules
from tests.conftest import ROOT

PINNED = ROOT / "tests" / "golden" / "play.json"
GAME = """
import numpy as np
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
STAGE = """
import flexor
from flexor.bench.stage import make_input, make_plan
hero = flexor.samples.mannequin()
stage = flexor.Stage(make_plan(20), characters={"mannequin": hero})
for held in make_input(20, 240):
    stage.step(held)
print("stage", stage.hash())
"""
CROWD = """
import numpy as np, xxhash, flexor
crowd = flexor.Crowd(flexor.samples.mannequin(), 24)
numbers = np.random.default_rng(1)
crowd.place = numbers.uniform(-9, 9, (24, 3))
crowd.heading = numbers.uniform(-3, 3, 24)
crowd.play("walk", speed=numbers.uniform(0.5, 2, 24))
camera, digest = crowd.fit(), xxhash.xxh3_128()
for _ in range(20):
    crowd.advance(1 / 60)
    crowd.select(camera)
    crowd.deform()
    for mesh in crowd.meshes():
        digest.update(np.ascontiguousarray(mesh.positions))
print("crowd", digest.hexdigest())
"""
SCRIPTS = {
    "arena": GAME.format(
        module="match.match", make="make_match", words='seed=12, versus="watch"'
    ),
    "goal": GAME.format(module="goal.game", make="make_goal_game", words=""),
    "stage": STAGE,
    "crowd": CROWD,
}
HEARD = {
    "arena": {"parry", "hit"},
    "goal": {"goal", "guard", "net"},
    "stage": {"stage"},
    "crowd": {"crowd"},
}


def run(names: list[str], first: str = "", **environment: str) -> dict[str, str]:
    """The hash of each, in one process."""
    script = first + "".join(SCRIPTS[name] for name in names)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ends = {}
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        *heard, ends[name] = line.split()
        assert HEARD[name] <= set(heard)
    ends["said"] = done.stderr
    return ends


@cache
def played() -> dict[str, str]:
    """All of them, with kernels that are kept, on one thread."""
    return run(list(SCRIPTS), FLEXOR_THREADS="1")


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SCRIPTS))
def test_demos_end_as_they_did(name: str) -> None:
    level = find_target().key
    pinned = json.loads(PINNED.read_text("utf-8"))
    if level not in pinned:
        pytest.skip(f"no hashes are pinned for {level}")
    assert played()[name] == pinned[level][name]


def kept_code() -> dict[str, bytes]:
    """The machine code of all modules that is there."""
    found = {}
    for name in kernel_modules():
        data = find_code(name, file_of(name), find_target())
        if data is not None:
            found[name] = data
    return found


@pytest.mark.slow
@pytest.mark.jit
def test_a_process_that_compiles_ends_as_one_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With drag and curl, whose sums once were added in another order."""
    before = played()["goal"]
    code = kept_code()
    del code["flexor.stage.goal.kernels.goal"]
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("FLEXOR_PREBUILT", "0")
    for name, data in code.items():
        keep_code(name, file_of(name), find_target(), data)
    first, second = run(["goal"]), run(["goal"], FLEXOR_THREADS="2")
    assert "compiling" in first["said"]
    assert second["said"] == ""
    assert first["goal"] == second["goal"] == before


@pytest.mark.slow
@pytest.mark.jit
def test_code_of_the_package_ends_as_code_that_is_kept(tmp_path: Path) -> None:
    """On two threads, too; and nothing is compiled, nor written anywhere."""
    before = played()
    target = find_target()
    folder = tmp_path / "brought"
    for name, data in kept_code().items():
        place = prebuilt_place(name, file_of(name), target)
        write_code(folder / target.key / place.name, data)
    first = (
        "import pathlib\n"
        "from flexor.maths.machine import keep\n"
        f"keep.PREBUILT = pathlib.Path({str(folder)!r})\n"
    )
    nowhere = str(tmp_path / "none")
    ends = run(
        list(SCRIPTS),
        first,
        NUMBA_CACHE_DIR=nowhere,
        FLEXOR_PREBUILT="1",
        FLEXOR_THREADS="2",
    )
    assert ends["said"] == ""
    assert not Path(nowhere).exists()
    assert {name: ends[name] for name in SCRIPTS} == {
        name: before[name] for name in SCRIPTS
    }
