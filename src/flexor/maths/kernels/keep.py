"""Where compiled kernels are kept, and when they are still right.

Machine code is kept by the contents of what it was made of: the kernel's file and every
file of ours that it imports, directly or through others. So a copy of the source in
another folder compiles nothing that is unchanged, and a changed helper compiles anew
every kernel that it is part of, and no other.

The folder is the one that NUMBA_CACHE_DIR names, else the user's cache folder, else
`__pycache__` beside the source.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from numba.core import caching, config
from numba.misc.appdirs import AppDirs

__all__ = ["KernelCache", "forget_kernel", "sources_of", "stamp_of"]

_PACKAGE = Path(__file__).parents[2]
# What these do is done around machine code, not in it.
_AROUND = {Path(__file__), Path(__file__).with_name("looking.py")}
_IMPORT = re.compile(
    r"^(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n#]*)|import\s+([^\n#]*))",
    re.MULTILINE,
)
_DAYS_KEPT = 30


def _module_files(name: str, beside: Path) -> Iterator[Path]:
    """Files of ours that a module of this name may be: of the package, or beside."""
    head, _, rest = name.partition(".")
    if head == _PACKAGE.name:
        yield _PACKAGE.joinpath(*rest.split(".")).with_suffix(".py")
    elif not rest:
        yield beside / f"{name}.py"


def _imported(file: Path, text: str) -> Iterator[Path]:
    """Files of ours that the text of a file imports at its top level."""
    for base, names, whole in _IMPORT.findall(text):
        words = re.findall(r"[\w.]+", re.sub(r"\bas\s+\w+", "", names or whole))
        modules = [base, *(f"{base}.{word}" for word in words)] if base else words
        for module in modules:
            for path in _module_files(module, file.parent):
                if path.is_file() and path not in _AROUND:
                    yield path


@cache
def _read(file: Path) -> tuple[bytes, tuple[Path, ...]]:
    data = file.read_bytes()
    return data, tuple(_imported(file, data.decode("utf-8")))


@cache
def sources_of(file: Path) -> tuple[Path, ...]:
    """A kernel's file and all of ours that it is made of, in order of their names."""
    found: set[Path] = set()
    left = [file]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += _read(one)[1]
    return tuple(sorted(found))


@cache
def stamp_of(file: Path) -> str:
    """What a kernel's machine code was made of, as 32 letters: names and contents,
    wherever they stand.
    """
    digest = blake2b(digest_size=16)
    for one in sources_of(file):
        is_ours = one.is_relative_to(_PACKAGE)
        name = one.relative_to(_PACKAGE).as_posix() if is_ours else one.name
        data = _read(one)[0]
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def _folders(file: Path) -> Iterator[Path]:
    """Where kernels may be kept, best first."""
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / "flexor"
        return
    own = Path(AppDirs(appname="flexor", appauthor=False).user_cache_dir)
    if own.is_absolute():  # not where a program happens to be started
        yield own / "kernels"
    yield file.parent / "__pycache__"


def _forget_old(folder: Path) -> None:
    """Remove what was compiled of contents that nobody has used for a while."""
    latest = time.time() - _DAYS_KEPT * 86400
    for other in folder.parent.iterdir():
        with suppress(OSError):  # another process may do the same
            if other != folder and other.stat().st_mtime < latest:
                shutil.rmtree(other)


def forget_kernel(function: Callable[..., Any]) -> None:
    """Remove the compiled forms of a kernel from disk."""
    file = Path(function.__code__.co_filename)
    ending = f".{function.__qualname__}-{function.__code__.co_firstlineno}.*"
    for folder in _folders(file):
        kept = folder / function.__module__ / stamp_of(file)
        for one in kept.glob(f"*{ending}"):
            with suppress(OSError):
                one.unlink()


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Numba's question where to keep a function, answered by contents."""

    def __init__(self, function: Callable[..., Any], file: Path, folder: Path) -> None:
        self._py_file = str(file)  # Numba's warnings name it
        self._line = function.__code__.co_firstlineno
        self._stamp = stamp_of(file)
        self._folder = folder / function.__module__ / self._stamp

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(
        cls, py_func: Callable[..., Any], py_file: str
    ) -> _Locator | None:
        file = Path(py_file)
        for folder in _folders(file):
            made = cls(py_func, file, folder)
            try:
                if any(made._folder.glob("*.nbi")):
                    with suppress(OSError):  # a folder that can only be read
                        os.utime(made._folder)
                    return made
                is_new = not made._folder.is_dir()
                made.ensure_cache_path()
                if is_new:
                    _forget_old(made._folder)
            except OSError:
                continue
            return made
        return None


class _Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The compiled forms of one kernel on disk."""

    _impl_class = _Implementation
