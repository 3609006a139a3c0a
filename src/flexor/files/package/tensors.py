"""The safetensors container: named arrays behind a JSON header, mapped into memory.

A file is eight bytes that give the size of the header (least first), the header, and
the data. The header is a JSON object: of each array its type, its shape and where it
lies in the data; under ``__metadata__`` texts by name. Arrays follow each other without
holes, those with large elements first, and the data begin at a multiple of 64 bytes: so
each array lies where a processor wants it. An array of bytes may be a whole container
itself, whose header is looked at only when it is opened; such ones come first of all.

Files are mapped, not read: an array is a view of the file, and the system reads what is
touched. The map lives as long as any array does. Files of ours are replaced by renaming
(`files/replace.py`), which leaves a map as it was. A file that someone cuts short in
place while it is mapped ends the process when the lost part is touched; that is the
price of not copying, and the reason to put files in their place by renaming.
"""

from __future__ import annotations

import json
import mmap
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import AssetError

__all__ = [
    "TensorFile",
    "Wanted",
    "join_tensors",
    "layout_tensors",
    "open_tensors",
    "parse_json",
]

Entry = tuple[str, tuple[int, ...], int, int]

METADATA = "__metadata__"
KEYS = ("dtype", "shape", "data_offsets")
ALIGNMENT = 64
# The most that is taken: JSON grows to thirty times its size when it is read.
MOST_HEADER, MOST_AXES, LONGEST = 16_000_000, 16, 1 << 48
TYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(code)
    for name, code in (
        ("F64", "<f8"),
        ("I64", "<i8"),
        ("U64", "<u8"),
        ("F32", "<f4"),
        ("I32", "<i4"),
        ("U32", "<u4"),
        ("F16", "<f2"),
        ("I16", "<i2"),
        ("U16", "<u2"),
        ("I8", "i1"),
        ("U8", "u1"),
        ("BOOL", "?"),
    )
}
NAMES = {kind: name for name, kind in TYPES.items()}
SIZES = {name: kind.itemsize for name, kind in TYPES.items()}
# Not to wait for what is no file; that is seen afterwards.
# From Python 3.13 on a map needs no open file; before, each holds one.
MAP: dict[str, Any] = {"trackfd": False} if sys.version_info >= (3, 13) else {}
OPEN = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands twice in an object")
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
# Objects as pairs: names that stand twice are seen, and it takes less time.
_PAIRS = json.JSONDecoder(object_pairs_hook=tuple)


def parse_json(text: str) -> Any:
    """JSON without names that stand twice; ValueError where it is broken."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


class Wanted:
    """Arrays that a reader knows: the type of each, and its shape but for the first
    length, which may be any; by name.

    empty: what stands for one that is missing.
    """

    __slots__ = ("empty", "kinds")

    def __init__(self, kinds: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
        self.kinds = {
            n: (kind, 1 + len(tail), tail) for n, (kind, tail) in kinds.items()
        }
        self.empty = {n: _empty(kind, (0, *tail)) for n, (kind, tail) in kinds.items()}


def _empty(kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    made = np.empty(shape, TYPES[kind])
    made.flags.writeable = False
    return made


class TensorFile:
    """A container of which the header was checked.

    buffer: the file, mapped or read; begin, end: the bytes of it that are this one;
    data_at: where its data begin; metadata: texts by name; entries: of each array its
    type, its shape, its first byte in the file and the one behind its last, in the
    order of the file; where: in front of the places that errors name.
    """

    __slots__ = (
        "begin",
        "buffer",
        "data_at",
        "end",
        "entries",
        "metadata",
        "path",
        "where",
    )

    def __init__(
        self,
        path: Path,
        buffer: mmap.mmap | bytes,
        begin: int,
        end: int,
        where: str = "",
    ) -> None:
        self.path, self.where = path, where
        self.buffer, self.begin, self.end = buffer, begin, end
        head = int.from_bytes(buffer[begin : begin + 8], "little")
        if not 2 <= head <= min(end - begin - 8, MOST_HEADER):
            text = f"a header of {head} bytes in {end - begin}"
            raise AssetError(path, f"byte {begin}", text)
        self.data_at = begin + 8 + head
        try:
            header = _PAIRS.decode(buffer[begin + 8 : self.data_at].decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise AssetError(path, f"{where}header", f"not JSON: {error}") from None
        if type(header) is not tuple:
            raise AssetError(path, f"{where}header", "expected a JSON object")
        texts = [value for name, value in header if name == METADATA]
        self.metadata: dict[str, str] = self._texts(texts[0] if texts else ())
        self.entries: dict[str, Entry] = {}
        self._read_entries(header)
        if len(self.entries) + len(texts) < len(header) or len(texts) > 1:
            raise AssetError(path, f"{where}header", "a name stands there twice")

    def _texts(self, pairs: Any) -> dict[str, str]:
        if type(pairs) is not tuple or {type(value) for _, value in pairs} - {str}:
            raise AssetError(self.path, METADATA, "expected an object of texts")
        if len(dict(pairs)) != len(pairs):
            raise AssetError(self.path, METADATA, "a name stands there twice")
        return dict(pairs)

    def _read_entries(self, header: tuple[tuple[str, Any], ...]) -> None:
        """Every array; they must fill the data in their order, without holes."""
        at, start = 0, self.data_at
        for name, value in header:
            if name == METADATA:
                continue
            try:
                (one, kind), (two, shape), (three, (begin, end)) = value
                is_right = (one, two, three) == KEYS and type(value) is tuple
                size = SIZES.get(kind, 0)
            except (TypeError, ValueError):
                is_right = False
            if not is_right or type(shape) is not list or type(kind) is not str:
                raise self.error(name, f"expected {', '.join(KEYS)}")
            if len(shape) > MOST_AXES:
                raise self.error(name, f"{len(shape)} axes")
            for length in shape:
                if type(length) is not int or not 0 <= length <= LONGEST:
                    raise self.error(name, "the shape is not one")
                size *= length
            # Of a type that is not known, the size is not either.
            is_fair = type(end) is int and begin == at
            if not is_fair or end < at or (end - at != size and kind in SIZES):
                text = f"{kind[:9]} {shape} in bytes {begin} to {end}, expected {at} on"
                raise self.error(name, text)
            self.entries[name] = kind, tuple(shape), start + at, start + end
            at = end
        if start + at != self.end:
            text = f"it ends at byte {self.end}, but the arrays at {start + at}"
            raise AssetError(self.path, f"{self.where}header", text)

    def error(self, name: str, text: str) -> AssetError:
        """An AssetError that names an array."""
        place = f"{self.where}tensor {name[:60]!r}"
        return AssetError(self.path, place, text[:200])

    def arrays(self, wanted: Wanted) -> dict[str, NDArray[Any]]:
        """Read-only views of arrays, by name; those that are missing are empty."""
        found = wanted.empty.copy()
        for name, (kind, shape, begin, end) in self.entries.items():
            known = wanted.kinds.get(name)
            if known is None:
                continue
            own, axes, tail = known
            if (
                kind != own
                or len(shape) != axes
                or shape[1:] != tail
                or begin % SIZES[kind]
            ):
                text = f"{kind[:9]} {shape} at byte {begin}, expected {own} any {tail}"
                raise self.error(name, text)
            if begin < end:
                found[name] = np.ndarray(shape, TYPES[kind], self.buffer, begin)
        return found

    def any_array(self, name: str) -> NDArray[Any]:
        """A read-only view of an array of any type and shape."""
        kind, shape, begin, end = self.entries.get(name, ("nothing", (), 0, 0))
        if kind not in TYPES or begin % SIZES[kind]:
            raise self.error(name, f"{kind[:9]} at byte {begin}, expected an array")
        if begin < end:
            return np.ndarray(shape, TYPES[kind], self.buffer, begin)
        try:
            return _empty(kind, shape)
        except ValueError as error:  # a shape beyond all measure
            raise self.error(name, str(error)) from None

    def span(self, name: str) -> tuple[int, int]:
        """The first byte of an array in the file and the one behind its last."""
        _, _, begin, end = self.entries.get(name, ("", (), self.data_at, self.data_at))
        return begin, end

    def inner(self, name: str) -> TensorFile:
        """The container that an array of bytes is."""
        begin, end = self.span(name)
        if begin == end:
            raise self.error(name, "is missing")
        return TensorFile(self.path, self.buffer, begin, end, f"{name}: ")


def open_tensors(path: Path) -> TensorFile:
    """Map a file; AssetError where that cannot be done, or for a broken header."""
    try:
        number = os.open(path, OPEN)
        try:
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode):
                raise AssetError(path, "", "is not a plain file")
            if status.st_size < 10:
                text = f"truncated: {status.st_size} bytes, no header"
                raise AssetError(path, "byte 0", text)
            buffer = mmap.mmap(number, status.st_size, access=mmap.ACCESS_READ, **MAP)
        finally:
            os.close(number)
    except (OSError, ValueError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AssetError(path, "", f"cannot be read: {reason}") from None
    return TensorFile(path, buffer, 0, status.st_size)


def layout_tensors(
    metadata: Mapping[str, str], arrays: Mapping[str, NDArray[Any]]
) -> tuple[bytes, list[memoryview]]:
    """A container: its size and header, and the bytes of its arrays.

    An array of bytes whose length is a multiple of 64 may be a container; it keeps what
    follows in place, so that those come first. TypeError for a type that the container
    does not have.
    """
    stored = {
        name: np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        for name, array in arrays.items()
    }

    def rank(name: str) -> int:
        return -ALIGNMENT if name in inner else -stored[name].itemsize

    inner = {
        name
        for name, array in stored.items()
        if array.dtype == np.uint8 and array.nbytes and not array.nbytes % ALIGNMENT
    }
    ordered = sorted(stored, key=rank)
    header: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    end = 0
    for name in ordered:
        array = stored[name]
        if array.dtype not in NAMES:
            raise TypeError(f"{name}: arrays of {array.dtype} cannot be stored")
        begin, end = end, end + array.nbytes
        values = NAMES[array.dtype], list(array.shape), [begin, end]
        header[name] = dict(zip(KEYS, values, strict=True))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > MOST_HEADER:
        raise ValueError(f"a header of {len(text)} bytes is too large")
    head = len(text).to_bytes(8, "little") + text
    return head, [stored[n].data.cast("B") for n in ordered if stored[n].size]


def join_tensors(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """A container as an array of bytes, filled up to a multiple of 64."""
    size = sum(array.nbytes for array in arrays.values())
    filler = np.zeros(-size % ALIGNMENT, np.uint8)
    head, parts = layout_tensors({}, {**arrays, "filler": filler})
    return np.frombuffer(b"".join([head, *parts]), np.uint8)
