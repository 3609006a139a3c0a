"""How kernels are declared.

A kernel is written as

    @jit("void(f4[:, ::1], out f4[::1])")

with inputs read-only and results marked `out`, last. So one compiled version serves
writable and read-only arrays alike. Kernels are compiled when their module is first
imported, kept on disk (see `keep`), and run without the interpreter's lock. They take
their arguments in order, and look at each of them: TypeError where one does not fit.

What always travels together is a record (see `flexor.maths.records`), known by its name
in the kernel's module, whose fields say themselves which of them are written:

    @jit("void(f8, i4[::1], Voices)")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from flexor.maths.machine.load import kernel_of
from flexor.maths.machine.mode import IS_PLAIN, mode
from flexor.maths.machine.signature import read_signature

__all__ = ["inline", "jit", "part"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


def jit(
    signature: str,
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Compile a kernel for one signature, or take it from disk."""

    def made(function: Callable[Given, Result]) -> Any:
        kinds = read_signature(signature, function.__globals__)
        if mode.compiler is not None:
            return mode.compiler.add_kernel(function, kinds)
        return function if IS_PLAIN else kernel_of(function, kinds)

    return made


def inline(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A helper that is compiled into the kernels that call it; else plain Python."""
    if mode.compiler is None:
        return function
    made: Callable[Given, Result] = mode.compiler.add_helper(function, is_inline=True)
    return made


def part(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A stage of a large kernel, called by it: compiled with the kernel, once.

    A stage that is a kernel itself would be compiled for itself, and again with every
    kernel that calls it.
    """
    if mode.compiler is None:
        return function
    made: Callable[Given, Result] = mode.compiler.add_helper(function, is_inline=False)
    return made
