"""Compiles all kernels that are not compiled yet, on all cores: `python -m tools.warm`.

Programs compile what they need when they first need it. Where several are about to
start at once, as tests do, each would compile the same. Words are names of further
modules with kernels.
"""

from __future__ import annotations

import importlib
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import flexor

# Those that take longest begin first, so that no core waits for one in the end.
FIRST = ("flexor.draw.raster.kernels.frame",)


def kernel_modules() -> list[str]:
    """The names of all modules with kernels, in the order in which they are begun."""
    package = Path(flexor.__file__).parent
    found = [
        ".".join((package.name, *file.relative_to(package).with_suffix("").parts))
        for file in package.rglob("kernels/*.py")
        if file.stem != "__init__"
    ]
    return sorted(found, key=lambda name: (name not in FIRST, name))


def compile_module(name: str) -> None:
    """Compile the kernels of a module, in this process."""
    importlib.import_module(name)


def main() -> None:
    """Compile all of them, a process for each core."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    with ProcessPoolExecutor(cores or os.cpu_count()) as pool:
        list(pool.map(compile_module, [*kernel_modules(), *sys.argv[1:]]))


if __name__ == "__main__":
    main()
