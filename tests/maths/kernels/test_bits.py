"""Bytes at any place, as one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths.kernels.bits import load_bytes
from flexor.maths.kernels.jit import jit


@jit("void(u1[::1], i8[::1], out i8[::1])")
def load_many(data: Any, places: Any, out: Any) -> None:
    for i in range(len(places)):
        out[i] = load_bytes(data, places[i])


def test_eight_bytes_from_anywhere(rng: Any) -> None:
    data = rng.integers(0, 256, 40).astype(np.uint8)
    places = np.arange(33)
    out = np.zeros(33, np.int64)
    load_many(data, places, out)
    wanted = [
        int.from_bytes(data[at : at + 8].tobytes(), "little", signed=True)
        for at in places
    ]
    assert out.tolist() == wanted
