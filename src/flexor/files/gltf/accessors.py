"""Accessors: numbers out of buffers, whatever their type, stride or packing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.files import codecs
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.container import Container

__all__ = ["Accessors"]

FLOAT = 5126
# Component type: as it stands in a file, and as it is here.
COMPONENTS: dict[int, tuple[np.dtype[Any], np.dtype[Any]]] = {
    code: (np.dtype(name).newbyteorder("<"), np.dtype(name))
    for code, name in (
        (5120, "i1"),
        (5121, "u1"),
        (5122, "i2"),
        (5123, "u2"),
        (5125, "u4"),
        (FLOAT, "f4"),
    )
}
# Name: numbers in an element, columns of a matrix (1: no matrix).
TYPES = {
    "SCALAR": (1, 1),
    "VEC2": (2, 1),
    "VEC3": (3, 1),
    "VEC4": (4, 1),
    "MAT2": (4, 2),
    "MAT3": (9, 3),
    "MAT4": (16, 4),
}
TYPE_NAMES = tuple(TYPES)

# A count is only a number: elements may have no bytes of their own, or share them with
# others. So every use of an accessor counts as if it had its own memory, and all of
# them together may need what a file of this size justifies. Real characters, the most
# compressed ones included, need less than 20 times the size of their file.
SPARE_BYTES, MOST_RATIO = 1 << 20, 64


class Layout(NamedTuple):
    """How many elements, and what they are made of.

    code: component type; width: numbers in one; columns: of a matrix, else 1.
    """

    size: int
    code: int
    width: int
    columns: int
    is_normalised: bool


class Accessors:
    """The accessors of a file. Each is decoded once; equal rows give the same array."""

    def __init__(self, container: Container) -> None:
        root = container.root
        self._buffers = container.buffers()
        self._items = root.items("accessors")
        self._views = root.items("bufferViews")
        self._layouts: dict[int, Layout] = {}
        self._raw: dict[int, NDArray[Any]] = {}
        self._floats: dict[int, Floats] = {}
        self._finite: set[int] = set()
        self._unpacked: dict[int, memoryview] = {}
        self._container = container
        self._used, self._most = 0, 0

    def __len__(self) -> int:
        return len(self._items)

    @property
    def view_count(self) -> int:
        """Number of buffer views."""
        return len(self._views)

    def count(self, row: int) -> int:
        """Number of elements, as the file announces it."""
        return self._layout(row).size

    def place(self, row: int) -> Checked:
        """The accessor's own JSON, to report errors at."""
        return self._items[row]

    def charge(self, place: Checked, size: int, key: str | None = None) -> None:
        """Refuse at `place` if `size` more bytes are too many for the file."""
        self._used += size
        if self._used <= self._most:
            return
        read = self._container.size  # which grows while files are read
        self._most = SPARE_BYTES + MOST_RATIO * read
        if self._used > self._most:
            raise place.error(
                f"{size} bytes more make {self._used}, which a file of {read} bytes "
                "cannot justify",
                key,
            )

    def replace(self, row: int, values: NDArray[Any]) -> None:
        """Take `values` (count, components) for the accessor: they were compressed."""
        item, layout = self._items[row], self._layout(row)
        if values.shape != (layout.size, layout.width):
            raise item.error(
                f"{layout.size} elements of {layout.width} announced, the compressed "
                f"data hold {values.shape[0]} of {values.shape[1]}",
                "count",
            )
        values = values.astype(COMPONENTS[layout.code][1])
        self._raw[row] = self._finish(item, layout, values)
        self._floats.pop(row, None)
        self._finite.discard(row)

    def floats(self, row: int, *widths: int) -> Floats:
        """Numbers (count, width) as float32; normalised integers as -1..1 or 0..1.

        widths: those that are right here. The array is read-only.
        """
        raw = self.raw(row, *widths)
        layout = self._layouts[row]
        if layout.code == FLOAT:
            return raw
        if row not in self._floats:
            if layout.is_normalised:
                values = raw.astype(np.float64) / np.iinfo(raw.dtype).max
                raw = np.maximum(values, -1)
            self._floats[row] = raw.astype(np.float32)
            self._floats[row].flags.writeable = False
        return self._floats[row]

    def finite(self, place: Checked, key: str, row: int, *widths: int) -> Floats:
        """The same; a number that is not finite is an error under `key` of `place`."""
        values = self.floats(row, *widths)
        if row not in self._finite:
            check_finite(place, key, values)
            self._finite.add(row)
        return values

    def integers(self, row: int, width: int) -> NDArray[Any]:
        """Unsigned integers (count, width) in the file's own type; read-only."""
        raw = self.raw(row, width)
        if raw.dtype.kind != "u":
            raise self._items[row].error(
                f"{raw.dtype.name}, expected unsigned integers", "componentType"
            )
        return raw

    def raw(self, row: int, *widths: int) -> NDArray[Any]:
        """Elements (count, components) in the file's own type; read-only.

        Sparse ones are filled in. widths: those that are right here; none: any.
        """
        item, layout = self._items[row], self._layout(row)
        if widths and layout.width not in widths:
            names = " or ".join(str(n) for n in widths)
            raise item.error(f"{layout.width} components, expected {names}", "type")
        # As float32, which is what nearly all become.
        self.charge(item, 4 * layout.size * layout.width, "count")
        found = self._raw.get(row)
        if found is None:
            found = self._finish(item, layout, self._dense(item, layout))
            self._raw[row] = found
        return found

    def view_bytes(self, view_row: int) -> memoryview:
        """The bytes of a buffer view, unpacked where they are compressed."""
        view = self._views[view_row]
        packing = _meshopt_of(view) if view.has("extensions") else None
        if packing is None:
            return self._slice(view)
        if view_row not in self._unpacked:
            self._unpacked[view_row] = self._unpack(view, packing)
        return self._unpacked[view_row]

    def _layout(self, row: int) -> Layout:
        found = self._layouts.get(row)
        if found is None:
            item = self._items[row]
            width, columns = TYPES[item.choice("type", TYPE_NAMES, "missing")]
            count, code = item.integer("count", low=1), _component(item)
            found = Layout(count, code, width, columns, item.flag("normalized"))
            self._layouts[row] = found
        return found

    def _dense(self, item: Checked, layout: Layout) -> NDArray[Any]:
        view_row = item.index("bufferView", len(self._views), "buffer view")
        if view_row is None:
            shape = layout.size, layout.width
            return np.zeros(shape, COMPONENTS[layout.code][1])
        data = self.view_bytes(view_row)
        stride = self._views[view_row].integer("byteStride", 0, 0, 255)
        return _elements(item, data, layout, stride)

    def _finish(
        self, item: Checked, layout: Layout, values: NDArray[Any]
    ) -> NDArray[Any]:
        """Overwrite the rows that a sparse part names; make all read-only."""
        if item.has("sparse"):
            sparse = item.child("sparse")
            count = sparse.integer("count", low=1, high=layout.size)
            where = sparse.child("indices")
            part = Layout(count, _component(where), 1, 1, False)
            places = self._sparse_part(where, part)[:, 0]
            if places.dtype.kind != "u":
                raise where.error("expected unsigned integers", "componentType")
            last = int(places.max())
            if last >= layout.size:
                raise where.error(f"element {last} of {layout.size}")
            part = layout._replace(size=count)
            values[places] = self._sparse_part(sparse.child("values"), part)
        values.flags.writeable = False
        return values

    def _sparse_part(self, part: Checked, layout: Layout) -> NDArray[Any]:
        view_row = part.row("bufferView", len(self._views), "buffer view")
        return _elements(part, self.view_bytes(view_row), layout, 0)

    def _slice(self, holder: Checked) -> memoryview:
        """The part of a buffer that a view, or its packed twin, stands for."""
        data = self._buffers[holder.row("buffer", len(self._buffers), "buffer")]
        if data is None:
            raise holder.error("its buffer has no data of its own", "buffer")
        offset = holder.integer("byteOffset", 0)
        end = offset + holder.integer("byteLength", low=1)
        if end > len(data):
            raise holder.error(f"bytes {offset} to {end} of a buffer of {len(data)}")
        return data[offset:end]

    def _unpack(self, view: Checked, packing: Checked) -> memoryview:
        """Undo EXT_meshopt_compression or KHR_meshopt_compression."""
        count = packing.integer("count", low=1)
        stride = packing.integer("byteStride", low=1, high=256)
        self.charge(packing, count * stride, "count")
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


def check_finite(place: Checked, key: str, values: Floats) -> None:
    """Refuse NaN and infinity in values (count, width), under `key` of `place`."""
    good = np.isfinite(values)
    if not good.all():
        row = int(np.argmin(good.all(1)))
        raise place.error(f"element {row} is not finite", key)


def _component(item: Checked) -> int:
    code = item.integer("componentType")
    if code not in COMPONENTS:
        names = ", ".join(str(c) for c in COMPONENTS)
        raise item.error(f"{code}, expected one of {names}", "componentType")
    return code


def _meshopt_of(view: Checked) -> Checked | None:
    extensions = view.child("extensions")
    return extensions.object("EXT_meshopt_compression") or extensions.object(
        "KHR_meshopt_compression"
    )


def _elements(
    item: Checked, data: memoryview, layout: Layout, stride: int
) -> NDArray[Any]:
    """A copy (count, width) of the numbers in `data`, from the item's byteOffset on.

    stride: bytes from element to element, 0 if there is nothing between them. The
    columns of a matrix start at multiples of 4 bytes.
    """
    count, code, width, columns, _ = layout
    stored, native = COMPONENTS[code]
    height = width // columns
    column = height * stored.itemsize
    step = column if columns == 1 else column + -column % 4
    size = step * (columns - 1) + column
    stride = stride or step * columns
    if stride < size:
        raise item.error(f"elements of {size} bytes every {stride} bytes overlap")
    offset = item.integer("byteOffset", 0)
    needed = offset + stride * (count - 1) + size
    if needed > len(data):
        raise item.error(
            f"{count} elements need {needed} bytes of a view of {len(data)}", "count"
        )
    if columns == 1:
        strides = (stride, stored.itemsize)
        return np.ndarray((count, width), stored, data, offset, strides).astype(native)
    shape, strides3 = (count, columns, height), (stride, step, stored.itemsize)
    numbers = np.ndarray(shape, stored, data, offset, strides3)
    return numbers.astype(native).reshape(count, width)
