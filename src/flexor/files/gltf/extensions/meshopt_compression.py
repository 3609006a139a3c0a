"""EXT_meshopt_compression and KHR_meshopt_compression: compressed buffer views."""

from __future__ import annotations

from collections.abc import Callable

from flexor.files import codecs
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extension import Extension

__all__ = ["EXTENSION", "is_fallback", "packing_of", "unpack_view"]

NAMES = ("EXT_meshopt_compression", "KHR_meshopt_compression")
EXTENSION = Extension(names=NAMES, is_undone=True)


def is_fallback(buffer: Checked) -> bool:
    """Whether a buffer is one that compressed views stand for, without its own data."""
    extensions = buffer.object("extensions")
    return extensions is not None and any(extensions.has(name) for name in NAMES)


def packing_of(view: Checked) -> Checked | None:
    """How a buffer view with extensions is compressed; None if it is not."""
    extensions = view.child("extensions")
    found = (extensions.object(name) for name in NAMES)
    return next((packing for packing in found if packing is not None), None)


def unpack_view(
    view: Checked,
    packing: Checked,
    buffer_count: int,
    charge: Callable[[Checked, int, str], None],
    slice_buffer: Callable[[Checked, int, int, int], memoryview],
) -> memoryview:
    """The bytes of a compressed view.

    charge: refuses at a place, under a key, so many bytes more, if they are too many;
    slice_buffer: gives at a place, of a buffer, from a byte on, so many bytes.
    """
    count = packing.integer("count", low=1)
    stride = packing.integer("byteStride", low=1, high=256)
    charge(packing, count * stride, "count")
    try:
        unpacked = codecs.decode_meshopt(
            slice_buffer(
                packing,
                packing.row("buffer", buffer_count, "buffer"),
                packing.integer("byteOffset", 0),
                packing.integer("byteLength", low=1),
            ),
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
