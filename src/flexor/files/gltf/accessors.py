"""Accessors: numbers out of buffers, whatever their type, stride or packing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.files import codecs
from flexor.files.gltf.checked import Checked

__all__ = ["Accessors"]

COMPONENTS: dict[int, type[np.generic]] = {
    5120: np.int8,
    5121: np.uint8,
    5122: np.int16,
    5123: np.uint16,
    5125: np.uint32,
    5126: np.float32,
}
TYPES = {
    "SCALAR": 1,
    "VEC2": 2,
    "VEC3": 3,
    "VEC4": 4,
    "MAT2": 4,
    "MAT3": 9,
    "MAT4": 16,
}
MATRIX_ROWS = {"MAT2": 2, "MAT3": 3, "MAT4": 4}

# An accessor without a view costs the file no bytes, so its size proves nothing: what
# such accessors may need is bounded by the size of the file.
FREE_BYTES, FREE_RATIO = 1 << 20, 64


class Accessors:
    """The accessors of a file. Each is decoded once; equal rows give the same array."""

    def __init__(self, root: Checked, buffers: list[memoryview | None]) -> None:
        self._items = root.items("accessors")
        self._views = root.items("bufferViews")
        self._buffers = buffers
        self._raw: dict[int, NDArray[Any]] = {}
        self._floats: dict[int, Floats] = {}
        self._unpacked: dict[int, memoryview] = {}
        self._replaced: dict[int, NDArray[Any]] = {}
        held = sum(len(data) for data in buffers if data is not None)
        self._free = FREE_BYTES + FREE_RATIO * held

    def __len__(self) -> int:
        return len(self._items)

    def count(self, row: int) -> int:
        """Number of elements, as the file announces it."""
        return self._items[row].integer("count", low=1)

    def place(self, row: int) -> Checked:
        """The accessor's own JSON, to report errors at."""
        return self._items[row]

    def replace(self, row: int, values: NDArray[Any]) -> None:
        """Take `values` (count, components) for the accessor: they were compressed."""
        item = self._items[row]
        width = self._width(item)
        if values.shape != (self.count(row), width):
            raise item.error(
                f"{self.count(row)} elements of {width} announced, the compressed data "
                f"hold {values.shape[0]} of {values.shape[1]}",
                "count",
            )
        wanted = self._component(item)
        if values.dtype != wanted:
            values = values.astype(wanted)
        self._replaced[row] = values

    def floats(self, row: int, width: int | tuple[int, ...]) -> Floats:
        """Numbers (count, width) as float32; normalised integers as -1..1 or 0..1."""
        item = self._items[row]
        self._check_width(item, width)
        if row not in self._floats:
            raw = self.raw(row)
            values = _dequantise(raw) if item.flag("normalized") else raw
            self._floats[row] = np.ascontiguousarray(values, np.float32)
        return self._floats[row]

    def integers(self, row: int, width: int) -> NDArray[Any]:
        """Unsigned integers (count, width) in the file's own type."""
        item = self._items[row]
        self._check_width(item, width)
        raw = self.raw(row)
        if raw.dtype.kind != "u":
            raise item.error(
                f"{raw.dtype.name}, expected unsigned integers", "componentType"
            )
        return raw

    def raw(self, row: int) -> NDArray[Any]:
        """Elements (count, components) in the file's own type, sparse ones filled in."""
        if row not in self._raw:
            self._raw[row] = self._decode(row)
        return self._raw[row]

    def view_bytes(self, view_row: int) -> memoryview:
        """The bytes of a buffer view, unpacked where they are compressed."""
        view = self._views[view_row]
        packing = _meshopt_of(view)
        if packing is None:
            return self._slice(view)
        if view_row not in self._unpacked:
            self._unpacked[view_row] = self._unpack(view, packing)
        return self._unpacked[view_row]

    @property
    def view_count(self) -> int:
        """Number of buffer views."""
        return len(self._views)

    def _check_width(self, item: Checked, width: int | tuple[int, ...]) -> None:
        allowed = width if isinstance(width, tuple) else (width,)
        have = self._width(item)
        if have not in allowed:
            names = " or ".join(str(n) for n in allowed)
            raise item.error(f"{have} components, expected {names}", "type")

    @staticmethod
    def _width(item: Checked) -> int:
        return TYPES[item.choice("type", tuple(TYPES), "missing")]

    @staticmethod
    def _component(item: Checked) -> np.dtype[Any]:
        code = item.integer("componentType")
        if code not in COMPONENTS:
            names = ", ".join(str(c) for c in COMPONENTS)
            raise item.error(f"{code}, expected one of {names}", "componentType")
        return np.dtype(COMPONENTS[code]).newbyteorder("<")

    def _decode(self, row: int) -> NDArray[Any]:
        item = self._items[row]
        if row in self._replaced:
            base = self._replaced[row]
        else:
            base = self._dense(item, self.count(row))
        sparse = item.object("sparse")
        if sparse is None:
            return base
        base = base.copy()
        self._fill_sparse(item, sparse, base)
        return base

    def _dense(self, item: Checked, count: int) -> NDArray[Any]:
        width, component = self._width(item), self._component(item)
        view_row = item.index("bufferView", len(self._views), "buffer view")
        if view_row is None:
            self._free -= count * width * component.itemsize
            if self._free < 0:
                raise item.error(
                    f"{count} elements without data are more than a file of this size "
                    "can justify",
                    "count",
                )
            return np.zeros((count, width), component.newbyteorder("="))
        rows = MATRIX_ROWS.get(item.text("type"))
        view, data = self._views[view_row], self.view_bytes(view_row)
        stride = view.integer("byteStride", 0, 0, 255)
        offset = item.integer("byteOffset", 0)
        return _elements(item, data, offset, count, component, width, rows, stride)

    def _fill_sparse(
        self, item: Checked, sparse: Checked, base: NDArray[Any]
    ) -> None:
        """Overwrite the rows of `base` that the sparse part names."""
        count = sparse.integer("count", low=1, high=len(base))
        where, what = sparse.child("indices"), sparse.child("values")
        places = self._sparse_part(where, count, self._component(where), 1)[:, 0]
        if places.dtype.kind != "u":
            raise where.error("expected unsigned integers", "componentType")
        if int(places.max()) >= len(base):
            raise where.error(f"{int(places.max())} is past the end, {len(base)}")
        component = self._component(item)
        base[places] = self._sparse_part(what, count, component, base.shape[1])

    def _sparse_part(
        self, part: Checked, count: int, component: np.dtype[Any], width: int
    ) -> NDArray[Any]:
        view_row = part.child("bufferView").as_index(len(self._views), "buffer view")
        offset = part.integer("byteOffset", 0)
        data = self.view_bytes(view_row)
        return _elements(part, data, offset, count, component, width, None, 0)

    def _slice(self, holder: Checked) -> memoryview:
        """The part of a buffer that a view, or its packed twin, stands for."""
        row = holder.child("buffer").as_index(len(self._buffers), "buffer")
        data = self._buffers[row]
        if data is None:
            raise holder.error("its buffer has no data of its own", "buffer")
        offset = holder.integer("byteOffset", 0)
        size = holder.integer("byteLength", low=1)
        if offset + size > len(data):
            raise holder.error(
                f"bytes {offset} to {offset + size} of a buffer of {len(data)}"
            )
        return data[offset : offset + size]

    def _unpack(self, view: Checked, packing: Checked) -> memoryview:
        """Undo EXT_meshopt_compression or KHR_meshopt_compression."""
        count = packing.integer("count", low=1)
        stride = packing.integer("byteStride", low=1, high=256)
        try:
            unpacked = codecs.decode_meshopt(
                self._slice(packing),
                count=count,
                stride=stride,
                mode=packing.text("mode"),
                filter_name=packing.text("filter", "NONE"),
            )
        except codecs.CodecError as error:
            raise packing.error(str(error)) from None
        if view.integer("byteLength", low=1) > unpacked.nbytes:
            raise view.error("longer than the data it is unpacked from", "byteLength")
        return memoryview(unpacked.tobytes())


def _meshopt_of(view: Checked) -> Checked | None:
    extensions = view.object("extensions")
    if extensions is None:
        return None
    return extensions.object("EXT_meshopt_compression") or extensions.object(
        "KHR_meshopt_compression"
    )


def _elements(
    item: Checked,
    data: memoryview,
    offset: int,
    count: int,
    component: np.dtype[Any],
    width: int,
    rows: int | None,
    stride: int,
) -> NDArray[Any]:
    """A native-order copy (count, width) of numbers in `data`.

    rows: of a matrix, else None; the columns of one start at multiples of 4 bytes.
    """
    column = (rows or width) * component.itemsize
    step = column + (-column % 4 if rows else 0)
    columns = width // rows if rows else 1
    size = step * (columns - 1) + column
    stride = stride or step * columns
    if stride < size:
        raise item.error(f"elements of {size} bytes every {stride} bytes overlap")
    needed = offset + stride * (count - 1) + size
    if needed > len(data):
        raise item.error(
            f"{count} elements need {needed} bytes of a view of {len(data)}", "count"
        )
    shape, strides = (count, columns, rows or width), (stride, step, component.itemsize)
    numbers = np.ndarray(shape, component, data, offset, strides)
    return numbers.astype(component.newbyteorder("=")).reshape(count, width)


def _dequantise(raw: NDArray[Any]) -> Floats:
    """Normalised integers as float32: signed -1..1, unsigned 0..1."""
    if raw.dtype.kind == "f":
        return raw
    values = raw.astype(np.float64) / np.iinfo(raw.dtype).max
    return np.maximum(values, -1).astype(np.float32)
