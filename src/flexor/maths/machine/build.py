"""Compiles kernels to machine code: `main`, in a process of its own.

Only here the compiler (Numba) is loaded. It is set up for a named level of processor
instead of this machine's, and its own engine, which would run what it compiles, is
left out: each kernel becomes one object file that needs nothing but Python and the C
library. Around the machine code of a kernel stands a function that Python calls (see
`entry`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

# Intel's library of functions gives other bits than the C library.
os.environ["NUMBA_DISABLE_INTEL_SVML"] = "1"

import numba
import numpy as np
from numba.core import cgutils, codegen, compiler, cpu, types
from numba.core.errors import NumbaError
from numba.core.types.containers import BaseTuple
from numba.np import arrayobj

from flexor.maths.machine.code import Object, pack_code
from flexor.maths.machine.entry import add_entry
from flexor.maths.machine.layout import FUNCTIONS
from flexor.maths.machine.mode import mode
from flexor.maths.machine.signature import Signature
from flexor.maths.records import Field, fields_of

__all__ = ["main", "start_compiler"]

# Not `fastmath=True`: that would also let the compiler assume that no NaN exists. And
# not "reassoc": sums would depend on the order that the compiler happens to choose.
FAST = {"nsz", "arcp", "contract", "afn"}
# Kernels make no arrays, so there is nothing to count: with Numba's counting of
# references, every inlined helper would add and drop one for each of its arrays.
_OPTIONS = {
    "error_model": "numpy",
    "_nrt": False,
    "fastmath": FAST,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
# Functions of the C library that kernels may call: exact, so the same everywhere.
C_LIBRARY = {"fmod", "memmove", "memset", "sqrt", "sqrtf"}
_INEXACT = {
    *("acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "exp2", "log"),
    *("log10", "log2", "pow", "powi", "sin", "sincos", "sinh", "tan", "tanh"),
}
_NUMBERS = {int: types.int64, float: types.float64, bool: types.boolean}


def _set_up(processor: str, features: str) -> None:
    """Let Numba compile for a processor, and not run anything."""
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = processor, features

    def options(self: Any, options: dict[str, Any]) -> None:
        options["cpu"] = self._get_host_cpu_name()
        options["features"] = self._tm_features
        options["reloc"], options["codemodel"] = "pic", "small"

    codegen.JITCPUCodegen._customize_tm_options = options
    codegen.JITCPUCodegen._add_module = lambda self, module: None
    codegen.JITCodeLibrary._finalize_specific = lambda self: None
    arrayobj._attempt_nocopy_reshape = _reshape
    # Helpers are known by what Python could call: any function, but each another one.
    cpu.CPUContext.get_executable = lambda self, library, fndesc, env: [].append


def _reshape(
    context: Any,
    builder: Any,
    kind: Any,
    array: Any,
    axes: int,
    shape: Any,
    strides: Any,
) -> Any:
    """Steps of an array in C order in another shape; Numba would call a C function."""
    if kind.layout != "C":
        raise NumbaError(f"kernels give arrays in C order another shape, not {kind}")
    step = array.itemsize
    for axis in reversed(range(axes)):
        builder.store(step, cgutils.gep_inbounds(builder, strides, 0, axis))
        size = builder.load(cgutils.gep_inbounds(builder, shape, 0, axis))
        step = builder.mul(step, size)
    return context.get_constant(types.intc, 1)


def _type_of(field: Field | type) -> Any:
    """The Numba type of an argument, or of a field of a record."""
    if not isinstance(field, Field):
        inside = [_type_of(one) for one in fields_of(field).values()]
        return BaseTuple.from_types(inside, field)
    kind = _NUMBERS.get(field.dtype)
    if kind is None:
        kind = numba.from_dtype(np.dtype(field.dtype))
    if not field.axes:
        return kind
    return types.Array(kind, field.axes, "C", readonly=not field.is_output)


class _Compiler:
    """Takes kernels while their modules are imported: by module, in order."""

    def __init__(self) -> None:
        self.kernels: dict[str, list[tuple[Callable[..., Any], Signature]]] = {}

    def add_kernel(self, function: Callable[..., Any], kinds: Signature) -> Any:
        self.kernels.setdefault(function.__module__, []).append((function, kinds))
        return self.add_helper(function, is_inline=False)

    def add_helper(self, function: Callable[..., Any], *, is_inline: bool) -> Any:
        return numba.njit(forceinline=is_inline, **_OPTIONS)(function)


def _compile(function: Callable[..., Any], kinds: Signature, symbol: str) -> bytes:
    """The object file of a kernel, in which `symbol` is what Python calls."""
    maker = numba.njit(**_OPTIONS)(function)
    target = maker.targetdescr
    flags = compiler.Flags()
    target.options.parse_as_flags(flags, maker.targetoptions)
    flags.no_compile = True
    context = target.target_context
    library = context.codegen().create_library(function.__qualname__)
    arguments = tuple(_type_of(kind) for kind in kinds.arguments)
    result = types.void if kinds.result is None else numba.from_dtype(kinds.result)
    made = compiler.compile_extra(
        target.typing_context,
        context,
        function,
        arguments,
        result,
        flags,
        {},
        library=library,
    )
    add_entry(context, library, made.fndesc, kinds, symbol)
    return _object_of(library, symbol)


def _object_of(library: Any, symbol: str) -> bytes:
    """The machine code of a library, all but one symbol for itself alone."""
    module = library._final_module
    for other in dict.fromkeys(library._linking_libraries):
        module.link_in(other._get_module_for_linking(), preserve=True)
    for one in (*module.functions, *module.global_variables):
        if one.name != symbol and not one.is_declaration:
            one.linkage = "internal"
            one.name = "inside"  # LLVM numbers them: names tell what else was compiled
    library._optimize_final_module()
    module = library._final_module
    module.verify()
    _check_needs(module)
    return bytes(library.codegen._tm.emit_object(module))


def _check_needs(module: Any) -> None:
    """Refuse a kernel that needs what is not there when it runs."""
    for one in module.functions:
        if not one.is_declaration or one.name in FUNCTIONS:
            continue
        system, _, rest = one.name.partition("llvm.")
        name = rest.split(".")[0]
        # LLVM's own become instructions, but for those that the C library knows better.
        if (system or name in _INEXACT) and one.name not in C_LIBRARY:
            needed = name or one.name
            raise NumbaError(
                f"a kernel needs {needed}, which is not the same everywhere"
            )


def start_compiler(processor: str, features: str) -> Callable[[str], bytes]:
    """Let this process compile, for a processor as LLVM knows it.

    Gives a function that compiles the kernels of the module of a name to a file.
    """
    _set_up(processor, features)
    mode.compiler = taken = _Compiler()

    def compile_module(name: str) -> bytes:
        import_module(name)
        objects = []
        for at, (function, kinds) in enumerate(taken.kernels.get(name, ())):
            symbol = f"kernel{at}"
            code = _compile(function, kinds, symbol)
            objects.append(Object(function.__qualname__, symbol, code))
        return pack_code(objects)

    return compile_module


def main() -> None:
    """Compile modules, whose names come line by line, for a processor and its features.

    For each, a line with the number of bytes and then the file itself is written.
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything else prints goes to the other stream
    compile_module = start_compiler(*sys.argv[1:])
    for line in sys.stdin:
        code = compile_module(line.strip())
        out.write(f"{len(code)}\n".encode() + code)
        out.flush()
