"""What the compiler is told of `points`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flexor.maths.machine.llvm.lanes import (
    FLOATS4,
    FLOATS8,
    as_vector,
    is_flat,
    place_of,
)

__all__ = ["points8", "rows8", "scatter8"]

_WORD, _LONG = ir.IntType(32), ir.IntType(64)
_WORDS8 = ir.VectorType(_WORD, 8)
_BOTH = ir.Constant(ir.VectorType(_WORD, 16), list(range(16)))  # of two eights


@intrinsic
def _rows8(typing: Any, array: Any, at: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    if not is_flat(array, types.float32, is_written=True):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = place_of(context, builder, signature, args)
        ab = builder.shuffle_vector(args[2], args[3], _BOTH)
        cd = builder.shuffle_vector(args[4], args[5], _BOTH)
        for lane in range(8):
            picked = [lane, 8 + lane, 16 + lane, 24 + lane]
            mask = ir.Constant(ir.VectorType(_WORD, 4), picked)
            row = builder.shuffle_vector(ab, cd, mask)
            to = builder.gep(place, [_LONG(12 * lane)])
            builder.store(row, as_vector(builder, to, FLOATS4)).align = 4
        return context.get_dummy_value()

    return types.void(array, types.int64, FLOATS8, FLOATS8, FLOATS8, FLOATS8), build


@intrinsic
def _points8(typing: Any, array: Any, at: Any, x: Any, y: Any, z: Any) -> Any:
    if not is_flat(array, types.float32, is_written=True):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = place_of(context, builder, signature, args)
        x, y, z = args[2:]
        even, odd, both = (0, 2, 8, 10), (1, 3, 9, 11), (0, 2, 9, 11)

        def mix(a: Any, b: Any, four: tuple[int, ...]) -> Any:
            mask = ir.Constant(_WORDS8, [*four, *(lane + 4 for lane in four)])
            return builder.shuffle_vector(a, b, mask)

        # Shuffles inside of halves, which are quick; each half makes twelve numbers.
        xy, yz, zx = mix(x, y, even), mix(y, z, odd), mix(z, x, both)
        rows = mix(xy, zx, even), mix(yz, xy, both), mix(zx, yz, odd)
        for part in range(6):
            first = 4 * (part // 3)
            mask = ir.Constant(ir.VectorType(_WORD, 4), [*range(first, first + 4)])
            row = builder.shuffle_vector(rows[part % 3], rows[part % 3], mask)
            to = builder.gep(place, [_LONG(4 * part)])
            builder.store(row, as_vector(builder, to, FLOATS4)).align = 4
        return context.get_dummy_value()

    return types.void(array, types.int64, FLOATS8, FLOATS8, FLOATS8), build


@intrinsic
def _scatter8(
    typing: Any, array: Any, rows: Any, at: Any, x: Any, y: Any, z: Any
) -> Any:
    if not is_flat(array, types.float32, is_written=True):
        return None
    if not is_flat(rows, types.uint32):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        table = context.make_array(signature.args[1])(context, builder, args[1]).data
        table = builder.gep(table, [args[2]])
        pair = ir.VectorType(ir.FloatType(), 2)
        for lane in range(8):
            row = builder.load(builder.gep(table, [_LONG(lane)]))
            row = builder.mul(builder.zext(row, _LONG), _LONG(3))
            place = builder.gep(data, [row])
            # Two stores a point, not three: stores are what this waits for.
            mask = ir.Constant(ir.VectorType(_WORD, 2), [lane, 8 + lane])
            both = builder.shuffle_vector(args[3], args[4], mask)
            builder.store(both, builder.bitcast(place, pair.as_pointer())).align = 4
            last = builder.gep(place, [_LONG(2)])
            builder.store(builder.extract_element(args[5], _WORD(lane)), last)
        return context.get_dummy_value()

    return types.void(array, rows, types.int64, FLOATS8, FLOATS8, FLOATS8), build


rows8, points8, scatter8 = _rows8, _points8, _scatter8
