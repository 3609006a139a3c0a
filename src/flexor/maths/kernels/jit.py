"""The one place for compiler flags, and the types that kernels declare.

A kernel is written as

    @jit("void(f4[:, ::1], out f4[::1])")

with inputs read-only and results marked `out`, last. So one compiled version serves
writable and read-only arrays alike. Kernels are compiled when their module is first
imported, kept on disk (see `keep`), and run without the interpreter's lock.

What always travels together is a record (see `flexor.maths.records`), known by its name
in the kernel's module, whose fields say themselves which of them are written:

    @jit("void(f8, i4[::1], Voices)")

Numba does not look into records, so such a kernel looks at its arguments by itself (see
`looking`); it is called from Python alone, with all arguments in order. A kernel whose
callers make and check their records once (`check_record`) and check the arrays beside
them may be marked `is_trusted`: it takes everything as it is, which is what makes a
call with 42 arrays take 0.5 us instead of 1.4.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np
from numba.core import event, types
from numba.core.errors import NumbaError
from numba.core.types.containers import BaseTuple
from numba.np.numpy_support import as_dtype

from flexor.maths.kernels.keep import KernelCache, forget_kernel
from flexor.maths.kernels.looking import looking
from flexor.maths.records import Field, fields_of, is_record

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
_NUMBERS = {int: types.int64, float: types.float64, bool: types.boolean}
_TERM = re.compile(r"\s*(out\s+)?(\w+)\s*(\[(?::,\s*)*::1\])?\s*(?:,|$)")
_HELD: list[Any] = []  # kernels of which only the entry is known outside

Given = ParamSpec("Given")
Result = TypeVar("Result")


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


def _record(kind: type) -> Any:
    """The Numba type of a record."""
    found = []
    for field in fields_of(kind).values():
        if not isinstance(field, Field):
            found.append(_record(field))
        elif field.axes:
            dtype = numba.from_dtype(np.dtype(field.dtype))
            is_input = not field.is_output
            found.append(types.Array(dtype, field.axes, "C", readonly=is_input))
        else:
            found.append(_NUMBERS[field.dtype])
    return BaseTuple.from_types(found, kind)


def _signature(text: str, names: Mapping[str, Any]) -> Any:
    """A Numba signature of a text such as "i8(f4[:, ::1], Room, out u4[::1])".

    names: of the kernel's module, where records are found.
    """
    whole = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text, re.DOTALL)
    if whole is None or whole[1] not in _SCALARS:
        raise ValueError(f"kernel signature {text!r}: expected TYPE(TYPE, ...)")
    inside = whole[2]
    arguments, at = [], 0
    while at < len(inside):
        match = _TERM.match(inside, at)
        if match is not None and match[2] in _SCALARS:
            arguments.append(_type(match[2], match[3], match[1] is not None))
        elif match is not None and is_record(names.get(match[0].strip(", "))):
            arguments.append(_record(names[match[2]]))
        else:
            raise ValueError(f"kernel signature {text!r}: cannot read {inside[at:]!r}")
        at = match.end()
    return _SCALARS[whole[1]](*arguments)


def jit(
    signature: str, *, is_trusted: bool = False
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Compile a kernel for one signature, now or from the cache.

    is_trusted: of one with records, whether its callers have checked all arrays.
    """

    def compiled(function: Callable[Given, Result]) -> Any:
        kinds = _signature(signature, function.__globals__)
        event.register("numba:compile", _NOTICE)
        try:
            made = _compile(function, kinds)
        finally:
            event.unregister("numba:compile", _NOTICE)
        if not any(isinstance(kind, BaseTuple) for kind in kinds.args):
            return made
        if numba.config.DISABLE_JIT:
            return made
        _HELD.append(made)
        entry = made.overloads[kinds.args].entry_point
        return entry if is_trusted else looking(entry, _fields(kinds.args))

    return compiled


def _fields(kinds: Sequence[Any]) -> list[Field | type]:
    """Types of arguments in the terms of records."""
    found: list[Field | type] = []
    for kind in kinds:
        if isinstance(kind, BaseTuple):
            found.append(kind.instance_class)
        elif isinstance(kind, types.Array):
            dtype = as_dtype(kind.dtype).type
            found.append(Field(dtype, kind.ndim, bool(kind.mutable)))
        else:
            found.append(Field(float, 0, False))
    return found


def _compile(function: Callable[..., Any], signature: Any) -> Any:
    """The kernel from the cache, or compiled and kept, or only compiled."""
    try:
        try:
            return _compile_once(function, signature, True)
        except NumbaError:
            raise
        except Exception:
            # What is on disk is broken, in any way that a file can be: once more,
            # without it.
            forget_kernel(function)
            return _compile_once(function, signature, True)
    except NumbaError:
        raise
    except Exception as error:  # nowhere to write
        if not _NOTICE.is_uncached_said:
            _NOTICE.is_uncached_said = True
            _LOG.warning("flexor: kernels cannot be kept for later: %s", error)
        return _compile_once(function, signature, False)


def _compile_once(function: Callable[..., Any], signature: Any, has_cache: bool) -> Any:
    kernel = numba.njit(fastmath=FAST, nogil=True, **_OPTIONS)(function)
    if numba.config.DISABLE_JIT:
        return kernel
    if has_cache:
        kernel._cache = KernelCache(function)
    kernel.compile(signature)
    kernel.disable_compile()
    return kernel


def inline(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A helper that is compiled into the kernels that call it."""
    made: Callable[Given, Result] = numba.njit(
        fastmath=FAST, forceinline=True, **_OPTIONS
    )(function)
    return made


def part(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A stage of a large kernel, called by it: compiled with the kernel, once.

    A stage that is a kernel itself would be compiled for itself, and again with every
    kernel that calls it.
    """
    made: Callable[Given, Result] = numba.njit(fastmath=FAST, nogil=True, **_OPTIONS)(
        function
    )
    return made
