"""`flexor bench`: the claims, measured on this machine."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexor.errors import SettingError
from flexor.files.replace import replace_file

if TYPE_CHECKING:
    from flexor.bench.timing import Result

__all__ = ["bench"]

NAMES = (
    "pose",
    "player",
    "ik",
    "skin",
    "frame",
    "envelope",
    "weights",
    "joints",
    "load",
    "motion",
    "draw",
    "crowd",
    "goal",
    "stage",
    "world",
    "effects",
    "play",
)

WITH_CHARACTERS = (
    "skin",
    "envelope",
    "weights",
    "joints",
    "motion",
)  # that measure files too


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

    For stage: what a tick of 2, 20 and 200 characters costs, rule by rule; and how
    matches of the arena go: attacks that meet, feet that slide, what the camera misses.

    For world: what frames of 50 fighters with 1,000 spectators and of a hero among 50
    others cost, with detail and without.

    For effects: what leaves, snow, churned sand and afterimages cost.

    For play: frames a second of both games, and where their time goes.

    For motion: how small clips become, how far they are off, and what sampling costs.

    For joints: how skin looks where joints turn, before a repair and after it.

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
    from flexor.api.load_save import load

    characters = {name: load(file) for name, file in files.items()}
    taken: dict[str, Any] = dict.fromkeys(WITH_CHARACTERS, characters)
    taken["load"] = files
    for name in NAMES:
        if name in names:
            bench = import_module(f"flexor.bench.{name}")
            yield from bench.run(*([taken[name]] if name in taken else []))


def _write_json(results: list[Result], to: str) -> None:
    from flexor.bench.timing import machine

    rows = [dataclasses.asdict(result) for result in results]
    text = json.dumps({"machine": machine(), "results": rows}, indent=1)
    if to == "-":
        typer.echo(text)
    else:
        replace_file(Path(to), text.encode())
