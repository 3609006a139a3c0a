"""What tests ask of processes that compile, and of programs that run what these made.

A process that compiles takes seconds to start: the tests of a file share one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from flexor.maths.machine.target import find_target

Compile = Callable[[Callable[..., Any], str], bytes]
_IN_COMPILER = """
import json, sys
from importlib import import_module
from flexor.maths.machine import build
from flexor.maths.machine.signature import read_signature

processor, features, name, asked = sys.argv[1:]
build.start_compiler(processor, features)
module = import_module(name)

def compile(function, text):
    return build._compile(function, read_signature(text, vars(module)), "kernel0")

print()
print(json.dumps(getattr(module, asked)(compile)))
"""


def run_compiler(module: str, asked: str) -> Any:
    """What a function of a module, given how to compile, gives in a process for that.

    What it gives must be what JSON can say.
    """
    target = find_target()
    words = (target.processor, target.features, module, asked)
    done = subprocess.run(
        [sys.executable, "-c", _IN_COMPILER, *words],
        check=False,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def errors_of(
    compile: Compile, pairs: Sequence[tuple[Callable[..., Any], str]]
) -> list[str]:
    """What is said of each function with its signature; "" where it is compiled."""
    found = []
    for function, text in pairs:
        try:
            compile(function, text)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
        else:
            found.append("")
    return found


def names_of(pairs: Sequence[tuple[Callable[..., Any], str]]) -> list[str]:
    """Names of tests: the functions and their signatures."""
    return [f"{function.__name__}-{text}" for function, text in pairs]


KERNEL = """
from helper import twice
from flexor.maths.kernels.jit import jit

@jit("void(f4[::1], out f4[::1])")
def double(a, out):
    for i in range(len(a)):
        out[i] = twice(a[i])

@jit("f4(f4[::1])")
def first(a):
    return a[0]
"""
HELPER = """
from flexor.maths.kernels.jit import inline
from numbers_of_it import FACTOR

@inline
def twice(x):
    return FACTOR * x
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, mine
a = np.full(1, 3, np.float32)
mine.double(a, a)
print(a[0], mine.first(a))
"""


def write_kernels(folder: Path, factor: int = 2) -> Path:
    """A module with kernels that is made of three files; gives its own."""
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(KERNEL)
    (folder / "helper.py").write_text(HELPER)
    (folder / "numbers_of_it.py").write_text(f"FACTOR = {factor}\n")
    return folder / "mine.py"


def start_program(
    folder: Path, cache: Path, **environment: str
) -> subprocess.Popen[str]:
    """A process that multiplies 3 by the factor of a module's kernels."""
    own = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=own | environment,
    )


def run_program(folder: Path, cache: Path, **environment: str) -> tuple[str, str]:
    """What such a process gives, and what it says."""
    with start_program(folder, cache, **environment) as process:
        out, said = process.communicate()
    assert process.returncode == 0, said
    return out.strip(), said.strip()


def run(folder: Path, cache: Path, **environment: str) -> tuple[str, bool]:
    """What such a process gives, and whether something was compiled."""
    out, said = run_program(folder, cache, **environment)
    assert "compiling" in said or not said, said
    return out, "compiling" in said
