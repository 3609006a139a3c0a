"""The binary half of a glTF file being written: views and accessors over one buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BufferWriter"]

CODES = {"b": 5120, "B": 5121, "h": 5122, "H": 5123, "I": 5125, "f": 5126}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
VERTICES, INDICES = 34962, 34963


class BufferWriter:
    """Collects bytes and describes them; the same array is stored once."""

    def __init__(self) -> None:
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self._chunks: list[bytes | memoryview] = []
        self._size = 0
        self._known: dict[tuple[Any, ...], int] = {}
        self._joined: list[bytes] = []
        self._joined_size = self._joined_view = 0
        # Arrays must live as long as their addresses stand in `_known`.
        self._kept: list[NDArray[Any]] = []

    def data(self) -> bytes:
        """Everything collected, one buffer; nothing can be added afterwards."""
        if self._joined:
            row, joined = self._joined_view, b"".join(self._joined)
            self.add_view(joined)
            # The view that accessors name was counted when the first was added.
            self.views[row] = self.views.pop()
        return b"".join(self._chunks)

    def add_joined(
        self,
        array: NDArray[Any],
        *,
        has_bounds: bool = False,
        is_looked_at: bool = False,
    ) -> int:
        """Store an array (count,) or (count, C) in a view that all of these share;
        return its accessor.

        Whole numbers stand for fractions of their largest. is_looked_at: also arrays
        that are equal are stored once.
        """
        data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        address = array.__array_interface__["data"][0]
        place = data if is_looked_at else (address, array.strides, "joined")
        key = (place, array.shape, array.dtype.char)
        if key in self._known:
            return self._known[key]
        if not self._joined:
            self._joined_view = len(self.views)
            self.views.append({})
        accessor: dict[str, Any] = {
            "bufferView": self._joined_view,
            "byteOffset": self._joined_size,
            "componentType": CODES[array.dtype.char],
            "count": len(array),
            "type": TYPES[array.reshape(len(array), -1).shape[1]],
        }
        if array.dtype.kind == "i":
            accessor["normalized"] = True
        if has_bounds:
            accessor.update(_bounds(array))
        padding = b"\0" * (-len(data) % 4)
        self._joined += [data, padding]
        self._kept.append(array)
        self._joined_size += len(data) + len(padding)
        self.accessors.append(accessor)
        self._known[key] = len(self.accessors) - 1
        return len(self.accessors) - 1

    def add_view(
        self, data: bytes | memoryview, target: int | None = None, stride: int = 0
    ) -> int:
        """Store bytes at a multiple of four; return the view's row."""
        padding = -self._size % 4
        self._chunks += [b"\0" * padding, data]
        self._size += padding
        view = {"buffer": 0, "byteOffset": self._size, "byteLength": len(data)}
        if stride:
            view["byteStride"] = stride
        if target is not None:
            view["target"] = target
        self._size += len(data)
        self.views.append(view)
        return len(self.views) - 1

    def add(
        self,
        array: NDArray[Any],
        target: int | None = None,
        *,
        has_bounds: bool = False,
    ) -> int:
        """Store an array (count,) or (count, C) or (count, 4, 4); return its accessor.

        target: VERTICES for attributes, whose elements then start at multiples of four
        bytes, INDICES, or None; has_bounds: write least and largest element.
        """
        address = array.__array_interface__["data"][0]
        key = (address, array.shape, array.strides, array.dtype.char, target)
        if key in self._known:
            row = self._known[key]
            if has_bounds and "min" not in self.accessors[row]:
                self.accessors[row].update(_bounds(array))
            return row
        self._kept.append(array)
        flat = np.ascontiguousarray(array).reshape(len(array), -1)
        width = flat.shape[1]
        size = width * flat.itemsize
        stride = 0
        stored = flat
        if target == VERTICES and size % 4:
            stride = size + -size % 4
            stored = np.zeros((len(flat), stride // flat.itemsize), flat.dtype)
            stored[:, :width] = flat
        view = self.add_view(stored.astype(stored.dtype.newbyteorder("<")).tobytes())
        if stride:
            self.views[view]["byteStride"] = stride
        if target is not None:
            self.views[view]["target"] = target
        if flat.dtype.char not in CODES or width not in TYPES:
            raise ValueError(f"glTF cannot hold {flat.dtype.name} rows of {width}")
        accessor: dict[str, Any] = {
            "bufferView": view,
            "componentType": CODES[flat.dtype.char],
            "count": len(flat),
            "type": TYPES[width],
        }
        if has_bounds:
            accessor.update(_bounds(array))
        self.accessors.append(accessor)
        self._known[key] = len(self.accessors) - 1
        return len(self.accessors) - 1


def _bounds(array: NDArray[Any]) -> dict[str, list[float]]:
    flat = array.reshape(len(array), -1)
    return {"min": flat.min(0).tolist(), "max": flat.max(0).tolist()}
