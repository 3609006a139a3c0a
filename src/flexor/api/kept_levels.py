"""Levels of detail that are made once for a character and kept for later programs.

They are kept in the user's cache folder by the contents of all that they are made of:
the character, the settings, our own source and the versions of the libraries. A file is
taken only if it is this user's own, whole, and fits the character: it is read like a
package, and no code is in it. `FLEXOR_KEEP=0` keeps nothing and takes nothing.
"""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flexor.errors import AssetError
from flexor.maths.digest import Unknown, digest
from flexor.maths.machine.keep import forget_old, user_cache, write_code
from flexor.scene.runtime.level_settings import LevelSettings
from flexor.scene.runtime.levels import Levels
from flexor.scene.scene import Scene

__all__ = ["kept_levels"]

DEFAULTS = LevelSettings()
PACKAGE = Path(__file__).parents[1]
ROOMS = ("maths", "scene", "pose", "deform", "convert")  # what levels are made with
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "meshoptimizer")
# What makes no difference to them.
BESIDE = ("images", "findings", "carried", "node_carried")
CHECK = 32  # bytes in front of the levels, which tell whether they are whole
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def kept_levels(scene: Scene, settings: LevelSettings = DEFAULTS) -> Levels:
    """The levels of a scene, as `make_levels` makes them, or as it made them before."""
    from flexor.convert.levels.make import make_levels

    file = _file_of(scene, settings)
    if file is not None:
        found = _read(file, scene)
        if found is not None:
            return found
    levels, _, _ = make_levels(scene, settings)
    if file is not None:
        _write(file, levels)
    return levels


def _file_of(scene: Scene, settings: LevelSettings) -> Path | None:
    """Where levels are kept; None where nothing is."""
    folder = user_cache()
    if folder is None or os.environ.get("FLEXOR_KEEP", "1") == "0":
        return None
    own = [getattr(scene, one.name) for one in fields(scene) if one.name not in BESIDE]
    try:
        return folder / "levels" / f"{digest(_maker(), settings, own)}.levels"
    except Unknown:
        return None


@cache
def _maker() -> str:
    """What makes levels: our source and the libraries, and what they run on."""
    texts = [
        (file.relative_to(PACKAGE).as_posix(), file.read_bytes())
        for file in sorted(_sources())
    ]
    libraries = []
    for name in LIBRARIES:
        try:
            libraries.append((name, version(name)))
        except PackageNotFoundError:
            libraries.append((name, ""))
    return digest(texts, libraries, platform.machine())


def _sources() -> Iterator[Path]:
    yield from PACKAGE.glob("*.py")
    for room in ROOMS:
        yield from (PACKAGE / room).rglob("*.py")


def _is_own(status: os.stat_result) -> bool:
    """Whether nobody but this user, and who may do anything, can have written it."""
    if not hasattr(os, "geteuid"):  # Windows: the folder is the user's by its place
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE


def _check(file: Path, data: bytes) -> bytes:
    """What tells whether levels are whole, and are those of this name."""
    return blake2b(file.name.encode() + data, digest_size=CHECK).digest()


def _read(file: Path, scene: Scene) -> Levels | None:
    """Levels that were kept; None where there are none that can be trusted."""
    from flexor.files.package.levels import read_levels
    from flexor.files.package.tensors import TensorFile

    try:
        if not _is_own(file.parent.stat()):
            return None
        with file.open("rb") as held:
            if not _is_own(os.fstat(held.fileno())):
                return None
            data = held.read()
    except OSError:
        return None
    check, data = data[:CHECK], data[CHECK:]
    if _check(file, data) != check:
        return None
    try:
        levels = read_levels(TensorFile(file, data, 0, len(data)), scene)
    except AssetError:
        return None
    with suppress(OSError):  # so that it is not forgotten
        os.utime(file)
    return levels


def _write(file: Path, levels: Levels) -> None:
    """Keep levels, whole or not at all; a disk that cannot be written is no harm."""
    from flexor.files.package.format import LEVELS
    from flexor.files.package.levels import pack_levels
    from flexor.files.package.tensors import join_tensors

    data = join_tensors({LEVELS: pack_levels(levels)}).tobytes()
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_code(file, _check(file, data) + data)
        forget_old(file.parent)
