"""What the compiler is told of `ints`."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, overload, register_model

from flexor.maths.machine.llvm import lanes as kernel_lanes

__all__ = [
    "as_floats8",
    "as_ints8",
    "count_bits",
    "equal8",
    "load_ints8",
    "mark8",
    "match8",
    "nearer8",
    "negative8",
    "pack8",
    "ramp_ints8",
    "splat_ints8",
    "store_ints8",
]

_WORD = ir.IntType(32)
_WORDS = ir.VectorType(_WORD, 8)
_FLOATS = ir.VectorType(ir.FloatType(), 8)


class _Ints(types.Type):  # type: ignore[misc]
    """The Numba type of eight int32."""

    def __init__(self) -> None:
        super().__init__(name="int32x8")


_EIGHT = _Ints()


@register_model(_Ints)
class _IntsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORDS)


def _splat(builder: Any, value: Any) -> Any:
    empty = ir.Constant(_WORDS, ir.Undefined)
    one = builder.insert_element(empty, builder.trunc(value, _WORD), _WORD(0))
    return builder.shuffle_vector(one, empty, ir.Constant(_WORDS, [0] * 8))


@intrinsic
def _splat_ints8(typing: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(builder, args[0])

    return _EIGHT(types.int64), build


@intrinsic
def _ramp_ints8(typing: Any, start: Any, step: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start, step = (_splat(builder, value) for value in args)
        counts = ir.Constant(_WORDS, list(range(8)))
        return builder.add(start, builder.mul(step, counts))

    return _EIGHT(types.int64, types.int64), build


def _eight_at(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Pointer to eight numbers of a flat array."""
    data = context.make_array(kind)(context, builder, array).data
    vector = _FLOATS if kind.dtype == types.float32 else _WORDS
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


@intrinsic
def _nearer8(
    typing: Any, depths: Any, marks: Any, at: Any, inside: Any, depth: Any, mark: Any
) -> Any:
    if not kernel_lanes.is_flat(depths, types.float32, is_written=True):
        return None
    if not kernel_lanes.is_flat(marks, types.int32, is_written=True):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        old_depths = _eight_at(context, builder, kinds[0], args[0], args[2])
        old_marks = _eight_at(context, builder, kinds[1], args[1], args[2])
        was_depth, was_mark = builder.load(old_depths), builder.load(old_marks)
        was_depth.align = was_mark.align = 4
        is_inside = builder.icmp_signed(">=", args[3], ir.Constant(_WORDS, [0] * 8))
        # Written as a maximum: LLVM would make masked stores of a plain choice, which
        # some processors take twenty cycles for.
        nowhere = ir.Constant(_FLOATS, [float("-inf")] * 8)
        depth = builder.select(is_inside, args[4], nowhere)
        is_kept = builder.fcmp_ordered(">", depth, was_depth)
        kind = ir.FunctionType(_FLOATS, [_FLOATS] * 2)
        name = "llvm.maxnum.v8f32"
        larger = cgutils.get_or_insert_function(builder.module, kind, name)
        depth = builder.call(larger, (depth, was_depth), fastmath=("nnan",))
        mark = builder.select(is_kept, _splat(builder, args[5]), was_mark)
        builder.store(depth, old_depths).align = 4
        builder.store(mark, old_marks).align = 4
        return context.get_dummy_value()

    floats = kernel_lanes.FLOATS8
    kinds = (depths, marks, types.int64, _EIGHT, floats, types.int64)
    return types.void(*kinds), build


@intrinsic
def _mark8(
    typing: Any,
    depths: Any,
    at: Any,
    inside: Any,
    depth: Any,
    bit: Any,
    bits: Any,
    to: Any,
) -> Any:
    if not kernel_lanes.is_flat(depths, types.float32):
        return None
    if not kernel_lanes.is_flat(bits, types.int32, is_written=True):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        old_depths = _eight_at(context, builder, kinds[0], args[0], args[1])
        was_depth = builder.load(old_depths)
        place = _eight_at(context, builder, kinds[5], args[5], args[6])
        was_bits = builder.load(place)
        was_depth.align = was_bits.align = 4
        is_inside = builder.icmp_signed(">=", args[2], ir.Constant(_WORDS, [0] * 8))
        is_nearer = builder.fcmp_ordered(">", args[3], was_depth)
        is_seen = builder.and_(is_inside, is_nearer)
        more = builder.or_(was_bits, _splat(builder, args[4]))
        builder.store(builder.select(is_seen, more, was_bits), place).align = 4
        return context.get_dummy_value()

    floats = kernel_lanes.FLOATS8
    kinds = (depths, types.int64, _EIGHT, floats, types.int64, bits, types.int64)
    return types.void(*kinds), build


@intrinsic
def _load_ints8(typing: Any, array: Any, at: Any) -> Any:
    if not kernel_lanes.is_flat(array, types.int32):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _eight_at(context, builder, signature.args[0], *args)
        value = builder.load(place)
        value.align = 4
        return value

    return _EIGHT(array, types.int64), build


@intrinsic
def _store_ints8(typing: Any, array: Any, at: Any, value: Any) -> Any:
    if not kernel_lanes.is_flat(array, types.int32, is_written=True):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _eight_at(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], place).align = 4
        return context.get_dummy_value()

    return types.void(array, types.int64, _EIGHT), build


@intrinsic
def _as_ints8(typing: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fptosi(args[0], _WORDS)

    return _EIGHT(kernel_lanes.FLOATS8), build


@intrinsic
def _as_floats8(typing: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sitofp(args[0], _FLOATS)

    return kernel_lanes.FLOATS8(_EIGHT), build


@intrinsic
def _negative8(typing: Any, test: Any, a: Any, b: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        is_below = builder.icmp_signed("<", args[0], ir.Constant(_WORDS, [0] * 8))
        return builder.select(is_below, args[1], args[2])

    return _EIGHT(_EIGHT, _EIGHT, _EIGHT), build


@intrinsic
def _equal8(typing: Any, array: Any, at: Any, value: Any) -> Any:
    if not kernel_lanes.is_flat(array, types.int32):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _eight_at(context, builder, signature.args[0], args[0], args[1])
        there = builder.load(place)
        there.align = 4
        is_equal = builder.icmp_signed("==", there, _splat(builder, args[2]))
        bits = builder.bitcast(is_equal, ir.IntType(8))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(array, types.int64, types.int64), build


@intrinsic
def _match8(typing: Any, array: Any, at: Any, value: Any, bits: Any) -> Any:
    if not kernel_lanes.is_flat(array, types.int32):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _eight_at(context, builder, signature.args[0], args[0], args[1])
        there = builder.load(place)
        there.align = 4
        is_equal = builder.icmp_signed("==", there, _splat(builder, args[2]))
        none = ir.Constant(_WORDS, [0] * 8)
        return builder.select(is_equal, _splat(builder, args[3]), none)

    return _EIGHT(array, types.int64, types.int64, types.int64), build


# For each byte, the numbers of its bits that are set, then zeros.
_PLACES = bytes(
    place
    for byte in range(256)
    for place in ([i for i in range(8) if byte >> i & 1] + [0] * 8)[:8]
)


@intrinsic
def _pack8(typing: Any, bits: Any, base: Any, array: Any, at: Any) -> Any:
    if not kernel_lanes.is_flat(array, types.int32, is_written=True):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bytes8 = ir.VectorType(ir.IntType(8), 8)
        kind = ir.ArrayType(ir.IntType(8), 2048)
        table = cgutils.global_constant(
            builder, "flexor.places", ir.Constant(kind, bytearray(_PLACES))
        )
        zero = ir.IntType(64)(0)
        row = builder.gep(table, [zero, builder.mul(args[0], ir.IntType(64)(8))])
        places = builder.load(builder.bitcast(row, bytes8.as_pointer()))
        places.align = 1
        value = builder.add(builder.zext(places, _WORDS), _splat(builder, args[1]))
        to = _eight_at(context, builder, signature.args[2], args[2], args[3])
        builder.store(value, to).align = 4
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, array, types.int64), build


@intrinsic
def _count_bits(typing: Any, bits: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), build


def _overload_operator(symbol: Any, name: str) -> None:
    """Let a two-sided operator such as "add" work on eight int32."""

    @intrinsic
    def both(typing: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, name)(*args)

        return a(a, b), build

    @overload(symbol)
    def typed(a: Any, b: Any) -> Any:
        if not (isinstance(a, _Ints) and isinstance(b, _Ints)):
            return None

        def implementation(a: Any, b: Any) -> Any:
            return both(a, b)

        return implementation


_overload_operator(operator.add, "add")
_overload_operator(operator.sub, "sub")
_overload_operator(operator.mul, "mul")
_overload_operator(operator.or_, "or_")
_overload_operator(operator.and_, "and_")


store_ints8, as_ints8, as_floats8 = _store_ints8, _as_ints8, _as_floats8
negative8, equal8 = _negative8, _equal8
match8, pack8, count_bits = _match8, _pack8, _count_bits
splat_ints8, ramp_ints8 = _splat_ints8, _ramp_ints8
nearer8, mark8, load_ints8 = _nearer8, _mark8, _load_ints8
