"""Levels, envelopes and reduced motion, made once and kept for all tests and runs.

Tests that need a package, but do not test how it is made, ask for the fixture
`made_once`: while it holds, what takes seconds is read from the user's cache folder if
it was made before. It is kept by the contents of all it depends on: what it is made
from, the settings, our own source and the versions of the libraries. A test that tests
the making does not use the fixture.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pickle
import platform
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cache, wraps
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from flexor.maths.digest import Unknown, digest
from flexor.maths.threads import thread_count

ROOT = Path(__file__).parents[1]
HAS_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

# What is kept: the modules that have the function in hand, and its name.
MAKERS = (
    ("flexor.convert.levels.make", "make_levels"),
    ("flexor.convert.envelope.make", "convert_scene"),
    ("flexor.convert.motion.reduce", "reduce_clip"),
)
# Functions of a clip and what it is for, both frozen.
CLIP_MAKERS = (
    ("flexor.api.made_clips", "mirror_clip"),
    ("flexor.pose.play.motion_set", "pack_clip"),
)
_ROOMS = ("maths", "scene", "pose", "deform", "convert")
_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "meshoptimizer")
_DAYS_KEPT = 30
_CLIPS_HELD = 256
_PICTURES_HELD = 3  # in memory: each may have 70 MB


def folder() -> Path:
    """Where made things are kept."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "flexor" / "made"


@cache
def _sources() -> str:
    """What our own source and the libraries are, as 32 letters."""
    package = ROOT / "src" / "flexor"
    files = [*package.glob("*.py")]
    for room in _ROOMS:
        files += (package / room).rglob("*.py")
    texts = [(file.relative_to(package), file.read_bytes()) for file in sorted(files)]
    libraries = []
    for name in _LIBRARIES:
        try:
            libraries.append((name, version(name)))
        except ModuleNotFoundError:
            libraries.append((name, ""))
    return digest(texts, libraries, platform.uname(), platform.python_version())


def store(file: Path, value: Any) -> None:
    """Write a value whole or not at all, whoever else writes it."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    held = (head, [(bytes(one), one.readonly) for one in raw])
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            pickle.dump(held, out, protocol=5)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


def load(file: Path) -> Any:
    """What was stored; arrays that could not be written to still cannot be."""
    with file.open("rb") as held:
        head, buffers = pickle.load(held)
    return pickle.loads(
        head,
        buffers=[data if frozen else bytearray(data) for data, frozen in buffers],
    )


def forget_old(kept: Path) -> None:
    """Remove what nobody has used for a while."""
    latest = time.time() - _DAYS_KEPT * 86400
    for other in kept.parent.iterdir():
        if other != kept and other.stat().st_mtime < latest:
            shutil.rmtree(other, ignore_errors=True)


def kept(make: Callable[..., Any], *beside: Any) -> Callable[..., Any]:
    """The same function, which makes nothing twice.

    `each`, which is called as the work goes on, is called once when nothing is made.
    beside: what else the result depends on.
    """
    name = f"{make.__module__}.{make.__qualname__}"
    shape = inspect.signature(make)

    @wraps(make)
    def remembered(*values: Any, each: Any = None, **named: Any) -> Any:
        extra = {} if each is None else {"each": each}
        # What is said by place, by name or not at all is the same.
        asked = shape.bind(*values, **named, **extra)
        asked.apply_defaults()
        asked.arguments.pop("each", None)
        try:
            key = digest(name, thread_count(), asked.arguments, *beside)
        except Unknown:
            return make(*values, **named, **extra)
        place = folder() / _sources()
        file = place / key
        if file.is_file():
            os.utime(place)
            if each is not None:
                each()
            return load(file)
        result = make(*values, **named, **extra)
        store(file, result)
        forget_old(place)
        return result

    return remembered


@pytest.fixture(scope="session", autouse=True)
def painted_once() -> Iterator[None]:
    """Pictures of grounds take seconds each; stages of most tests stand on the same."""
    holder = importlib.import_module("flexor.draw.items.ground.build")
    paint = holder.paint_ground
    held: OrderedDict[str, Any] = OrderedDict()

    def remembered(*values: Any, **named: Any) -> Any:
        try:
            key = digest(values, named)
        except Unknown:
            return paint(*values, **named)
        if key not in held:
            held[key] = paint(*values, **named)
        held.move_to_end(key)
        while len(held) > _PICTURES_HELD:
            held.popitem(last=False)
        return held[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holder, "paint_ground", remembered)
        yield


def held_by_identity(make: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of two frozen values, which remembers its latest results."""
    held: OrderedDict[tuple[int, int], tuple[Any, ...]] = OrderedDict()

    @wraps(make)
    def remembered(one: Any, other: Any) -> Any:
        key = id(one), id(other)
        if key not in held:
            # With what they are made of: while these live, no others have their ids.
            held[key] = one, other, make(one, other)
        held.move_to_end(key)
        while len(held) > _CLIPS_HELD:
            held.popitem(last=False)
        return held[key][2]

    return remembered


@pytest.fixture(scope="session", autouse=True)
def clips_laid_out_once() -> Iterator[None]:
    """Stages of most tests have the same cast, whose clips each lays out for itself."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in CLIP_MAKERS:
            holder = importlib.import_module(module)
            patch.setattr(holder, name, held_by_identity(getattr(holder, name)))
        yield


@pytest.fixture(scope="module")
def made_once() -> Iterator[None]:
    """What the library makes of characters is made once and kept.

    Without the compiler all is made: there the tests are about the kernels.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module, name in MAKERS if HAS_JIT else ():
            holder = importlib.import_module(module)
            patch.setattr(holder, name, kept(getattr(holder, name)))
        yield


@pytest.fixture
def made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test about the making in a module whose tests use `made_once`."""
    for module, name in MAKERS:
        holder = importlib.import_module(module)
        found = getattr(holder, name)
        monkeypatch.setattr(holder, name, getattr(found, "__wrapped__", found))
