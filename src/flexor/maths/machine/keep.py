"""Where the machine code of kernels is kept.

What comes with the package is taken first (FLEXOR_PREBUILT=0: never). What is compiled
here is kept in the folder that NUMBA_CACHE_DIR names, else the user's cache folder,
else `__pycache__` beside the source. It is kept by what it was made of (see `stamp`),
so a copy of the source in another folder compiles nothing that is unchanged.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from flexor.maths.machine.code import DamagedCode, unpack_code
from flexor.maths.machine.stamp import stamp_of
from flexor.maths.machine.target import Target

__all__ = [
    "PREBUILT",
    "find_code",
    "forget_old",
    "keep_code",
    "prebuilt_place",
    "say_once",
    "user_cache",
    "write_code",
]

PREBUILT = Path(__file__).parent / "prebuilt"
_DAYS_KEPT = 30
_LOG = logging.getLogger("flexor")


@cache
def say_once(text: str) -> None:
    """Tell the user, once in a process."""
    _LOG.warning("flexor: %s", text)


def user_cache() -> Path | None:
    """The folder in which programs of this user keep what they can make again."""
    if sys.platform == "win32":
        named = os.environ.get("LOCALAPPDATA", "")
        return Path(named) / "flexor" / "Cache" if named else None
    # Not where a program happens to be started.
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named) / "flexor"
    home = Path(os.path.expanduser("~"))
    if not home.is_absolute():
        return None
    return (
        home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "flexor"
    )


def _folders(file: Path) -> Iterator[Path]:
    """Where machine code may be kept, best first."""
    if named := os.environ.get("NUMBA_CACHE_DIR", ""):
        yield Path(named) / "flexor"
        return
    own = user_cache()
    if own is not None:
        yield own / "kernels"
    yield file.parent / "__pycache__"


@cache
def _maker() -> str:
    """What else machine code depends on: the compiler, and how objects are laid out."""
    system = f"{sys.platform}-{platform.machine()}"
    return f"{_python()}-{system}-{version('numba')}-{version('llvmlite')}"


def _python() -> str:
    return f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"


def forget_old(folder: Path) -> None:
    """Remove what was made of contents that nobody has used for a while."""
    latest = time.time() - _DAYS_KEPT * 86400
    with suppress(OSError):
        for other in folder.iterdir():
            with suppress(OSError):  # another process may do the same
                if other.is_file() and other.stat().st_mtime < latest:
                    other.unlink()


def _read_whole(file: Path) -> bytes | None:
    """A file of machine code; None where there is none that is whole."""
    try:
        data = file.read_bytes()
        unpack_code(data)
    except (OSError, DamagedCode):
        return None
    return data


def write_code(file: Path, data: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_name(f"{file.name}.{os.urandom(8).hex()}")
    try:
        with begun.open("xb") as out:  # as others may read it as they may any file
            out.write(data)
        begun.replace(file)
    except BaseException:
        with suppress(OSError):
            begun.unlink()
        raise


def prebuilt_place(name: str, file: Path, target: Target) -> Path:
    """Where the package brings the machine code of a module."""
    return PREBUILT / target.key / f"{name}-{stamp_of(file)}-{_python()}.kernels"


def _places(name: str, file: Path, target: Target) -> list[Path]:
    """Where the machine code of a module may be kept, best first."""
    digest = blake2b(f"{stamp_of(file)} {_maker()}".encode(), digest_size=16)
    ending = f"{name}-{digest.hexdigest()}.kernels"
    return [folder / target.key / ending for folder in _folders(file)]


def find_code(name: str, file: Path, target: Target) -> bytes | None:
    """The machine code of the kernels of a module; None where there is none.

    name, file: of the module.
    """
    if os.environ.get("FLEXOR_PREBUILT", "1") != "0":
        data = _read_whole(prebuilt_place(name, file, target))
        if data is not None:
            return data
    for place in _places(name, file, target):
        data = _read_whole(place)
        if data is not None:
            with suppress(OSError):  # a folder that can only be read
                os.utime(place)
            return data
    return None


def keep_code(name: str, file: Path, target: Target, data: bytes) -> None:
    """Keep machine code for later, in the first folder that can be written."""
    problem: OSError | None = None
    for place in _places(name, file, target):
        try:
            write_code(place, data)
        except OSError as error:
            problem = problem or error
            continue
        forget_old(place.parent)
        return
    say_once(f"kernels cannot be kept for later: {problem}")
