"""The outside of a glTF file: GLB chunks, JSON, buffers and the files it names."""

from __future__ import annotations

import base64
import binascii
import json
import math
import os
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from flexor.errors import AssetError, VersionError
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extensions.meshopt_compression import is_fallback

__all__ = ["Container", "join_glb"]

MAGIC = b"glTF"
JSON_CHUNK, BIN_CHUNK = 0x4E4F534A, 0x004E4942
HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")  # may be text that UTF-8 cannot hold


class Container:
    """An open .gltf or .glb file.

    root: its JSON; size: bytes read so far, of this file and those it names. Files
    beside it are read once each, and only from its own folder.
    """

    def __init__(self, path: Path) -> None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise AssetError(path, "", f"cannot be read: {error.strerror}") from None
        self.size = len(data)
        self._files: dict[str, bytes] = {}
        self._chunk: memoryview | None = None
        text = memoryview(data)
        if data[:4] == MAGIC:
            text, self._chunk = _split_glb(data, path)
        elif not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            raise AssetError(
                path, "byte 0", "neither GLB (it would start with 'glTF') nor JSON"
            )
        self.root = Checked(_parse(bytes(text), path), path)
        _check_version(self.root)

    def buffers(self) -> list[memoryview | None]:
        """The bytes of each buffer; None for one that compressed views stand for."""
        return [
            self._buffer(row, item)
            for row, item in enumerate(self.root.items("buffers"))
        ]

    def _buffer(self, row: int, item: Checked) -> memoryview | None:
        size = item.integer("byteLength", low=1)
        if item.has("uri"):
            try:
                data = memoryview(self.read_uri(item)[0])
            except FileNotFoundError as error:
                raise item.error(f"there is no file {error}", "uri") from None
        elif is_fallback(item):
            return None
        elif row == 0 and self._chunk is not None:
            data = self._chunk
        else:
            raise item.error("has no uri, and the file has no binary chunk for it")
        if len(data) < size:
            raise item.error(f"{size} bytes announced, {len(data)} there", "byteLength")
        return data[:size]

    def read_uri(self, item: Checked) -> tuple[bytes, str]:
        """Bytes and media type ("" if unknown) of the data: or relative URI of `item`.

        FileNotFoundError where a relative URI names no file; a URI that leaves the
        folder of the file or has another scheme is an AssetError.
        """
        uri = item.text("uri")
        if uri[:5].lower() == "data:":
            return _read_data_uri(item, uri)
        name = unquote(uri)
        scheme = name.split("/")[0]
        if ":" in scheme or "\\" in name or name.startswith("/") or "\0" in name:
            raise item.error(
                f"{uri[:80]!r}: only data: and relative paths in the file's folder",
                "uri",
            )
        folder = os.path.realpath(item.path.parent)
        target = os.path.realpath(os.path.join(folder, name))
        if not Path(target).is_relative_to(folder):
            raise item.error(f"{uri[:80]!r} leaves the folder of the file", "uri")
        if not os.path.isfile(target):
            raise FileNotFoundError(target)
        if target not in self._files:
            try:
                self._files[target] = Path(target).read_bytes()
            except OSError as error:
                text = f"{target} cannot be read: {error.strerror}"
                raise item.error(text, "uri") from None
            self.size += len(self._files[target])
        return self._files[target], ""


def _parse(data: bytes, path: Path) -> Any:
    """JSON of which everything can be written again, or an AssetError."""
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, parse_float=_number, parse_constant=_number)
        if HALF_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise AssetError(path, place, f"the JSON is broken: {error.msg}") from None
    except RecursionError:
        raise AssetError(path, "", "the JSON is broken: nested too deeply") from None
    except ValueError as error:
        raise AssetError(path, "", f"the JSON is broken: {error}") from None
    return value


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is not a finite number")
    return number


def _check_version(root: Checked) -> None:
    asset = root.child("asset")
    version = asset.text("version", "missing")
    if version.split(".")[0] != "2":
        text = f"glTF version {version[:20]}, expected 2.x"
        raise VersionError(root.path, "/asset/version", text)
    needed = asset.text("minVersion", "2.0")
    if needed not in ("2", "2.0"):
        text = f"the file needs glTF version {needed[:20]}, only 2.0 is read"
        raise VersionError(root.path, "/asset/minVersion", text)


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


def _read_data_uri(item: Checked, uri: str) -> tuple[bytes, str]:
    head, comma, body = uri.partition(",")
    fields = head[5:].split(";")
    if not comma or fields[-1].strip().lower() != "base64":
        raise item.error("a data: URI must be base64", "uri")
    try:
        # Some writers percent-encode the payload's padding.
        return base64.b64decode(unquote(body), validate=True), fields[0].lower()
    except (binascii.Error, ValueError) as error:
        raise item.error(f"the base64 is broken: {error}", "uri") from None
