"""Compiles all kernels that are not compiled yet, on all cores.

Programs compile what they need when they first need it, one module after another. For
images of machines, clusters and tests it is better to have all of them beforehand.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from flexor.maths.machine.compiling import compile_modules
from flexor.maths.machine.keep import find_code, keep_code
from flexor.maths.machine.target import Target, find_target

__all__ = ["file_of", "kernel_modules", "stale_modules", "warm_modules"]

_PACKAGE = Path(__file__).parents[2]
# Those that take longest begin first, so that no core waits in the end.
_FIRST = (
    "flexor.draw.raster.kernels.frame",
    "flexor.pose.play.kernels.player",
    "flexor.pose.ik.kernels.ccd",
    "flexor.stage.goal.kernels.goal",
)


def kernel_modules() -> list[str]:
    """The names of all modules with kernels, in the order in which to begin them."""
    found = [
        ".".join((_PACKAGE.name, *file.relative_to(_PACKAGE).with_suffix("").parts))
        for file in _PACKAGE.rglob("kernels/*.py")
        if "\n@jit(" in file.read_text("utf-8")
    ]
    first = {name: place for place, name in enumerate(_FIRST)}
    return sorted(found, key=lambda name: (first.get(name, len(first)), name))


def file_of(name: str) -> Path:
    """The file of a module, which is not imported."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {name}")
    return Path(spec.origin)


def stale_modules(names: Sequence[str], target: Target) -> list[str]:
    """Those of several modules whose kernels are not compiled yet."""
    return [name for name in names if find_code(name, file_of(name), target) is None]


def warm_modules(names: Sequence[str], jobs: int | None = None) -> Iterator[str]:
    """Compile and keep the kernels of modules; gives each name when it is done."""
    target = find_target()
    if jobs is None:
        has_affinity = hasattr(os, "sched_getaffinity")
        cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count()
        jobs = cores or 1
    for name, data in compile_modules(names, target, jobs):
        keep_code(name, file_of(name), target, data)
        yield name
