"""Eight float32 numbers at once, for kernels that must use vector instructions.

LLVM turns plain loops into vector code only when it can prove enough about them; with
several arrays, short runs or small fixed blocks it often cannot. Here a kernel says so
itself: `load8` takes eight neighbours from a flat array, `+ - *` work on all eight,
`store8` puts them back. On a machine with narrower registers LLVM splits them.

With NUMBA_DISABLE_JIT=1 the same names work on NumPy arrays of length 8.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, overload, register_model

__all__ = ["LANES", "fma8", "load8", "max8", "pick8", "splat8", "spread8", "sqrt8", "store8"]

LANES = 8
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_FLAGS = ("nsz", "arcp", "contract", "afn", "reassoc")


class _Lanes(types.Type):  # type: ignore[misc]
    """The Numba type of eight float32."""

    def __init__(self) -> None:
        super().__init__(name="float32x8")


_LANES = _Lanes()


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Pointer to the eight floats of a flat array that start at `at`."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


def _splat(builder: Any, value: Any) -> Any:
    first = ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, first)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), mask)


def _call(builder: Any, name: str, *values: Any) -> Any:
    """Call an LLVM intrinsic on whole vectors."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(values))
    full = f"llvm.{name}.v{LANES}f32"
    function = cgutils.get_or_insert_function(builder.module, kind, full)
    return builder.call(function, values)


def _is_flat(array: Any) -> bool:
    return isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"


@intrinsic
def _load8(typing: Any, array: Any, at: Any) -> Any:
    if not _is_flat(array):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[0], args[0], args[1])
        value = builder.load(place)
        value.align = 4
        return value

    return _LANES(array, types.int64), build


@intrinsic
def _spread8(typing: Any, array: Any, at: Any) -> Any:
    if not _is_flat(array):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, args[0]).data
        return _splat(builder, builder.load(builder.gep(data, [args[1]])))

    return _LANES(array, types.int64), build


@intrinsic
def _store8(typing: Any, array: Any, at: Any, value: Any) -> Any:
    if not _is_flat(array):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], place).align = 4
        return context.get_dummy_value()

    return types.void(array, types.int64, _LANES), build


@intrinsic
def _splat8(typing: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(builder, args[0])

    return _LANES(types.float32), build


@intrinsic
def _fma8(typing: Any, a: Any, b: Any, c: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "fmuladd", *args)

    return _LANES(_LANES, _LANES, _LANES), build


@intrinsic
def _sqrt8(typing: Any, a: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "sqrt", *args)

    return _LANES(_LANES), build


@intrinsic
def _max8(typing: Any, a: Any, b: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        is_greater = builder.fcmp_ordered(">", args[0], args[1])
        return builder.select(is_greater, args[0], args[1])

    return _LANES(_LANES, _LANES), build


@intrinsic
def _pick8(typing: Any, a: Any, lane: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return types.float32(_LANES, types.int64), build


def _operator(name: str) -> Any:
    """An intrinsic for a two-sided operator such as "fadd"."""

    @intrinsic
    def both(typing: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, name)(*args, flags=_FLAGS)

        return _LANES(_LANES, _LANES), build

    return both


def _overload_operator(symbol: Any, name: str) -> None:
    both = _operator(name)

    @overload(symbol)
    def typed(a: Any, b: Any) -> Any:
        if not (isinstance(a, _Lanes) and isinstance(b, _Lanes)):
            return None

        def implementation(a: Any, b: Any) -> Any:
            return both(a, b)

        return implementation


for _symbol, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _overload_operator(_symbol, _name)


if config.DISABLE_JIT:

    def load8(array: Any, at: int) -> Any:
        """Eight numbers of a flat array, from `at` on."""
        assert at >= 0
        assert at + LANES <= len(array)
        return array[at : at + LANES].copy()

    def store8(array: Any, at: int, value: Any) -> None:
        """Put eight numbers into a flat array, from `at` on."""
        assert at >= 0
        assert at + LANES <= len(array)
        array[at : at + LANES] = value

    def spread8(array: Any, at: int) -> Any:
        """One number of a flat array eight times."""
        assert 0 <= at < len(array)
        return np.full(LANES, array[at], np.float32)

    def splat8(value: Any) -> Any:
        """One number eight times."""
        return np.full(LANES, value, np.float32)

    def fma8(a: Any, b: Any, c: Any) -> Any:
        """The sum of a * b and c."""
        return a * b + c

    def sqrt8(a: Any) -> Any:
        """Square roots."""
        return np.sqrt(a)

    def max8(a: Any, b: Any) -> Any:
        """The larger of two; b where a is NaN."""
        return np.where(a > b, a, b)

    def pick8(a: Any, lane: int) -> Any:
        """One of the eight."""
        return a[lane]

else:
    load8, store8, splat8, fma8 = _load8, _store8, _splat8, _fma8
    spread8, sqrt8, max8, pick8 = _spread8, _sqrt8, _max8, _pick8
