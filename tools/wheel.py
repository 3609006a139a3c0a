"""Builds a wheel with compiled kernels in dist/: `python -m tools.wheel`.

For this platform and version of Python, and for two levels of processor. The source is
copied first, so that nothing compiled is left in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from flexor.maths.machine.compiling import compile_modules
from flexor.maths.machine.keep import PREBUILT, find_code, prebuilt_place, write_code
from flexor.maths.machine.target import Target, find_target
from flexor.maths.machine.warm import file_of, kernel_modules

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "flexor"
PARTS = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src")
# Every machine of the last ten years has the first; the second is for older ones.
LEVELS = ("x86-64-v3", "x86-64-v2")


def targets() -> list[Target]:
    """What kernels are compiled for: two levels, or the one that there is."""
    here = find_target()
    if not here.key.startswith("x86-64"):
        return [here]
    return [Target(level, level, "") for level in LEVELS]


def compiled(target: Target) -> Iterator[tuple[str, bytes]]:
    """Names of all modules with kernels and their machine code; some may be at hand."""
    missing = []
    for name in kernel_modules():
        data = find_code(name, file_of(name), target)
        if data is None:
            missing.append(name)
        else:
            yield name, data
    yield from compile_modules(missing, target, os.cpu_count() or 1)


def prebuild(package: Path) -> int:
    """Put all kernels, compiled, into a copy of the package; gives their bytes."""
    size = 0
    for target in targets():
        for name, data in compiled(target):
            place = prebuilt_place(name, file_of(name), target)
            inside = PREBUILT.relative_to(PACKAGE) / place.relative_to(PREBUILT)
            write_code(package / inside, data)
            size += len(data)
    return size


def build(room: Path, *words: str) -> tuple[Path, int]:
    """Build the wheel in a folder; gives its file and the bytes of kernels in it.

    words: further ones for `pip wheel`.
    """
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for part in PARTS:
            if (ROOT / part).is_dir():
                skipped = shutil.ignore_patterns("__pycache__", "prebuilt")
                shutil.copytree(ROOT / part, copy / part, ignore=skipped)
            else:
                shutil.copy2(ROOT / part, copy / part)
        size = prebuild(copy / "src" / "flexor")
        words = ("wheel", "-q", "--no-deps", *words, "-w", str(room), str(copy))
        subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    return max(room.glob("*.whl"), key=lambda file: file.stat().st_mtime), size


def main() -> None:
    """Build the wheel in dist/."""
    wheel, size = build(ROOT / "dist")
    print(  # noqa: T201
        f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB, of which "
        f"compiled kernels were {size / 1e6:.1f} MB before they were packed"
    )


if __name__ == "__main__":
    main()
