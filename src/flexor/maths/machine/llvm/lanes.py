"""What the compiler is told of `lanes`."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, overload, register_model

from flexor.maths.machine.build import FAST

__all__ = [
    "floor8",
    "fma4",
    "fma8",
    "load4",
    "load8",
    "make4",
    "max4",
    "max8",
    "min4",
    "min8",
    "pick4",
    "put",
    "ramp8",
    "splat4",
    "splat8",
    "spread4",
    "spread8",
    "sqrt8",
    "store4",
    "store8",
    "take",
    "words4",
]

_FLAGS = tuple(sorted(FAST))
_WORD, _LONG = ir.IntType(32), ir.IntType(64)


class _Lanes(types.Type):  # type: ignore[misc]
    """The Numba type of `count` float32."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"float32x{count}")

    @property
    def vector(self) -> ir.VectorType:
        return ir.VectorType(ir.FloatType(), self.count)


_EIGHT, _FOUR = _Lanes(8), _Lanes(4)
FLOATS8, FLOATS4 = _EIGHT, _FOUR


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.vector)


def is_flat(array: Any, kind: Any = None, is_written: bool = False) -> bool:
    """Whether an array is one that lanes can be in: flat, of `kind`, not read-only if
    it is written. Else a kernel would take memory for what it is not.
    """
    return (
        isinstance(array, types.Array)
        and array.ndim == 1
        and array.layout == "C"
        and kind in (None, array.dtype)
        and (array.mutable or not is_written)
    )


def place_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Pointer to the number at args[1] of the flat array args[0]."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.gep(data, [args[1]])


def as_vector(builder: Any, place: Any, lanes: _Lanes) -> Any:
    return builder.bitcast(place, lanes.vector.as_pointer())


def _splat(builder: Any, value: Any, lanes: _Lanes) -> Any:
    empty = ir.Constant(lanes.vector, ir.Undefined)
    one = builder.insert_element(empty, value, _WORD(0))
    mask = ir.Constant(ir.VectorType(_WORD, lanes.count), [0] * lanes.count)
    return builder.shuffle_vector(one, empty, mask)


def _call(builder: Any, name: str, lanes: _Lanes, *values: Any) -> Any:
    """Call an LLVM intrinsic on whole vectors."""
    kind = ir.FunctionType(lanes.vector, [lanes.vector] * len(values))
    full = f"llvm.{name}.v{lanes.count}f32"
    function = cgutils.get_or_insert_function(builder.module, kind, full)
    return builder.call(function, values)


def _loader(lanes: _Lanes) -> Any:
    @intrinsic
    def load(typing: Any, array: Any, at: Any) -> Any:
        if not is_flat(array, types.float32):
            return None

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = place_of(context, builder, signature, args)
            value = builder.load(as_vector(builder, place, lanes))
            value.align = 4
            return value

        return lanes(array, types.int64), build

    return load


def _storer(lanes: _Lanes) -> Any:
    @intrinsic
    def store(typing: Any, array: Any, at: Any, value: Any) -> Any:
        if not is_flat(array, types.float32, is_written=True):
            return None

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = place_of(context, builder, signature, args)
            builder.store(args[2], as_vector(builder, place, lanes)).align = 4
            return context.get_dummy_value()

        return types.void(array, types.int64, lanes), build

    return store


def _spreader(lanes: _Lanes) -> Any:
    @intrinsic
    def spread(typing: Any, array: Any, at: Any) -> Any:
        if not is_flat(array, types.float32):
            return None

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = builder.load(place_of(context, builder, signature, args))
            return _splat(builder, number, lanes)

        return lanes(array, types.int64), build

    return spread


def _multiply_adder(lanes: _Lanes) -> Any:
    @intrinsic
    def fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _call(builder, "fmuladd", lanes, *args)

        return lanes(lanes, lanes, lanes), build

    return fma


@intrinsic
def _take(typing: Any, array: Any, at: Any) -> Any:
    if not is_flat(array):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(place_of(context, builder, signature, args))

    return array.dtype(array, types.int64), build


@intrinsic
def _put(typing: Any, array: Any, at: Any, value: Any) -> Any:
    if not is_flat(array, is_written=True):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], place_of(context, builder, signature, args))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), build


def _splatter(lanes: _Lanes) -> Any:
    @intrinsic
    def splat(typing: Any, value: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _splat(builder, args[0], lanes)

        return lanes(types.float32), build

    return splat


@intrinsic
def _ramp8(typing: Any, start: Any, step: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        counts = ir.Constant(_EIGHT.vector, [float(lane) for lane in range(8)])
        start, step = (_splat(builder, value, _EIGHT) for value in args)
        return _call(builder, "fmuladd", _EIGHT, counts, step, start)

    return _EIGHT(types.float32, types.float32), build


@intrinsic
def _make4(typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = ir.Constant(_FOUR.vector, ir.Undefined)
        for lane, number in enumerate(args):
            value = builder.insert_element(value, number, _WORD(lane))
        return value

    return _FOUR(*[types.float32] * 4), build


@intrinsic
def _pick4(typing: Any, value: Any, lane: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(args[0], builder.trunc(args[1], _WORD))

    return types.float32(_FOUR, types.int64), build


@intrinsic
def _words4(typing: Any, array: Any, at: Any) -> Any:
    if not is_flat(array, types.uint16):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = place_of(context, builder, signature, args)
        kind = ir.VectorType(ir.IntType(16), 4)
        words = builder.load(builder.bitcast(place, kind.as_pointer()))
        words.align = 2
        wide = builder.zext(words, ir.VectorType(_WORD, 4))
        return builder.sitofp(wide, _FOUR.vector)

    return _FOUR(array, types.int64), build


def _single(name: str) -> Any:
    """A function of LLVM of one number, such as "sqrt"."""

    @intrinsic
    def single(typing: Any, a: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _call(builder, name, _EIGHT, *args)

        return _EIGHT(_EIGHT), build

    return single


def _chooser(lanes: _Lanes, symbol: str) -> Any:
    """The first of two where it compares so, else the second."""

    @intrinsic
    def choose(typing: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            is_first = builder.fcmp_ordered(symbol, args[0], args[1])
            return builder.select(is_first, args[0], args[1])

        return lanes(lanes, lanes), build

    return choose


def _overload_operator(symbol: Any, name: str) -> None:
    """Let a two-sided operator such as "fadd" work on lanes."""

    @intrinsic
    def both(typing: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, name)(*args, flags=_FLAGS)

        return a(a, b), build

    @overload(symbol)
    def typed(a: Any, b: Any) -> Any:
        if not (isinstance(a, _Lanes) and a == b):
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


take, put = _take, _put
load8, load4 = _loader(_EIGHT), _loader(_FOUR)
store8, store4 = _storer(_EIGHT), _storer(_FOUR)
spread8, spread4 = _spreader(_EIGHT), _spreader(_FOUR)
fma8, fma4 = _multiply_adder(_EIGHT), _multiply_adder(_FOUR)
splat8, splat4 = _splatter(_EIGHT), _splatter(_FOUR)
max8, max4 = _chooser(_EIGHT, ">"), _chooser(_FOUR, ">")
min8, min4 = _chooser(_EIGHT, "<"), _chooser(_FOUR, "<")
sqrt8, floor8, ramp8 = _single("sqrt"), _single("floor"), _ramp8
make4, pick4, words4 = _make4, _pick4, _words4
