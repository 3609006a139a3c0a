"""Envelopes in a package: their arrays as they are, read when they are asked for.

A package may hold both, that of all weights or of one alone, or none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import ShapeError
from flexor.files.package.format import ENVELOPES
from flexor.files.package.tensors import TensorFile, Wanted, join_tensors
from flexor.scene.runtime.envelope import Envelope, Envelopes, SomeEnvelopes
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
# int32 (2,), places in the buffer: with all weights, and with one; -1: not kept.
PEAKS, NOT_KEPT = "peaks", -1
WANTED = Wanted(
    {
        PEAKS: ("I32", ()),
        **{f"{t}.{n}": kind for t in ("multi", "one") for n, kind in ARRAYS.items()},
    }
)


def pack_envelopes(envelopes: Envelopes | SomeEnvelopes) -> NDArray[np.uint8]:
    """What there is of both as one container; empty arrays are left out."""
    both = {"multi": envelopes.multi, "one": envelopes.one}
    peaks = [NOT_KEPT if own is None else own.peak for own in both.values()]
    arrays: dict[str, NDArray[Any]] = {PEAKS: np.array(peaks, np.int32)}
    for title, own in both.items():
        if own is None:
            continue
        for name in ARRAYS:
            array = getattr(own, name)
            # No addresses and addresses of nothing are not the same.
            if array is not None and (array.size or name == "addresses"):
                arrays[f"{title}.{name}"] = array
    return join_tensors(arrays)


def read_envelopes(file: TensorFile, scene: Scene) -> Envelopes | SomeEnvelopes:
    """The envelopes of a file whose scene was read before."""
    if ENVELOPES not in file.entries:
        return SomeEnvelopes()
    inner = file.inner(ENVELOPES)
    arrays = inner.arrays(WANTED)
    peaks = arrays[PEAKS].tolist()
    if len(peaks) != 2:
        raise inner.error(PEAKS, f"{len(peaks)} numbers, expected 2")
    found: dict[str, Envelope] = {}
    for title, peak in zip(("multi", "one"), peaks, strict=True):
        if peak == NOT_KEPT:
            if any(name.startswith(f"{title}.") for name in inner.entries):
                raise inner.error(PEAKS, f"{peak} for {title!r}, which has arrays")
            continue
        own: dict[str, Any] = {name: arrays[f"{title}.{name}"] for name in ARRAYS}
        if f"{title}.addresses" not in inner.entries:
            own["addresses"] = None
        try:
            with np.errstate(all="ignore"):
                envelope = Envelope(**own, peak=peak)
                check_envelope(envelope, scene)
        except ShapeError as error:
            raise inner.error(title, str(error)) from None
        found[title] = envelope
    if len(found) == 2:
        return Envelopes(**found)
    return SomeEnvelopes(**found)
