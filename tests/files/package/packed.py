"""What the tests of both codecs share: a sheet to pack, and real packed files."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from flexor.files.codecs import decode_meshopt
from tests.conftest import find_assets


def make_grid(side: int) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Points (side * side, 3) and faces (F, 3) of a bent sheet."""
    row, column = np.mgrid[:side, :side]
    points = np.stack([column, row, np.sin(row + 2.0 * column)], -1).reshape(-1, 3)
    first = (row * side + column)[:-1, :-1].reshape(-1, 1)
    corners = np.array([0, 1, side + 1, 0, side + 1, side])
    return points.astype(np.float32), (first + corners).reshape(-1, 3).astype(np.uint32)


def read_glb(name: str) -> tuple[dict[str, Any], memoryview]:
    folder = find_assets()
    if folder is None:
        pytest.skip("no assets folder: set FLEXOR_ASSETS")
    data = (folder / f"{name}.glb").read_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + size]), memoryview(data)[28 + size :]


def part_of(view: dict[str, Any], binary: memoryview) -> memoryview:
    start = view.get("byteOffset", 0)
    return binary[start : start + view["byteLength"]]


def turned(face: NDArray[Any]) -> tuple[int, ...]:
    """Turn a triangle so that its lowest corner comes first."""
    start = int(np.argmin(face))
    return tuple(int(face[(start + step) % 3]) for step in range(3))


def unpack(
    data: bytes | memoryview,
    count: int,
    stride: int,
    name: str = "NONE",
    mode: str = "ATTRIBUTES",
) -> NDArray[np.uint8]:
    return decode_meshopt(data, count=count, stride=stride, mode=mode, filter_name=name)
