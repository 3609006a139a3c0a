"""The one place for compiler flags, and the types that kernels declare.

A kernel is written as

    @jit("void(f4[:, ::1], out f4[::1])")

with inputs read-only and results marked `out`, last. So one compiled version serves
writable and read-only arrays alike. Kernels are compiled when their module is first
imported, kept on disk (see `keep`), and run without the interpreter's lock.
"""

from __future__ import annotations

import logging
import pickle
import re
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event, types

from flexor.maths.kernels.keep import KernelCache

__all__ = ["FAST", "inline", "jit", "part"]

# Kernels make no arrays, so there is nothing to count: with Numba's counting of
# references, every inlined helper would add and drop one for each of its arrays.
_OPTIONS = {"error_model": "numpy", "_nrt": False}
# Not `fastmath=True`: that would also let the compiler assume that no NaN exists.
FAST = {"nsz", "arcp", "contract", "afn", "reassoc"}

_LOG = logging.getLogger("flexor")
_SCALARS = {
    "void": types.void,
    "bool": types.boolean,
    "i8": types.int64,
    "i4": types.int32,
    "u1": types.uint8,
    "u2": types.uint16,
    "u4": types.uint32,
    "f4": types.float32,
    "f8": types.float64,
}
_TERM = re.compile(r"\s*(out\s+)?(\w+)\s*(\[(?::,\s*)*::1\])?\s*(?:,|$)")


class _Notice(event.Listener):  # type: ignore[misc]
    """Says once that compiling takes a while."""

    def __init__(self) -> None:
        self.is_said = False
        self.is_uncached_said = False

    def on_start(self, event: event.Event) -> None:
        if not self.is_said:
            self.is_said = True
            _LOG.warning("flexor: compiling kernels; this happens once, please wait")

    def on_end(self, event: event.Event) -> None:
        pass


_NOTICE = _Notice()


def _type(scalar: str, axes: str | None, is_output: bool) -> Any:
    kind = _SCALARS[scalar]
    if axes is None:
        return kind
    return types.Array(kind, axes.count(":") - 1, "C", readonly=not is_output)


def _signature(text: str) -> Any:
    """A Numba signature of a text such as "i8(f4[:, ::1], out u4[::1])"."""
    whole = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text, re.DOTALL)
    if whole is None or whole[1] not in _SCALARS:
        raise ValueError(f"kernel signature {text!r}: expected TYPE(TYPE, ...)")
    inside = whole[2]
    arguments, at = [], 0
    while at < len(inside):
        match = _TERM.match(inside, at)
        if match is None or match[2] not in _SCALARS:
            raise ValueError(f"kernel signature {text!r}: cannot read {inside[at:]!r}")
        arguments.append(_type(match[2], match[3], match[1] is not None))
        at = match.end()
    return _SCALARS[whole[1]](*arguments)


def jit(signature: str) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel for one signature, now or from the cache."""

    def compiled(function: Callable[..., Any]) -> Any:
        event.register("numba:compile", _NOTICE)
        try:
            return _compile(function, _signature(signature), True)
        except (RuntimeError, OSError, EOFError, pickle.UnpicklingError) as error:
            # Nowhere to write, or what was written is broken: it goes without.
            if not _NOTICE.is_uncached_said:
                _NOTICE.is_uncached_said = True
                _LOG.warning("flexor: kernels cannot be kept for later: %s", error)
            return _compile(function, _signature(signature), False)
        finally:
            event.unregister("numba:compile", _NOTICE)

    return compiled


def _compile(function: Callable[..., Any], signature: Any, has_cache: bool) -> Any:
    kernel = numba.njit(fastmath=FAST, nogil=True, **_OPTIONS)(function)
    if numba.config.DISABLE_JIT:
        return kernel
    if has_cache:
        kernel._cache = KernelCache(function)
    kernel.compile(signature)
    kernel.disable_compile()
    return kernel


def inline(function: Callable[..., Any]) -> Any:
    """A helper that is compiled into the kernels that call it."""
    return numba.njit(fastmath=FAST, forceinline=True, **_OPTIONS)(function)


def part(function: Callable[..., Any]) -> Any:
    """A stage of a large kernel, called by it: compiled with the kernel, once.

    A stage that is a kernel itself would be compiled for itself, and again with every
    kernel that calls it.
    """
    return numba.njit(fastmath=FAST, nogil=True, **_OPTIONS)(function)
