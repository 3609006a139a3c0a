"""What the machine code of a module is made of, as a short text that changes with it.

That is the module's file and every file of ours that it imports, directly or through
others: a changed helper changes the stamp of every module that it is part of, and of no
other; where the files stand does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

__all__ = ["sources_of", "stamp_of"]

_PACKAGE = Path(__file__).parents[2]
_ROOM = Path(__file__).parent
# What is made around machine code is not in it, but for what makes it.
_MAKING = ("build", "entry", "layout", "signature")
_MAKERS = tuple(_ROOM / f"{name}.py" for name in _MAKING)
_AROUND = {*_ROOM.glob("*.py"), _PACKAGE / "maths" / "kernels" / "jit.py"}
_TOLD = _ROOM / "llvm"  # of the words of `kernels`
_IMPORT = re.compile(
    r"^(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n#]*)|import\s+([^\n#]*))",
    re.MULTILINE,
)


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
                    if path.parent.name == "kernels" and (_TOLD / path.name).is_file():
                        yield _TOLD / path.name


@cache
def _read(file: Path) -> tuple[bytes, tuple[Path, ...]]:
    data = file.read_bytes()
    return data, tuple(_imported(file, data.decode("utf-8")))


@cache
def sources_of(file: Path) -> tuple[Path, ...]:
    """A kernel's file and all of ours that it is made of, in order of their names."""
    found: set[Path] = set()
    left = [file, *_MAKERS]
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
