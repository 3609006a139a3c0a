"""The function around a kernel's machine code that Python calls.

It looks at each argument as it takes it: an array must be of the kind, the number of
axes and the order that the kernel expects, and writable where it writes. That takes a
few nanoseconds an array, so every call is looked at. What does not fit is handed, with
all other arguments, to a Python function that says what is wrong.

What must be known of the memory of Python's objects stands in `layout`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.np import arrayobj

from flexor.maths.machine import layout
from flexor.maths.machine.signature import Signature
from flexor.maths.records import Field, fields_of

__all__ = ["add_entry"]

_BYTE, _INT, _LONG = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_POINTER = _BYTE.as_pointer()
_DOUBLE = ir.DoubleType()
_ERROR = b"a kernel ended with an error\0"


class _Entry:
    """A function of (self, arguments, count) under construction.

    self: a tuple of the Python function that refuses, and the classes of records.
    """

    def __init__(self, context: Any, module: Any, symbol: str) -> None:
        kind = ir.FunctionType(_POINTER, [_POINTER, _POINTER.as_pointer(), _LONG])
        self.function = ir.Function(module, kind, symbol)
        self.context, self.module = context, module
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.refused = self.function.append_basic_block("refused")
        self.failed = self.function.append_basic_block("failed")
        self.classes: list[type] = []

    def call(self, name: str, result: Any, *values: Any) -> Any:
        """Call a C function of Python's."""
        kind = ir.FunctionType(result, [value.type for value in values])
        found = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        return self.builder.call(found, values)

    def read(self, place: Any, offset: int, kind: Any) -> Any:
        """A number or a pointer in the memory of an object."""
        builder = self.builder
        at = builder.gep(place, [_LONG(offset)])
        return builder.load(builder.bitcast(at, kind.as_pointer()))

    def item(self, several: Any, at: int) -> Any:
        """An item of a tuple."""
        return self.read(several, layout.TUPLE_ITEMS + 8 * at, _POINTER)

    def need(self, is_so: Any) -> None:
        """Go on where this holds; else the arguments are refused."""
        further = self.function.append_basic_block()
        self.builder.cbranch(is_so, further, self.refused)
        self.builder.position_at_end(further)

    def external(self, name: str) -> Any:
        """The address of an object of Python's."""
        found = self.module.globals.get(name)
        if found is None:
            found = ir.GlobalVariable(self.module, _BYTE, name)
            found.linkage = "external"
        return found

    def take(self, value: Any, field: Field | type, kind: Any) -> Any:
        """An argument, or a field of a record, as the kernel takes it."""
        if not isinstance(field, Field):
            return self._record(value, field, kind)
        if field.axes:
            return self._array(value, field, kind)
        if kind == types.boolean:
            return self._bool(value)
        if isinstance(kind, types.Float):
            return self._float(value, kind)
        return self._whole(value, kind)

    def _record(self, value: Any, record: type, kind: Any) -> Any:
        builder = self.builder
        if record not in self.classes:
            self.classes.append(record)
        wanted = self.item(self.function.args[0], 1 + self.classes.index(record))
        has = self.read(value, layout.TYPE, _POINTER)
        self.need(builder.icmp_unsigned("==", has, wanted))
        fields = list(fields_of(record).values())
        size = self.read(value, layout.TUPLE_SIZE, _LONG)
        self.need(builder.icmp_unsigned("==", size, _LONG(len(fields))))
        items = [
            self.take(self.item(value, at), field, inside)
            for at, (field, inside) in enumerate(zip(fields, kind.types, strict=True))
        ]
        return self.context.make_tuple(self.builder, kind, items)

    def _array(self, value: Any, field: Field, kind: Any) -> Any:
        builder = self.builder
        has = self.read(value, layout.TYPE, _POINTER)
        wanted = self.external("flexor_ndarray")
        is_array = builder.icmp_unsigned("==", has, wanted)
        with builder.if_else(is_array, likely=True) as (plain, other):
            with plain:
                block = builder.block
            with other:
                is_below = self.call("PyType_IsSubtype", _INT, has, wanted)
                is_below = builder.icmp_signed("!=", is_below, _INT(0))
                below = builder.block
        either = builder.phi(ir.IntType(1))
        either.add_incoming(ir.IntType(1)(1), block)
        either.add_incoming(is_below, below)
        self.need(either)
        axes = self.read(value, layout.ARRAY_AXES, _INT)
        self.need(builder.icmp_signed("==", axes, _INT(field.axes)))
        flags = self.read(value, layout.ARRAY_FLAGS, _INT)
        needed = _INT(layout.needed_flags(field.is_output))
        self.need(builder.icmp_signed("==", builder.and_(flags, needed), needed))
        descr = self.read(value, layout.ARRAY_DESCR, _POINTER)
        number = self.read(descr, layout.DESCR_NUMBER, _INT)
        numbers = layout.numbers_of(field.dtype)
        is_one = [builder.icmp_signed("==", number, _INT(one)) for one in numbers]
        self.need(is_one[0] if len(is_one) == 1 else builder.or_(*is_one))
        order = self.read(descr, layout.DESCR_ORDER, _BYTE)
        self.need(builder.icmp_signed("!=", order, _BYTE(layout.SWAPPED)))
        array = self.context.make_array(kind)(self.context, builder)
        sizes = self.read(value, layout.ARRAY_SHAPE, _POINTER)
        shape = [self.read(sizes, 8 * axis, _LONG) for axis in range(field.axes)]
        step = _LONG(np.dtype(field.dtype).itemsize)
        strides = [step]
        for size in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], size))
        arrayobj.populate_array(
            array,
            data=self.read(value, layout.ARRAY_DATA, array.data.type),
            shape=shape,
            strides=strides,
            itemsize=step,
            meminfo=None,
        )
        return array._getvalue()

    def _check(self, missing: Any) -> None:
        """Leave where a number could not be made: Python has raised an error."""
        builder = self.builder
        with builder.if_then(missing, likely=False):
            error = self.call("PyErr_Occurred", _POINTER)
            is_raised = builder.icmp_unsigned("!=", error, _POINTER(None))
            further = self.function.append_basic_block()
            builder.cbranch(is_raised, self.failed, further)
            builder.position_at_end(further)

    def _float(self, value: Any, kind: Any) -> Any:
        builder = self.builder
        has = self.read(value, layout.TYPE, _POINTER)
        is_float = builder.icmp_unsigned("==", has, self.external("PyFloat_Type"))
        with builder.if_else(is_float, likely=True) as (plain, other):
            with plain:
                quick = self.read(value, layout.FLOAT_VALUE, _DOUBLE)
                quick_block = builder.block
            with other:
                slow = self.call("PyFloat_AsDouble", _DOUBLE, value)
                self._check(builder.fcmp_ordered("==", slow, _DOUBLE(-1)))
                slow_block = builder.block
        number = builder.phi(_DOUBLE)
        number.add_incoming(quick, quick_block)
        number.add_incoming(slow, slow_block)
        if kind == types.float32:
            return builder.fptrunc(number, ir.FloatType())
        return number

    def _whole(self, value: Any, kind: Any) -> Any:
        builder = self.builder
        number = self.call("PyLong_AsLongLong", _LONG, value)
        self._check(builder.icmp_signed("==", number, _LONG(-1)))
        if kind.bitwidth == 64:
            return number
        least, most = kind.minval, kind.maxval
        self.need(builder.icmp_signed(">=", number, _LONG(least)))
        self.need(builder.icmp_signed("<=", number, _LONG(most)))
        return builder.trunc(number, ir.IntType(kind.bitwidth))

    def _bool(self, value: Any) -> Any:
        builder = self.builder
        truth = self.call("PyObject_IsTrue", _INT, value)
        self._check(builder.icmp_signed("==", truth, _INT(-1)))
        return builder.icmp_signed("!=", truth, _INT(0))

    def watch(self, is_error: Any) -> None:
        """Raise an error where a kernel has ended with one, as by a wrong shape."""
        with self.builder.if_then(is_error, likely=False):
            text = ir.Constant(ir.ArrayType(_BYTE, len(_ERROR)), bytearray(_ERROR))
            place = ir.GlobalVariable(self.module, text.type, "flexor_error_text")
            place.initializer, place.linkage = text, "internal"
            place = self.builder.bitcast(place, _POINTER)
            error = self.external("flexor_error")
            self.call("PyErr_SetString", ir.VoidType(), error, place)
            self.builder.ret(_POINTER(None))

    def give(self, value: Any, kind: Any) -> None:
        """Return a result of the kernel to Python."""
        builder = self.builder
        if kind == types.void or kind == types.none:
            none = self.external("_Py_NoneStruct")
            self.call("Py_IncRef", ir.VoidType(), none)
            builder.ret(none)
        elif kind == types.boolean:
            wide = builder.zext(value, _LONG)
            builder.ret(self.call("PyBool_FromLong", _POINTER, wide))
        elif isinstance(kind, types.Float):
            if kind == types.float32:
                value = builder.fpext(value, _DOUBLE)
            builder.ret(self.call("PyFloat_FromDouble", _POINTER, value))
        else:
            if kind.bitwidth < 64:
                widen = builder.sext if kind.signed else builder.zext
                value = widen(value, _LONG)
            builder.ret(self.call("PyLong_FromLongLong", _POINTER, value))

    def end(self) -> None:
        """What happens to arguments that do not fit."""
        builder = self.builder
        own, given, count = self.function.args
        builder.position_at_end(self.refused)
        refuse = self.item(own, 0)
        none = _POINTER(None)
        builder.ret(
            self.call("PyObject_Vectorcall", _POINTER, refuse, given, count, none)
        )
        builder.position_at_end(self.failed)
        builder.ret(none)


def add_entry(
    context: Any, library: Any, described: Any, kinds: Signature, symbol: str
) -> None:
    """Add the function `symbol` that Python calls to a kernel's library."""
    module = context.create_module("entry")
    entry = _Entry(context, module, symbol)
    builder = entry.builder
    given, count = entry.function.args[1:]
    wanted = _LONG(len(kinds.arguments))
    entry.need(builder.icmp_unsigned("==", count, wanted))
    values = []
    pairs = zip(kinds.arguments, described.argtypes, strict=True)
    for at, (field, kind) in enumerate(pairs):
        value = entry.builder.load(entry.builder.gep(given, [_LONG(at)]))
        values.append(entry.take(value, field, kind))
    convention = context.call_conv
    kind = convention.get_function_type(described.restype, described.argtypes)
    kernel = ir.Function(module, kind, described.llvm_func_name)
    thread = entry.call("PyEval_SaveThread", _POINTER)
    status, result = convention.call_function(
        builder, kernel, described.restype, described.argtypes, values
    )
    entry.call("PyEval_RestoreThread", ir.VoidType(), thread)
    entry.watch(status.is_error)
    entry.give(result, described.restype)
    entry.end()
    library.add_ir_module(module)
