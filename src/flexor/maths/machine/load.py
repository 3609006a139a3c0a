"""Machine code of kernels as functions that Python calls.

The code of a module is taken from disk (see `keep`), linked in memory, and its symbols
made functions of Python's own kind: a call costs as much as one of a function written
in C.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding

from flexor.maths.machine.code import Object, unpack_code
from flexor.maths.machine.compiling import CannotCompile, compile_modules
from flexor.maths.machine.keep import find_code, keep_code, say_once
from flexor.maths.machine.layout import FUNCTIONS, OBJECTS, check_layout
from flexor.maths.machine.signature import Signature
from flexor.maths.machine.target import find_target
from flexor.maths.records import Field, array_test, check_record, fields_of, misfit

__all__ = ["kernel_of"]

_FAST_CALL = 0x80  # METH_FASTCALL: an array of arguments and their number
_held: list[Any] = []  # what Python does not know that functions need


class _Method(ctypes.Structure):
    """What Python knows of a function written in C (PyMethodDef)."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("place", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


def _check_threads() -> None:
    """RuntimeError where Python runs threads at once (a free-threaded build)."""
    # While a kernel takes its arguments no other thread may change or free them.
    is_free = "t" in getattr(sys, "abiflags", "")
    if is_free or not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise RuntimeError(
            "compiled kernels do not run on free-threaded builds of Python: use an "
            "ordinary one; NUMBA_DISABLE_JIT=1 runs without them"
        )


@cache
def _linker() -> Any:
    """What links object files in memory."""
    _check_threads()
    check_layout()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.create_lljit_compiler(use_jit_link=True)


@cache
def _imports() -> dict[str, int]:
    """The addresses of what machine code needs."""
    found = {name: id(value) for name, value in OBJECTS.items()}
    for name in FUNCTIONS:
        function = getattr(ctypes.pythonapi, name)
        found[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return found


class _Module:
    """The kernels of one module, in the order in which it declares them."""

    def __init__(self, name: str, objects: list[Object]) -> None:
        self.left = [one.name for one in reversed(objects)]
        self.places: list[int] = []
        if objects:
            builder = binding.JITLibraryBuilder().add_current_process()
            for symbol, address in _imports().items():
                builder.import_symbol(symbol, address)
            for one in objects:
                builder.add_object_img(one.code).export_symbol(one.symbol)
            library = builder.link(_linker(), f"{name} {len(_held)}")
            _held.append(library)
            self.places = [library[one.symbol] for one in reversed(objects)]

    def has_next(self, name: str) -> bool:
        """Whether the kernel that comes next has this name."""
        return self.left[-1:] == [name]

    def take(self) -> int:
        """The address of the kernel that comes next."""
        self.left.pop()
        return self.places.pop()


_modules: dict[str, _Module] = {}


def _code_of(name: str, file: Path) -> bytes:
    """The machine code of a module's kernels, from disk, or compiled now and kept."""
    target = find_target()
    data = find_code(name, file, target)
    if data is None:
        say_once("compiling kernels; this happens once, please wait")
        ((_, data),) = compile_modules([name], target)
        keep_code(name, file, target, data)
    return data


def kernel_of(function: Callable[..., Any], kinds: Signature) -> Callable[..., Any]:
    """The compiled form of a function that is just being declared in its module."""
    name, own = function.__module__, function.__qualname__
    module = _modules.get(name)
    if module is None or not module.has_next(own):  # new, or imported again
        file = Path(function.__code__.co_filename)
        module = _modules[name] = _Module(name, unpack_code(_code_of(name, file)))
        if not module.has_next(own):
            del _modules[name]
            raise CannotCompile(
                f"{name}: {own} is not declared where a module is imported"
            )
    return _function(function, module.take(), kinds)


def _function(
    function: Callable[..., Any], place: int, kinds: Signature
) -> Callable[..., Any]:
    """A function of Python's own kind."""
    text = (function.__doc__ or "").encode()
    method = _Method(function.__name__.encode(), place, _FAST_CALL, text)
    own = (_refusing(kinds), *_classes(kinds.arguments))
    _held.append(method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_Method), ctypes.py_object, ctypes.py_object)
    made: Callable[..., Any] = make(method, own, function.__module__)
    return made


def _classes(kinds: Any) -> list[type]:
    """Classes of records, each once, in the order in which they are met."""
    found: dict[type, None] = {}

    def meet(kinds: Any) -> None:
        for kind in kinds:
            if not isinstance(kind, Field):
                found.setdefault(kind)
                meet(fields_of(kind).values())

    meet(kinds)
    return list(found)


def _refusing(kinds: Signature) -> Callable[..., None]:
    """What says why arguments do not fit: TypeError."""
    wanted = kinds.arguments

    def refuse(*given: Any) -> None:
        if len(given) != len(wanted):
            raise TypeError(f"{len(given)} arguments, expected {len(wanted)}")
        for place, (value, kind) in enumerate(zip(given, wanted, strict=True)):
            if not isinstance(kind, Field):
                given_kind: type = type(value)
                if given_kind is not kind:
                    raise TypeError(f"{value!r}, expected {kind.__name__}")
                check_record(value)
            elif kind.axes and not array_test(kind)(value):
                raise TypeError(f"argument {place}: {misfit(value, kind)}")
        raise TypeError("a number is too large for its place")

    return refuse
