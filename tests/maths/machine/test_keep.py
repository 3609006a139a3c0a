"""Compiled kernels on disk: found again by contents, wherever the source stands."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import flexor
from flexor.maths.machine import keep
from flexor.maths.machine.code import Object, pack_code
from flexor.maths.machine.keep import (
    find_code,
    keep_code,
    prebuilt_place,
    say_once,
    write_code,
)
from flexor.maths.machine.stamp import stamp_of
from flexor.maths.machine.target import Target
from tests.conftest import ROOT
from tests.maths.machine.compiled import run, run_program, start_program, write_kernels

PACKAGE = Path(flexor.__file__).parent
TARGET = Target("some-level", "some-processor", "")
CODE = pack_code([Object("one", "kernel0", b"code of one")])
OTHER = pack_code([Object("two", "kernel0", b"code of two")])
NAME = "mine"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of kernels; what is made of it is kept in a folder `cache` beside."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("FLEXOR_PREBUILT", raising=False)
    say_once.cache_clear()
    yield write_kernels(tmp_path / "one")
    say_once.cache_clear()


def kept_file(folder: Path) -> Path:
    """The one file of machine code below a folder, and there is nothing else."""
    (only,) = (one for one in folder.rglob("*") if one.is_file())
    assert only.suffix == ".kernels"
    return only


def test_what_is_kept_is_found(file: Path, tmp_path: Path) -> None:
    assert find_code(NAME, file, TARGET) is None
    keep_code(NAME, file, TARGET, CODE)
    assert find_code(NAME, file, TARGET) == CODE
    where = kept_file(tmp_path / "cache")
    assert where.parent == tmp_path / "cache" / "flexor" / "some-level"
    assert where.name.startswith("mine-")
    keep_code(NAME, file, TARGET, OTHER)
    assert find_code(NAME, file, TARGET) == OTHER
    assert kept_file(tmp_path / "cache") == where


def test_other_modules_levels_and_makers_have_other_files(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_code(NAME, file, TARGET, CODE)
    assert find_code("other", file, TARGET) is None
    assert find_code(NAME, file, TARGET._replace(key="another-level")) is None
    assert find_code(NAME, file.with_name("helper.py"), TARGET) is None
    monkeypatch.setattr(keep, "_maker", lambda: "another compiler")
    assert find_code(NAME, file, TARGET) is None


def test_the_maker_says_all_that_matters() -> None:
    said = keep._maker()
    assert sys.implementation.cache_tag in said
    assert sys.platform in said
    for library in ("numba", "llvmlite"):
        assert keep.version(library) in said


@pytest.mark.parametrize("how", ["changed", "cut", "longer"])
def test_a_damaged_file_is_not_found(how: str, file: Path, tmp_path: Path) -> None:
    """Whichever byte of it."""
    keep_code(NAME, file, TARGET, CODE)
    where = kept_file(tmp_path / "cache")
    for at in range(len(CODE)):
        changed = CODE[:at] + bytes([CODE[at] ^ 0x20]) + CODE[at + 1 :]
        ways = {"changed": changed, "cut": CODE[:at], "longer": CODE + CODE[at:]}
        where.write_bytes(ways[how])
        assert find_code(NAME, file, TARGET) is None
    keep_code(NAME, file, TARGET, CODE)
    assert find_code(NAME, file, TARGET) == CODE, "it has healed"


def test_a_folder_in_its_place_is_not_found(file: Path, tmp_path: Path) -> None:
    keep_code(NAME, file, TARGET, CODE)
    where = kept_file(tmp_path / "cache")
    where.unlink()
    where.mkdir()
    assert find_code(NAME, file, TARGET) is None


def test_what_is_used_is_not_old(file: Path, tmp_path: Path) -> None:
    keep_code(NAME, file, TARGET, CODE)
    where = kept_file(tmp_path / "cache")
    os.utime(where, (1e9, 1e9))
    find_code(NAME, file, TARGET)
    assert where.stat().st_mtime > time.time() - 3600


def test_what_nobody_had_for_long_is_forgotten(file: Path, tmp_path: Path) -> None:
    keep_code(NAME, file, TARGET, CODE)
    first = kept_file(tmp_path / "cache")
    folder = first.parent / "a folder"
    folder.mkdir()
    keep_code("second", file, TARGET, CODE)
    assert first.is_file(), "not old"
    long_ago = time.time() - 40 * 86400
    for old in (first, folder):
        os.utime(old, (long_ago, long_ago))
    keep_code("third", file, TARGET, CODE)
    assert not first.exists()
    names = sorted(one.name.partition("-")[0] for one in folder.parent.iterdir())
    assert names == ["a folder", "second", "third"]


def test_others_may_read_what_is_written(tmp_path: Path) -> None:
    """As any other file: a cache may be made by one user for all."""
    plain = tmp_path / "plain"
    plain.write_bytes(CODE)
    write_code(tmp_path / "new" / "folder" / "code", CODE)
    made = tmp_path / "new" / "folder" / "code"
    assert made.read_bytes() == CODE
    assert stat.S_IMODE(made.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_nothing_is_written_by_half(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "code"
    write_code(place, CODE)

    def fail(*given: object) -> None:
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(error):
        write_code(place, OTHER)
    assert [one.name for one in tmp_path.iterdir()] == ["code"]
    assert place.read_bytes() == CODE


def test_the_first_folder_that_can_be_written(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file / "no folder"))
    keep_code(NAME, file, TARGET, CODE)
    assert kept_file(file.parent / "__pycache__")
    assert find_code(NAME, file, TARGET) == CODE
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    keep_code(NAME, file, TARGET, OTHER)
    assert kept_file(tmp_path / "user" / "flexor" / "kernels")
    assert find_code(NAME, file, TARGET) == OTHER, "best first"
    assert not caplog.text


def test_no_folder_that_can_be_written(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "no folder"))
    for name in (NAME, "other"):
        keep_code(name, file, TARGET, CODE)
    assert caplog.text.count("cannot be kept") == 1
    assert find_code(NAME, file, TARGET) is None


def test_a_folder_that_can_only_be_read(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is said where nothing need be written."""
    keep_code(NAME, file, TARGET, CODE)

    def refuse(*given: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    assert find_code(NAME, file, TARGET) == CODE
    assert not caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="about other systems")
@pytest.mark.parametrize("home", ["", "relative/folder"])
def test_the_folder_of_a_program_is_no_cache(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    file = PACKAGE / "deform/kernels/vertices.py"
    assert list(keep._folders(file)) == [file.parent / "__pycache__"]
    monkeypatch.setattr(os.path, "expanduser", lambda path: "/home/me")
    own, _ = keep._folders(file)
    assert own.is_relative_to("/home/me")


class Prebuilt(NamedTuple):
    place: Path
    file: Path


@pytest.fixture
def prebuilt(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prebuilt:
    """A module whose code comes with the package."""
    monkeypatch.setattr(keep, "PREBUILT", tmp_path / "prebuilt")
    place = prebuilt_place(NAME, file, TARGET)
    write_code(place, OTHER)
    return Prebuilt(place, file)


def test_the_place_of_what_comes_with_the_package(prebuilt: Prebuilt) -> None:
    """Of any clone of it: known by contents."""
    place, file = prebuilt
    assert place.parent.name == "some-level"
    assert place.name.startswith(
        f"mine-{stamp_of(file)}-{sys.implementation.cache_tag}"
    )
    assert place.suffix == ".kernels"


def test_what_comes_with_the_package_is_taken_first(
    prebuilt: Prebuilt, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = prebuilt.file
    keep_code(NAME, file, TARGET, CODE)
    assert find_code(NAME, file, TARGET) == OTHER
    monkeypatch.setenv("FLEXOR_PREBUILT", "1")
    assert find_code(NAME, file, TARGET) == OTHER
    monkeypatch.setenv("FLEXOR_PREBUILT", "0")
    assert find_code(NAME, file, TARGET) == CODE
    assert prebuilt.place.read_bytes() == OTHER, "nothing is kept there"


def test_what_comes_with_the_package_may_be_damaged(prebuilt: Prebuilt) -> None:
    prebuilt.place.write_bytes(OTHER[:-1])
    assert find_code(NAME, prebuilt.file, TARGET) is None
    keep_code(NAME, prebuilt.file, TARGET, CODE)
    assert find_code(NAME, prebuilt.file, TARGET) == CODE


def test_it_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    say_once.cache_clear()
    for text in ("one", "one", "two", "one"):
        say_once(text)
    assert [record.getMessage() for record in caplog.records] == [
        "flexor: one",
        "flexor: two",
    ]
    say_once.cache_clear()


@pytest.fixture
def copy(compiled: Path, tmp_path: Path) -> Path:
    """A copy of that; the files are newer than what was made of them."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(compiled, tmp_path / "copy", ignore=ignored)
    later = time.time() + 100
    for file in (tmp_path / "copy" / "one").rglob("*.py"):
        os.utime(file, (later, later))
    return tmp_path / "copy"


@pytest.mark.jit
def test_a_copy_elsewhere_compiles_nothing(copy: Path) -> None:
    assert run(copy / "one", copy / "cache") == ("6.0 6.0", False)


@pytest.mark.jit
def test_a_changed_helper_of_a_helper_recompiles_its_users(copy: Path) -> None:
    one, cache = copy / "one", copy / "cache"
    write_kernels(one, 5)
    assert run(one, cache) == ("15.0 15.0", True), "old machine code would give 6"
    write_kernels(one)
    assert run(one, cache) == ("6.0 6.0", False), "what was compiled is still there"


@pytest.mark.jit
def test_a_broken_file_is_compiled_anew_once(copy: Path) -> None:
    one, cache = copy / "one", copy / "cache"
    where = kept_file(cache)
    whole = where.read_bytes()
    where.write_bytes(whole[:-200] + bytes(200))
    assert run(one, cache) == ("6.0 6.0", True)
    assert where.read_bytes() == whole
    assert run(one, cache) == ("6.0 6.0", False), "it has healed"


@pytest.mark.jit
def test_a_cache_that_can_only_be_read(copy: Path) -> None:
    """Where the user is not root, who may write everywhere."""
    cache = copy / "cache"
    for folder in sorted(cache.rglob("*"), reverse=True):
        folder.chmod(0o555 if folder.is_dir() else 0o444)
    cache.chmod(0o555)
    try:
        assert run_program(copy / "one", cache) == ("6.0 6.0", "")
    finally:
        for folder in (cache, *cache.rglob("*")):
            folder.chmod(0o755)


@pytest.mark.jit
def test_two_at_once(tmp_path: Path) -> None:
    """Both compile; what they keep is one file, and whole."""
    one, cache = tmp_path / "one", tmp_path / "cache"
    write_kernels(one)
    both = [start_program(one, cache) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in both] == ["6.0 6.0"] * 2
    assert kept_file(cache)
    assert run(one, cache) == ("6.0 6.0", False)


@pytest.mark.jit
def test_without_a_place_to_keep_kernels(tmp_path: Path) -> None:
    """Files where the folders should be: it goes on, and says so once."""
    file = write_kernels(tmp_path / "one")
    (file.parent / "__pycache__").write_text("in the way")
    blocked = str(file / "folder")
    out, said = run_program(
        file.parent, Path(), NUMBA_CACHE_DIR="", HOME=blocked, XDG_CACHE_HOME=blocked
    )
    assert out == "6.0 6.0"
    assert said.count("cannot be kept") == 1
    assert said.count("compiling") == 1
    assert len(said.splitlines()) == 2


@pytest.mark.jit
def test_a_clone_of_the_package_compiles_nothing(tmp_path: Path) -> None:
    """The kernels of the package itself, from a copy of it in another folder."""
    import_module("flexor.deform.kernels.vertices")  # compiled here, if it was not
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    script = "import flexor.deform.kernels.vertices; print(flexor.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
    )
    assert done.stdout.startswith(str(tmp_path))
    assert done.stderr == ""
