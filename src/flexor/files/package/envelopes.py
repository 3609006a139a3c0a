"""Envelopes in a package: their arrays as they are, read when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import ShapeError
from flexor.files.package.format import ENVELOPES
from flexor.files.package.tensors import TensorFile, Wanted, join_tensors
from flexor.scene.runtime.envelope import Envelope, Envelopes
from flexor.scene.runtime.package import check_envelope
from flexor.scene.scene import Scene

__all__ = ["pack_envelopes", "read_envelopes"]

# Arrays of an envelope: type, and shape but for the first length.
ARRAYS: dict[str, tuple[str, tuple[int, ...]]] = {
    "steps": ("I32", (5,)),
    "table": ("I32", ()),
    "data": ("F32", ()),
    "parts": ("I32", (6,)),
    "order": ("I32", ()),
    "faces": ("I32", (3,)),
    "addresses": ("I32", ()),
    "morphs": ("I32", (5,)),
    "deltas": ("F32", ()),
}
PEAKS = "peaks"  # int32 (2,), places in the buffer: with all weights, and with one
WANTED = Wanted(
    {
        PEAKS: ("I32", ()),
        **{f"{t}.{n}": kind for t in ("multi", "one") for n, kind in ARRAYS.items()},
    }
)


def pack_envelopes(envelopes: Envelopes) -> NDArray[np.uint8]:
    """Both envelopes as one container; their empty arrays are left out."""
    both = {"multi": envelopes.multi, "one": envelopes.one}
    arrays: dict[str, NDArray[Any]] = {
        PEAKS: np.array([own.peak for own in both.values()], np.int32)
    }
    for title, own in both.items():
        for name in ARRAYS:
            array = getattr(own, name)
            # No addresses and addresses of nothing are not the same.
            if array is not None and (array.size or name == "addresses"):
                arrays[f"{title}.{name}"] = array
    return join_tensors(arrays)


def read_envelopes(file: TensorFile, scene: Scene) -> Envelopes:
    """Both envelopes of a file whose scene was read before."""
    inner = file.inner(ENVELOPES)
    arrays = inner.arrays(WANTED)
    peaks = arrays[PEAKS].tolist()
    if len(peaks) != 2:
        raise inner.error(PEAKS, f"{len(peaks)} numbers, expected 2")
    both = []
    for title, peak in zip(("multi", "one"), peaks, strict=True):
        own: dict[str, Any] = {name: arrays[f"{title}.{name}"] for name in ARRAYS}
        if f"{title}.addresses" not in inner.entries:
            own["addresses"] = None
        try:
            with np.errstate(all="ignore"):
                envelope = Envelope(**own, peak=peak)
                check_envelope(envelope, scene)
        except ShapeError as error:
            raise inner.error(title, str(error)) from None
        both.append(envelope)
    return Envelopes(*both)
