"""Whether two scenes say the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def differences(a: Any, b: Any, where: str = "") -> Iterator[str]:
    """Places where two values of the scene types differ; findings do not count."""
    if isinstance(a, np.ndarray):
        same = isinstance(b, np.ndarray) and a.dtype == b.dtype
        if not same or not np.array_equal(a, b):
            yield where
    elif dataclasses.is_dataclass(a):
        if type(a) is not type(b):
            yield where
            return
        for field in dataclasses.fields(a):
            if field.name != "findings":
                pair = getattr(a, field.name), getattr(b, field.name)
                yield from differences(*pair, f"{where}.{field.name}")
    elif isinstance(a, Mapping):
        # The order of clips counts, that of the keys of a JSON object does not.
        order = set if isinstance(a, dict) else list
        if not isinstance(b, Mapping) or order(a) != order(b):
            yield f"{where}: keys"
            return
        for key in a:
            yield from differences(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, tuple | list):
        if not isinstance(b, tuple | list) or len(a) != len(b):
            yield f"{where}: length"
            return
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{where}[{i}]")
    elif a != b:
        yield f"{where}: {a!r}, {b!r}"
