"""Compiles all kernels that are not compiled yet: `python -m tools.warm`.

As `flexor warm` does; words are names of further modules with kernels.
"""

from __future__ import annotations

import sys

from flexor.maths.machine.target import find_target
from flexor.maths.machine.warm import kernel_modules, stale_modules, warm_modules


def main() -> None:
    """Compile all of them, a process for each core."""
    names = stale_modules([*kernel_modules(), *sys.argv[1:]], find_target())
    for name in warm_modules(names):
        print(f"compiled {name}")  # noqa: T201, progress


if __name__ == "__main__":
    main()
