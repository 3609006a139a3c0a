"""The wheel with compiled kernels: where it is installed, nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import flexor
from flexor.maths.machine.code import pack_code
from flexor.maths.machine.compiling import compile_modules
from flexor.maths.machine.keep import find_code
from flexor.maths.machine.target import Target, find_target
from flexor.maths.machine.warm import file_of, kernel_modules
from tests.conftest import ROOT
from tools import wheel

pytestmark = [pytest.mark.jit, pytest.mark.slow]

# Python runs this first: it notes what is compiled, started, written and loaded.
WATCH = """
import os, sys
_notes = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
_STARTS = ("subprocess.Popen", "os.exec", "os.fork", "os.posix_spawn", "os.system")
def _watch(event, given):
    if event in _STARTS:
        os.write(_notes, f"start {given[0]}\\n".encode())
    elif event == "import" and given[0].split(".")[0] == "numba":
        os.write(_notes, b"import numba\\n")
    elif event == "open" and isinstance(given[0], (str, bytes)):
        name = os.fsdecode(given[0])
        if given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            os.write(_notes, f"write {name}\\n".encode())
        elif name.endswith(".kernels"):
            os.write(_notes, f"load {name}\\n".encode())
sys.addaudithook(_watch)
"""
WORDS = ("--clip", "walk", "--time", "0.4", "--size", "320x240")
MOST_BYTES = 30_000_000


class Installed(NamedTuple):
    """What was installed from a wheel, and a place for the files of a test."""

    wheel: Path
    room: Path
    hero: Path


def stand_in(
    names: Sequence[str], target: Target, jobs: int
) -> Iterator[tuple[str, bytes]]:
    """Code of this machine's level for another one, which takes minutes to compile.

    Nothing runs it here, and it is about as long.
    """
    here = find_target()
    if target == here:  # what `make warm` would have compiled
        yield from compile_modules(names, target, jobs)
        return
    for name in names:
        data = find_code(name, file_of(name), here)
        yield name, pack_code([]) if data is None else data


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wheel, "compile_modules", stand_in)
        patch.setenv("FLEXOR_PREBUILT", "0")
        file, _ = wheel.build(folder, "--no-index", "--no-build-isolation")
    room = folder / "room"
    words = ("install", "-q", "--no-index", "--no-deps", "--target", str(room))
    subprocess.run([sys.executable, "-m", "pip", *words, str(file)], check=True)
    (folder / "watch").mkdir()
    (folder / "watch" / "sitecustomize.py").write_text(WATCH)
    hero = folder / "hero.glb"
    flexor.save(flexor.samples.mannequin(), hero)
    changed = [room, *(one for one in room.rglob("*") if one.is_dir())]
    for one in changed:
        one.chmod(0o555)
    yield Installed(file, room, hero)
    for one in changed:
        one.chmod(0o755)


def run(
    installed: Installed, folder: Path, words: Sequence[str], **environment: str
) -> tuple[str, list[str]]:
    """What a program that sees the installed package says, and what was noted of it.

    It has no home, and an empty folder for what it would keep.
    """
    (folder / "cache").mkdir(exist_ok=True)
    dropped = ("HOME", "XDG_", "NUMBA_", "FLEXOR_", "PYTHON")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    watch = installed.room.parent / "watch"
    done = subprocess.run(
        [sys.executable, *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            **kept,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "NOTES": str(folder / "notes"),
            "PYTHONPATH": os.pathsep.join((str(watch), str(installed.room))),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
    )
    assert done.returncode == 0, done.stderr
    notes = (folder / "notes").read_text().splitlines()
    return done.stdout + done.stderr, notes


def state_of(folder: Path) -> dict[Path, tuple[int, int]]:
    """All that is in a folder, and when it was changed."""
    found = {}
    for one in folder.rglob("*"):
        state = one.stat()
        found[one] = (state.st_size, state.st_mtime_ns)
    return found


def test_the_wheel_is_small_and_named_after_what_it_fits(installed: Installed) -> None:
    assert installed.wheel.stat().st_size <= MOST_BYTES
    python, _, system = installed.wheel.stem.split("-")[2:]
    assert python == f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert system != "any"


def test_every_kernel_is_in_it(installed: Installed) -> None:
    brought = installed.room / "flexor/maths/machine/prebuilt"
    wanted = {target.key for target in wheel.targets()}
    assert {folder.name for folder in brought.iterdir()} == wanted
    for folder in brought.iterdir():
        names = [file.name.partition("-")[0] for file in folder.iterdir()]
        assert sorted(names) == sorted(kernel_modules())


def test_the_first_picture_compiles_nothing(
    installed: Installed, tmp_path: Path
) -> None:
    """Nor is anything written but the picture, which is that of the source."""
    if find_target() not in wheel.targets():
        pytest.skip("a wheel brings nothing for this machine")
    before = state_of(installed.room)
    program = str(installed.room / "bin" / "flexor")
    render = ("render", str(installed.hero), *WORDS, "-o")
    _, notes = run(installed, tmp_path, [program, *render, "first.png"])
    assert not [note for note in notes if not note.startswith(("load ", "write "))]
    written = {note.partition(" ")[2] for note in notes if note.startswith("write ")}
    assert all(Path(name).parent in (Path(), tmp_path) for name in written), written
    assert {one.name for one in tmp_path.iterdir() if one.is_file()} == {
        *("first.png", "notes")
    }
    loaded = [note.partition(" ")[2] for note in notes if note.startswith("load ")]
    assert loaded
    assert all(Path(name).is_relative_to(installed.room) for name in loaded)
    assert not list((tmp_path / "cache").iterdir())
    assert state_of(installed.room) == before
    subprocess.run(
        [sys.executable, "-m", "flexor.cli.main", *render, str(tmp_path / "own.png")],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    first, own = (tmp_path / name for name in ("first.png", "own.png"))
    assert first.read_bytes() == own.read_bytes()


IMPORT = "import flexor.deform.kernels.vertices as v; print(v.__file__)"
CACHES = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")


def test_what_it_brings_can_be_passed_over(
    installed: Installed, tmp_path: Path
) -> None:
    """FLEXOR_PREBUILT=0: what was compiled here is taken, as from the source."""
    own = {name: os.environ.get(name, "") for name in CACHES}
    said, notes = run(installed, tmp_path, ["-c", IMPORT], FLEXOR_PREBUILT="0", **own)
    assert said.startswith(str(installed.room))
    loaded = [note for note in notes if note.startswith("load ")]
    assert loaded
    assert not [note for note in loaded if "prebuilt" in note]
