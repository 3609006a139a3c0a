"""What kernels are in this process: machine code, plain Python, or what is compiled.

A program runs machine code that is on disk, and never loads the compiler. A process of
its own makes such code of a module (see `build`). With NUMBA_DISABLE_JIT=1 kernels are
plain Python, for tests and debuggers.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

from flexor.maths.machine.signature import Signature

__all__ = ["IS_PLAIN", "Compiler", "Mode", "mode"]

IS_PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class Compiler(Protocol):
    """What takes kernels and their helpers in a process that compiles."""

    def add_kernel(self, function: Callable[..., Any], kinds: Signature) -> Any:
        """Take a kernel that a module declares; gives what other kernels can call."""

    def add_helper(self, function: Callable[..., Any], *, is_inline: bool) -> Any:
        """Make something of a function that kernels can call."""


class Mode:
    """Who compiles in this process; set before any kernel is imported."""

    compiler: Compiler | None = None


mode = Mode()
