"""Undo the two compressions that glTF knows: Draco meshes and meshopt views.

Bytes go in, arrays come out; nothing here knows JSON. The bytes are hostile until
checked: layouts are checked first, sizes that the compressed length cannot justify
are refused before memory is taken, and anything the decoders dislike comes out as
one exception, `CodecError`, to which the caller adds the file and the place in it.

The decoders are optional packages (extra ``codecs``), imported on first use:

- DracoPy gives every attribute by its unique id, in the order of Draco's points, so
  the same order that draco3dgltf and three.js show. It widens uint16 to uint32 and
  hands signed integers over as float32, divided by their largest value when the
  attribute is marked normalized. `_stored_values` turns both back.
- meshoptimizer (Python layer 0.2.30a0) writes 16-bit indices packed into a 32-bit
  array, so indices are always decoded at 4 bytes and narrowed here. It has no COLOR
  filter; that one is written here.

Formats: KHR_draco_mesh_compression (Draco bitstream 2.2), EXT_meshopt_compression
and KHR_meshopt_compression. Neither format has a checksum: a changed byte may decode
to other values, and only the caller's own checks can tell.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import BackendMissing

__all__ = ["CodecError", "decode_draco", "decode_meshopt"]

# Draco: bytes 5 to 8 of the header are version major, minor, geometry, method.
DRACO_MAGIC = b"DRACO"
DRACO_VERSION = (2, 2)
DRACO_MESH = 1
DRACO_SEQUENTIAL, DRACO_EDGEBREAKER = 0, 1
DRACO_HEADER_SIZE = 11
DRACO_HAS_METADATA = 0x80  # in the high byte of the two flag bytes

# Largest counts that are believed. Plain edgebreaker spends at least one bit on a
# symbol, and four faces at most come from three symbols: 8 * 4 / 3 faces to a byte.
# The valence variant is entropy coded, without such a bound; the best measured was
# 61 faces to a byte (a flat torus of two million faces), so twice that is allowed.
DRACO_FACES_PER_BYTE = {0: 11, 1: 128, 2: 128}
DRACO_SPARE = 1 << 16
DRACO_MOST = 1 << 24

# Draco data types that glTF has a use for; 64-bit types and booleans are refused.
DRACO_INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32)
DRACO_TYPES: dict[int, type[np.number[Any]]]
DRACO_TYPES = {**dict(enumerate(DRACO_INTEGERS, 1)), 9: np.float32}
FLOAT32_WHOLE = 1 << 24  # every whole number up to here is exact in float32

MESHOPT_FILTERS: dict[str, tuple[int, ...]] = {  # name: strides, in bytes
    "NONE": tuple(range(4, 257, 4)),
    "OCTAHEDRAL": (4, 8),
    "QUATERNION": (8,),
    "EXPONENTIAL": tuple(range(4, 257, 4)),
    "COLOR": (4, 8),
}
MESHOPT_MODES = ("ATTRIBUTES", "TRIANGLES", "INDICES")
MESHOPT_GROUP = 16  # elements
MESHOPT_BLOCK_ELEMENTS = 256
MESHOPT_BLOCK_BYTES = 8192


class CodecError(ValueError):
    """Compressed data are malformed; the text says how."""


def decode_draco(
    data: bytes | memoryview, attribute_ids: Mapping[str, int]
) -> tuple[NDArray[np.uint32], dict[str, NDArray[Any]]]:
    """Decode one mesh of KHR_draco_mesh_compression.

    data: the bytes of the extension's buffer view; attribute_ids: glTF attribute
    name -> Draco unique id, as the extension lists them.

    Returns the indices, uint32 (F * 3,), three points to a face, each below the
    number of points; and for every name of `attribute_ids` an array (points,
    components), all with the same number of rows, in the type that the file stores:
    int8, uint8, int16, uint16, int32, uint32 or float32. Integers are raw, never
    divided.

    Raises `CodecError` where the data are malformed, no mesh, too large for their
    length, or lack an attribute; `BackendMissing` where DracoPy is not installed.
    """
    if not attribute_ids:
        raise CodecError("no Draco attribute is named")
    raw = bytes(data)
    _check_draco_header(raw)
    library = _import_late("DracoPy", "a Draco-compressed mesh")
    try:
        mesh = library.decode(raw)
        faces = getattr(mesh, "faces", None)  # a mesh without faces has none
        indices = np.array([] if faces is None else faces, np.uint32).reshape(-1)
        found = {name: _find(mesh, name, key) for name, key in attribute_ids.items()}
        values = {name: _stored_values(raw, item) for name, item in found.items()}
    except CodecError:
        raise
    except Exception as error:
        # DracoPy says "not draco encoded" for every fault, so its text is no help.
        raise CodecError("the Draco data are damaged or incomplete") from error
    rows = {name: len(array) for name, array in values.items()}
    point_count = max(rows.values())
    if min(rows.values()) != point_count:
        raise CodecError(f"Draco attributes differ in their number of points: {rows}")
    if len(indices) and int(indices.max()) >= point_count:
        raise CodecError(
            f"Draco face names point {int(indices.max())} of {point_count} points"
        )
    return indices, values


def decode_meshopt(
    data: bytes | memoryview, *, count: int, stride: int, mode: str, filter_name: str
) -> NDArray[np.uint8]:
    """Decode one buffer view of EXT_meshopt_compression or KHR_meshopt_compression.

    data: the compressed bytes, exactly as many as the extension's ``byteLength``;
    count: number of elements; stride: bytes to an element; mode: "ATTRIBUTES" (stride
    a multiple of 4, up to 256), "TRIANGLES" (count a multiple of 3) or "INDICES"
    (both: stride 2 or 4); filter_name: "NONE", and for attributes also "OCTAHEDRAL"
    (stride 4 or 8), "QUATERNION" (8), "EXPONENTIAL" (any), "COLOR" (4 or 8; KHR only).

    Returns uint8 (count, stride): the bytes of the uncompressed view, little endian.

    Raises `CodecError` where the layout is not allowed, or the data are malformed or
    too short for it; `BackendMissing` where meshoptimizer is not installed.
    """
    _check_meshopt_layout(count, stride, mode, filter_name)
    raw = bytes(data)
    least = _least_meshopt_size(raw[:1], count, stride, mode)
    if len(raw) < least:
        raise CodecError(
            f"{len(raw)} bytes cannot hold {count} elements of {stride} bytes in mode "
            f"{mode}: at least {least} are needed"
        )
    library = _import_late("meshoptimizer", "a meshopt-compressed buffer view")
    try:
        if mode == "ATTRIBUTES":
            return _decode_attributes(library, raw, count, stride, filter_name)
        if mode == "TRIANGLES":
            indices = library.decode_index_buffer(count, 4, raw)
        else:
            indices = library.decode_index_sequence(count, 4, raw)
    except Exception as error:
        text = f"the meshopt data of mode {mode} are damaged: {error}"
        raise CodecError(text) from error
    # The format says that 16-bit indices wrap, which is what narrowing does.
    narrow = indices.astype("<u2" if stride == 2 else "<u4", copy=False)
    elements: NDArray[np.uint8] = narrow.view(np.uint8).reshape(count, stride)
    return elements


def _import_late(package: str, purpose: str) -> Any:
    """Import an optional package, or say which extra brings it."""
    try:
        return importlib.import_module(package)
    except (ImportError, OSError) as error:
        raise BackendMissing(
            f"{purpose} needs the package {package}: pip install 'flexor[codecs]'"
        ) from error


# Draco: the header, read here because the decoder believes the counts in it.


class _Header:
    """A reading position in the first bytes of a Draco file."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def skip(self, size: int) -> None:
        """Step over `size` bytes."""
        self.at += size
        if self.at > len(self.data):
            raise CodecError("the Draco data end inside their header")

    def byte(self) -> int:
        """Read one byte."""
        self.skip(1)
        return self.data[self.at - 1]

    def varint(self) -> int:
        """Read a number of 7 bits to a byte, lowest first, of up to 5 bytes."""
        number = 0
        for shift in range(0, 35, 7):
            part = self.byte()
            number |= (part & 0x7F) << shift
            if part < 0x80:
                return number
        raise CodecError("a count in the Draco header is too long")


def _check_draco_header(raw: bytes) -> None:
    """Refuse what is no Draco 2.2 mesh, or announces more than its length allows."""
    if raw[:5] != DRACO_MAGIC:
        raise CodecError("the data do not begin with the word DRACO")
    header = _Header(raw, 0)
    header.skip(DRACO_HEADER_SIZE)
    major, minor, geometry, method = raw[5:9]
    if geometry != DRACO_MESH:
        raise CodecError("the Draco data hold no triangle mesh")
    if (major, minor) != DRACO_VERSION:
        raise CodecError(f"Draco bitstream {major}.{minor}; glTF asks for 2.2")
    if raw[10] & DRACO_HAS_METADATA:
        _skip_metadata(header)
    if method == DRACO_SEQUENTIAL:
        faces, points = header.varint(), header.varint()
        most_faces = len(raw) // 3  # the decoder refuses more than that, too
        most_points = 3 * faces + DRACO_SPARE
    elif method == DRACO_EDGEBREAKER:
        traversal = header.byte()
        points, faces = header.varint(), header.varint()
        if traversal not in DRACO_FACES_PER_BYTE:
            raise CodecError(f"unknown Draco traversal {traversal}")
        most_faces = DRACO_FACES_PER_BYTE[traversal] * len(raw) + DRACO_SPARE
        most_points = 3 * faces
    else:
        raise CodecError(f"unknown Draco encoding method {method}")
    if faces > min(most_faces, DRACO_MOST):
        raise CodecError(f"{len(raw)} bytes of Draco data announce {faces} faces")
    if points > min(most_points, 3 * DRACO_MOST):
        raise CodecError(f"Draco data with {faces} faces announce {points} points")


def _skip_metadata(header: _Header) -> None:
    """Step over the metadata: one tree for each listed attribute, then the mesh's.

    A tree is entries (name, bytes), then named trees. As in Draco, children are read
    after their parent's own fields, so a count of trees still to come is enough.
    """
    for last in range(header.varint(), -1, -1):
        if last:
            header.varint()  # unique id of the attribute
        pending, is_root = 1, True
        while pending:
            pending -= 1
            if not is_root:
                header.skip(header.byte())
            is_root = False
            for _ in range(header.varint()):
                header.skip(header.byte())
                header.skip(header.varint())
            pending += header.varint()


def _find(mesh: Any, name: str, unique_id: int) -> Mapping[str, Any]:
    """Return DracoPy's record of the attribute with a unique id."""
    item: Mapping[str, Any] | None = mesh.get_attribute_by_unique_id(unique_id)
    if item is None:
        known = sorted(other["unique_id"] for other in mesh.attributes)
        raise CodecError(
            f"no Draco attribute has the unique id {unique_id} given for {name}; "
            f"there are {known}"
        )
    return item


def _stored_values(raw: bytes, item: Mapping[str, Any]) -> NDArray[Any]:
    """Return an attribute (points, components) in the type that the file stores."""
    dtype = DRACO_TYPES.get(item["data_type"])
    if dtype is None:
        raise CodecError(f"Draco data type {item['data_type']} has no place in glTF")
    values = item["data"]
    if values is None:
        return np.empty((0, item["num_components"]), dtype)
    if values.dtype.kind == "f" and issubclass(dtype, np.signedinteger):
        values = _whole_numbers(raw, item, values, dtype)
    return np.ascontiguousarray(values, dtype)


def _whole_numbers(
    raw: bytes,
    item: Mapping[str, Any],
    values: NDArray[np.float32],
    dtype: type[np.signedinteger[Any]],
) -> NDArray[np.float64]:
    """Undo the way through float32 that signed integers take in DracoPy."""
    exact = values.astype(np.float64)
    if not np.isfinite(exact).all():
        raise CodecError("a Draco attribute of whole numbers is not finite")
    info = np.iinfo(dtype)
    is_whole = bool((exact == np.rint(exact)).all())
    if not is_whole or (np.abs(exact).max() <= 1 and _marked_normalized(raw, item)):
        exact *= info.max
    whole = np.rint(exact)
    lowest, highest = max(info.min, -FLOAT32_WHOLE), min(info.max, FLOAT32_WHOLE)
    is_off = np.abs(whole - exact) > 0.01
    if is_off.any() or whole.min() < lowest or whole.max() > highest:
        raise CodecError(f"a Draco attribute cannot be read back as {info.dtype}")
    return whole


def _marked_normalized(raw: bytes, item: Mapping[str, Any]) -> bool:
    """Tell 1 from 1.0 where an attribute holds only -1, 0 and 1.

    DracoPy does not pass the flag on, but the attribute's description stands in the
    data byte by byte: type, data type, components, flag, unique id.
    """
    kind = bytes(item[key] for key in ("attribute_type", "data_type", "num_components"))
    number, tail = item["unique_id"], b""
    while number > 0x7F:
        tail += bytes([number & 0x7F | 0x80])
        number >>= 7
    tail += bytes([number])
    return kind + b"\1" + tail in raw and kind + b"\0" + tail not in raw


# meshopt: layout rules of the extension, the least size, and the filters.


def _check_meshopt_layout(count: int, stride: int, mode: str, filter_name: str) -> None:
    if mode not in MESHOPT_MODES:
        raise CodecError(f"mode {mode!r} is not one of {', '.join(MESHOPT_MODES)}")
    if filter_name not in MESHOPT_FILTERS:
        known = ", ".join(MESHOPT_FILTERS)
        raise CodecError(f"filter {filter_name!r} is not one of {known}")
    if count < 0:
        raise CodecError(f"a count of {count} elements is negative")
    if mode == "ATTRIBUTES":
        if stride not in MESHOPT_FILTERS[filter_name]:
            raise CodecError(f"stride {stride} does not suit the filter {filter_name}")
        return
    if filter_name != "NONE":
        raise CodecError(f"mode {mode} takes no filter, {filter_name} is given")
    if stride not in (2, 4):
        raise CodecError(f"mode {mode} needs a stride of 2 or 4, {stride} is given")
    if mode == "TRIANGLES" and count % 3:
        raise CodecError(f"{count} indices are no whole number of triangles")


def _least_meshopt_size(head: bytes, count: int, stride: int, mode: str) -> int:
    """Return the fewest bytes in which any data of this layout can be stored.

    Exact: what equal elements (attributes) or one byte for each code need.
    """
    if mode == "TRIANGLES":
        return 1 + count // 3 + 16  # head, codes, table
    if mode == "INDICES":
        return 1 + count + 4  # head, deltas, padding
    block = MESHOPT_BLOCK_BYTES // stride // MESHOPT_GROUP * MESHOPT_GROUP
    block = min(block, MESHOPT_BLOCK_ELEMENTS)
    full, rest = divmod(count, block)
    if head == b"\xa0":  # version 0: two bits for each group of each byte
        sizes = [-(-part // (4 * MESHOPT_GROUP)) * stride for part in (block, rest)]
        return 1 + full * sizes[0] + sizes[1] + max(32, stride)
    blocks = full + (rest > 0)  # version 1: two bits for each byte of the element
    return 1 + blocks * (stride // 4) + max(24, stride + stride // 4)


def _decode_attributes(
    library: Any, raw: bytes, count: int, stride: int, filter_name: str
) -> NDArray[np.uint8]:
    """Decode mode ATTRIBUTES and undo its filter: uint8 (count, stride)."""
    decoded = library.decode_vertex_buffer(count, stride, raw)
    elements: NDArray[np.uint8] = decoded.view(np.uint8).reshape(count, stride)
    if filter_name == "OCTAHEDRAL":
        elements = library.decode_filter_oct(elements, count, stride)
    elif filter_name == "QUATERNION":
        elements = library.decode_filter_quat(elements, count, stride)
    elif filter_name == "EXPONENTIAL":
        elements = library.decode_filter_exp(elements, count, stride)
    elif filter_name == "COLOR":
        elements = _undo_color(elements)
    return elements


def _undo_color(elements: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn luma, two colour differences and alpha into red, green, blue, alpha.

    elements: uint8 (count, 4 or 8), four components of 8 or 16 bits. The highest set
    bit of alpha tells in how many bits the element was stored.
    """
    size = elements.shape[1] // 4
    stored = elements.view(f"<u{size}").astype(np.int32)
    signed = elements.view(f"<i{size}").astype(np.int32)
    luma, orange, green, alpha = stored[:, 0], signed[:, 1], signed[:, 2], stored[:, 3]
    full = np.maximum(alpha, 1)  # an alpha without its bit is malformed, not a fault
    for shift in (1, 2, 4, 8):
        full |= full >> shift
    opaque = (alpha << 1) & full | alpha & 1
    parts = (luma + orange - green, luma + green, luma - orange - green, opaque)
    most = np.float32(256**size - 1)
    scaled = np.stack(parts, 1).astype(np.float32) * (most / full[:, None])
    rounded = np.clip(np.floor(scaled + 0.5), 0, most)
    return rounded.astype(f"<u{size}").view(np.uint8)
