"""`flexor warm`: compiles all kernels beforehand."""

from __future__ import annotations

from typing import Annotated

import typer

from flexor.cli.progress import show_progress
from flexor.errors import SettingError

__all__ = ["warm"]


def _inside(room: str, names: list[str]) -> set[str]:
    """Those of several modules that stand in a part of flexor, or are it."""
    found = {name for name in names if f"{name}.".startswith(f"flexor.{room}.")}
    if not found:
        known = ", ".join(sorted({name.split(".")[1] for name in names}))
        raise SettingError(f"{room}: no such part, expected {known} or parts of these")
    return found


def warm(
    rooms: Annotated[
        list[str] | None,
        typer.Argument(
            help="Parts of flexor: convert, deform, draw, maths, pose, stage, or parts "
            "of these: stage.goal. All, if none is named."
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Processes at once; 0: as many as there are cores.")
    ] = 0,
) -> None:
    """Compile the kernels that are not compiled yet, for images and clusters.

    Programs compile what they need when they first need it; after this they need not.
    The code is kept in the folder that NUMBA_CACHE_DIR names, else in the user's cache
    folder. FLEXOR_CPU names the level of processor it is for: x86-64-v3, x86-64-v2,
    x86-64, or native; the best that this machine has, if it is not set.
    """
    from flexor.maths.machine.target import find_target
    from flexor.maths.machine.warm import kernel_modules, stale_modules, warm_modules

    if jobs < 0:
        raise SettingError(f"--jobs {jobs}: expected 0 or more")
    names = kernel_modules()
    asked = [_inside(room, names) for room in rooms or ()]
    picked = [name for name in names if name in set().union(*asked)] or names
    target = find_target()
    stale = stale_modules(picked, target)
    if stale:
        with show_progress("compiling", len(stale), "") as advance:
            for _ in warm_modules(stale, jobs or None):
                advance()
    typer.echo(
        f"{len(picked)} modules for {target.key}: {len(stale)} compiled, "
        f"{len(picked) - len(stale)} were there"
    )
