"""Accessors: numbers out of buffers, whatever their type, stride or packing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.container import Container
from flexor.files.gltf.extensions.meshopt_compression import packing_of, unpack_view

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
# them together may need what a file of this size justifies. Of 62 real characters, some
# of them compressed, none needs more than 2.5 times the size of its file; some writers
# let a hundred primitives share one set of vertices.
SPARE_BYTES, MOST_RATIO = 1 << 20, 192


class Layout(NamedTuple):
    """Where the elements of an accessor are, and what they are made of.

    size: number of elements; code: component type; width: numbers in an element;
    columns: of a matrix, else 1; view: row of the buffer view, -1 for none.
    """

    size: int
    code: int
    width: int
    columns: int
    is_normalised: bool
    view: int
    offset: int


class Accessors:
    """The accessors of a file. Each is decoded once; equal rows give the same array."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._buffers = container.buffers()
        self._items = items = container.root.table("accessors")
        self._views = views = container.root.table("bufferViews")
        codes = items.integers("componentType")
        for row, code in enumerate(codes):
            if code not in COMPONENTS:
                _component(items[row])
        kinds = [TYPES[name] for name in items.choices("type", TYPE_NAMES, "missing")]
        self._layouts = list(
            map(
                Layout,
                items.integers("count", low=1),
                codes,
                [width for width, _ in kinds],
                [columns for _, columns in kinds],
                items.flags("normalized"),
                items.rows("bufferView", len(views), "buffer view", -1),
                items.integers("byteOffset", 0),
            )
        )
        self._is_sparse = items.has("sparse")
        self._view_buffers = views.rows("buffer", len(self._buffers), "buffer")
        self._view_offsets = views.integers("byteOffset", 0)
        self._view_sizes = views.integers("byteLength", low=1)
        self._view_strides = views.integers("byteStride", 0, 0, 255)
        self._is_packed = views.has("extensions")
        self._raw: dict[int, NDArray[Any]] = {}
        self._floats: dict[int, Floats] = {}
        self._finite: set[int] = set()
        self._unpacked: dict[int, memoryview] = {}
        self._used, self._most = 0, 0

    def __len__(self) -> int:
        return len(self._items)

    @property
    def view_count(self) -> int:
        """Number of buffer views."""
        return len(self._views)

    def count(self, row: int) -> int:
        """Number of elements, as the file announces it."""
        return self._layouts[row].size

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
        item, layout = self._items[row], self._layouts[row]
        if values.shape != (layout.size, layout.width):
            raise item.error(
                f"{layout.size} elements of {layout.width} announced, the compressed "
                f"data hold {values.shape[0]} of {values.shape[1]}",
                "count",
            )
        values = values.astype(COMPONENTS[layout.code][1])
        self._raw[row] = self._finish(row, values)
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
        item, layout = self._items[row], self._layouts[row]
        if widths and layout.width not in widths:
            names = " or ".join(str(n) for n in widths)
            raise item.error(f"{layout.width} components, expected {names}", "type")
        # As float32, which is what nearly all become.
        self.charge(item, 4 * layout.size * layout.width, "count")
        found = self._raw.get(row)
        if found is None:
            if layout.view < 0:
                shape = layout.size, layout.width
                found = np.zeros(shape, COMPONENTS[layout.code][1])
            else:
                found = self._elements(item, layout, self._view_strides[layout.view])
            self._raw[row] = found = self._finish(row, found)
        return found

    def view_bytes(self, row: int) -> memoryview:
        """The bytes of a buffer view, unpacked where they are compressed."""
        view = self._views[row]
        packing = packing_of(view) if self._is_packed[row] else None
        if packing is None:
            buffer, offset = self._view_buffers[row], self._view_offsets[row]
            return self._slice(view, buffer, offset, self._view_sizes[row])
        if row not in self._unpacked:
            count = len(self._buffers)
            self._unpacked[row] = unpack_view(
                view, packing, count, self.charge, self._slice
            )
        return self._unpacked[row]

    def _finish(self, row: int, values: NDArray[Any]) -> NDArray[Any]:
        """Overwrite the elements that a sparse part names; make all read-only."""
        if self._is_sparse[row]:
            layout, sparse = self._layouts[row], self._items[row].child("sparse")
            count = sparse.integer("count", low=1, high=layout.size)
            where, what = sparse.child("indices"), sparse.child("values")
            part = Layout(count, _component(where), 1, 1, False, *self._source(where))
            places = self._elements(where, part, 0)[:, 0]
            if places.dtype.kind != "u":
                raise where.error("expected unsigned integers", "componentType")
            last = int(places.max())
            if last >= layout.size:
                raise where.error(f"element {last} of {layout.size}")
            view, offset = self._source(what)
            part = layout._replace(size=count, view=view, offset=offset)
            values[places] = self._elements(what, part, 0)
        values.flags.writeable = False
        return values

    def _source(self, part: Checked) -> tuple[int, int]:
        view = part.row("bufferView", len(self._views), "buffer view")
        return view, part.integer("byteOffset", 0)

    def _elements(self, place: Checked, layout: Layout, stride: int) -> NDArray[Any]:
        """A copy (size, width) of the numbers in a view; errors are at `place`.

        stride: bytes from element to element, 0 if there is nothing between them. The
        columns of a matrix start at multiples of 4 bytes.
        """
        count, code, width, columns, _, view, offset = layout
        data = self.view_bytes(view)
        stored, native = COMPONENTS[code]
        height = width // columns
        column = height * stored.itemsize
        step = column if columns == 1 else column + -column % 4
        size = step * (columns - 1) + column
        stride = stride or step * columns
        if stride < size:
            raise place.error(f"elements of {size} bytes every {stride} bytes overlap")
        needed = offset + stride * (count - 1) + size
        if needed > len(data):
            text = f"{count} elements need {needed} bytes of a view of {len(data)}"
            raise place.error(text, "count")
        shape, strides = (count, columns, height), (stride, step, stored.itemsize)
        numbers = np.ndarray(shape, stored, data, offset, strides)
        return numbers.astype(native).reshape(count, width)

    def _slice(self, place: Checked, buffer: int, offset: int, size: int) -> memoryview:
        """Part of a buffer; errors are at `place`."""
        data = self._buffers[buffer]
        if data is None:
            raise place.error("its buffer has no data of its own", "buffer")
        end = offset + size
        if end > len(data):
            raise place.error(f"bytes {offset} to {end} of a buffer of {len(data)}")
        return data[offset:end]


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
