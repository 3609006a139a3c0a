"""The outside of a glTF file: GLB chunks, JSON, buffers and the files it names."""

from __future__ import annotations

import base64
import binascii
import json
import os
import struct
from pathlib import Path
from urllib.parse import unquote

from flexor.errors import AssetError, VersionError
from flexor.files.gltf.checked import Checked

__all__ = ["join_glb", "open_container", "read_buffers", "read_uri"]

MAGIC = b"glTF"
JSON_CHUNK, BIN_CHUNK = 0x4E4F534A, 0x004E4942


def open_container(path: Path) -> tuple[Checked, memoryview | None]:
    """The JSON of a .gltf or .glb file and, for .glb, its binary chunk."""
    data = _read_file(path)
    if data[:4] == MAGIC:
        text, chunk = _split_glb(data, path)
    else:
        text, chunk = data, None
        if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            raise AssetError(
                path, "byte 0", "neither GLB (it would start with 'glTF') nor JSON"
            )
    try:
        value = json.loads(bytes(text).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise AssetError(path, "", f"the JSON is broken: {error}") from None
    root = Checked(value, path)
    if not isinstance(value, dict):
        raise root.error("expected an object at the top")
    version = root.child("asset").text("version", "missing")
    if version.split(".")[0] != "2":
        raise VersionError(
            path, "/asset/version", f"glTF version {version}, expected 2.x"
        )
    return root, chunk


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AssetError(path, "", f"cannot be read: {error.strerror}") from None


def _split_glb(data: bytes, path: Path) -> tuple[memoryview, memoryview | None]:
    """The JSON chunk and the binary chunk of a GLB file."""
    if len(data) < 20:
        raise AssetError(path, "byte 4", f"truncated: {len(data)} bytes, no header")
    version, total = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise VersionError(path, "byte 4", f"GLB version {version}, expected 2")
    if total > len(data):
        raise AssetError(
            path, "byte 8", f"truncated: {len(data)} bytes of the {total} announced"
        )
    chunks: list[tuple[int, memoryview]] = []
    at = 12
    while at + 8 <= total:
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > total:
            raise AssetError(
                path,
                f"byte {at}",
                f"chunk of {size} bytes, but only {total - at - 8} are left",
            )
        chunks.append((kind, memoryview(data)[at + 8 : at + 8 + size]))
        at += 8 + size + (-size) % 4
    if not chunks or chunks[0][0] != JSON_CHUNK:
        raise AssetError(path, "byte 12", "the first chunk must be JSON")
    binary = chunks[1][1] if len(chunks) > 1 and chunks[1][0] == BIN_CHUNK else None
    return chunks[0][1], binary


def join_glb(text: bytes, binary: bytes) -> bytes:
    """A GLB file of JSON text and a binary chunk (left out if empty)."""
    text += b" " * (-len(text) % 4)
    parts = [struct.pack("<II", len(text), JSON_CHUNK), text]
    if binary:
        binary += b"\0" * (-len(binary) % 4)
        parts += [struct.pack("<II", len(binary), BIN_CHUNK), binary]
    total = 12 + sum(len(part) for part in parts)
    return b"".join([MAGIC, struct.pack("<II", 2, total), *parts])


def read_buffers(root: Checked, chunk: memoryview | None) -> list[memoryview | None]:
    """The bytes of each buffer; None for one that only compressed views stand for."""
    buffers: list[memoryview | None] = []
    for i, item in enumerate(root.items("buffers")):
        size = item.integer("byteLength", low=1)
        data: memoryview | None
        if item.has("uri"):
            try:
                data = memoryview(read_uri(item, "uri")[0])
            except FileNotFoundError as error:
                raise item.error(f"there is no file {error}", "uri") from None
        elif _is_fallback(item):
            data = None
        elif i == 0 and chunk is not None:
            data = chunk
        else:
            raise item.error("has no uri, and the file has no binary chunk for it")
        if data is not None and len(data) < size:
            raise item.error(f"{size} bytes announced, {len(data)} there", "byteLength")
        buffers.append(data if data is None else data[:size])
    return buffers


def _is_fallback(buffer: Checked) -> bool:
    extensions = buffer.object("extensions")
    names = ("EXT_meshopt_compression", "KHR_meshopt_compression")
    return extensions is not None and any(extensions.has(name) for name in names)


def read_uri(item: Checked, key: str) -> tuple[bytes, str]:
    """Bytes and media type ("" if unknown) of the data: or relative URI under `key`.

    FileNotFoundError where a relative URI names no file; a URI that leaves the folder
    of the file or has another scheme is an AssetError.
    """
    uri = item.text(key)
    if uri[:5].lower() == "data:":
        return _read_data_uri(item, key, uri)
    name = unquote(uri)
    scheme = name.split("/")[0]
    if ":" in scheme or "\\" in name or name.startswith("/") or "\0" in name:
        raise item.error(
            f"{uri[:80]!r}: only data: and relative paths in the file's folder", key
        )
    folder = os.path.realpath(item.path.parent)
    target = os.path.realpath(os.path.join(folder, name))
    if os.path.commonpath([folder, target]) != folder:
        raise item.error(f"{uri[:80]!r} leaves the folder of the file", key)
    if not os.path.isfile(target):
        raise FileNotFoundError(target)
    return _read_file(Path(target)), ""


def _read_data_uri(item: Checked, key: str, uri: str) -> tuple[bytes, str]:
    head, comma, body = uri.partition(",")
    fields = head[5:].split(";")
    if not comma or fields[-1].strip().lower() != "base64":
        raise item.error("a data: URI must be base64", key)
    try:
        # Some writers percent-encode the payload's padding.
        return base64.b64decode(unquote(body), validate=True), fields[0].lower()
    except (binascii.Error, ValueError) as error:
        raise item.error(f"the base64 is broken: {error}", key) from None
