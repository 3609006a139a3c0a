"""The level of processor that kernels are compiled for.

Not for the machine at hand: results are then the same on every machine of a level, and
a home folder that several share holds one cache. FLEXOR_CPU names another level, or
`native` for what this machine has.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from llvmlite import binding

from flexor.errors import SettingError

__all__ = ["LEVELS", "Target", "find_target"]

_SECOND = ("cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3")
_THIRD = (*_SECOND, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
# Names of LLVM, best first, and what a machine must have for them.
LEVELS = {"x86-64-v3": _THIRD, "x86-64-v2": _SECOND, "x86-64": ()}
_X86 = ("x86_64", "AMD64", "amd64")


class Target(NamedTuple):
    """A processor as LLVM names it; key: how files for it are told apart."""

    key: str
    processor: str
    features: str


@cache
def find_target() -> Target:
    """What kernels are compiled for, and run on, in this process."""
    asked = os.environ.get("FLEXOR_CPU", "")
    if asked == "native":
        name, has = binding.get_host_cpu_name(), binding.get_host_cpu_features()
        features = has.flatten()
        mark = blake2b(features.encode(), digest_size=4).hexdigest()
        return Target(f"{name}-{mark}", name, features)
    if platform.machine() not in _X86:
        if asked not in ("", "generic"):
            raise SettingError(f"FLEXOR_CPU={asked}: expected generic or native")
        return Target(f"{platform.machine()}-generic", "generic", "")
    if asked and asked not in LEVELS:
        known = ", ".join(LEVELS)
        raise SettingError(f"FLEXOR_CPU={asked}: expected {known} or native")
    has = binding.get_host_cpu_features()
    for level, needed in LEVELS.items():
        if asked in ("", level):
            missing = [name for name in needed if not has.get(name)]
            if not missing:
                return Target(level, level, "")
            if asked:
                raise SettingError(
                    f"FLEXOR_CPU={asked}: this machine has no {', '.join(missing)}"
                )
    raise AssertionError("every machine has the lowest level")
