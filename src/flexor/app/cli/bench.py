"""`flexor bench`: the claims, measured on this machine."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flexor.errors import SettingError
from flexor.files.replace import replace_file

if TYPE_CHECKING:
    from flexor.app.bench.timing import Result

__all__ = ["bench"]

NAMES = (
    "pose",
    "player",
    "ik",
    "skin",
    "frame",
    "envelope",
    "weights",
    "load",
    "motion",
    "draw",
    "crowd",
    "goal",
    "stage",
    "effects",
    "play",
)


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(help=f"Which: {', '.join(NAMES)}. All, if none is named."),
    ] = None,
    json_to: Annotated[
        str, typer.Option("--json", help="Write JSON to a file, or - to print it.")
    ] = "",
    character: Annotated[
        list[Path] | None,
        typer.Option(help="A file to measure too; can be given several times."),
    ] = None,
) -> None:
    r"""Measure how fast this machine loads, poses, deforms and draws characters.

    For draw, also how fast others draw the same: moderngl on Mesa's llvmpipe and
    raylib, where they are installed (pip install 'flexor\[bench]'; on Debian and
    Ubuntu apt-get install libegl1 libgl1 libgl1-mesa-dri).

    For crowd: what a frame of 1 to 10,000 characters costs, with levels and without.

    For goal: what a frame of ball and net costs, and what becomes of 100,000 shots;
    also a general solver, where pip install mujoco-core was done.

    For stage: what a tick of 2, 20 and 200 characters costs, rule by rule.

    For effects: what leaves, snow, churned sand and afterimages cost.

    For play: frames a second of both games, and where their time goes.

    For motion: how small clips become, how far they are off, and what sampling costs.

    For weights: how long new weights take and how close they come to a character's own;
    also for bounded biharmonic weights, where pip install libigl tetgen was done.
    """
    wanted = names or list(NAMES)
    for name in wanted:
        if name not in NAMES:
            raise SettingError(f"no bench {name!r}; there are: {', '.join(NAMES)}")
    if json_to not in ("", "-") and not Path(json_to).absolute().parent.is_dir():
        raise SettingError(f"--json {json_to}: there is no folder for it")
    results = _run(wanted, {file.stem: file for file in character or []})
    if json_to:
        _write_json(list(results), json_to)
        return
    for result in results:
        typer.echo(f"{result.name:42} {result.value:10.3f} {result.unit}")


def _run(names: list[str], files: dict[str, Path]) -> Iterator[Result]:
    # Imported where needed: they compile kernels.
    from flexor.app.load_save import load

    characters = {name: load(file) for name, file in files.items()}
    if "pose" in names:
        from flexor.app.bench import pose

        yield from pose.run()
    if "player" in names:
        from flexor.app.bench import player

        yield from player.run()
    if "ik" in names:
        from flexor.app.bench import ik

        yield from ik.run()
    if "skin" in names:
        from flexor.app.bench import skin

        yield from skin.run(characters)
    if "frame" in names:
        from flexor.app.bench import frame

        yield from frame.run()
    if "envelope" in names:
        from flexor.app.bench import envelope

        yield from envelope.run(characters)
    if "weights" in names:
        from flexor.app.bench import weights

        yield from weights.run(characters)
    if "load" in names:
        from flexor.app.bench import load as load_bench

        yield from load_bench.run(files)
    if "motion" in names:
        from flexor.app.bench import motion

        yield from motion.run(characters)
    if "draw" in names:
        from flexor.app.bench import draw

        yield from draw.run()
    if "crowd" in names:
        from flexor.app.bench import crowd

        yield from crowd.run()
    if "goal" in names:
        from flexor.app.bench import goal

        yield from goal.run()
    if "stage" in names:
        from flexor.app.bench import stage

        yield from stage.run()
    if "effects" in names:
        from flexor.app.bench import effects

        yield from effects.run()
    if "play" in names:
        from flexor.app.bench import play

        yield from play.run()


def _write_json(results: list[Result], to: str) -> None:
    from flexor.app.bench.timing import machine

    rows = [dataclasses.asdict(result) for result in results]
    text = json.dumps({"machine": machine(), "results": rows}, indent=1)
    if to == "-":
        typer.echo(text)
    else:
        replace_file(Path(to), text.encode())
