"""Compiled kernels on disk: found again by contents, wherever the source stands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import flexor
from flexor.maths.kernels import keep
from flexor.maths.kernels.keep import sources_of, stamp_of
from tests.conftest import ROOT
from tests.structure.rules import read_sources

PACKAGE = Path(flexor.__file__).parent


def names(*parts: str) -> set[Path]:
    return {PACKAGE.joinpath(part) for part in parts}


def test_a_kernel_is_made_of_all_that_it_imports() -> None:
    """Helpers of helpers too, and numbers of a layout."""
    file = PACKAGE / "draw/raster/kernels/frame.py"
    found = set(sources_of(file))
    wanted = names("draw/raster/kernels/texture.py", "draw/raster/layout.py")
    assert names("maths/kernels/jit.py", "maths/kernels/lanes.py") <= found
    assert wanted <= found
    assert not names("pose/kernels/sample.py") & found


def test_what_is_stamped_is_what_python_imports() -> None:
    """By another way to find out: the modules that a kernel's module loads."""
    for name in ("pose.play.kernels.player", "stage.goal.kernels.goal"):
        script = (
            f"import flexor.{name}, sys; "
            "print(*(m.__file__ for n, m in sys.modules.items() "
            "if n.startswith('flexor.') and not hasattr(m, '__path__')))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        )
        loaded = {Path(file) for file in done.stdout.split()}
        loaded -= names("maths/kernels/keep.py", "maths/kernels/looking.py")
        file = Path(str(import_module(f"flexor.{name}").__file__))
        assert loaded <= set(sources_of(file))


def test_every_kernel_has_a_stamp() -> None:
    kernels = [source.module for source in read_sources(PACKAGE) if source.is_kernel]
    files = [
        PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
        for module in kernels
        if not module.endswith(".kernels")
    ]
    assert len(files) > 50
    assert all(len(stamp_of(file)) == 32 for file in files)


KERNEL = """
from helper import twice
from flexor.maths.kernels.jit import jit

@jit("void(f4[::1], out f4[::1])")
def double(a, out):
    for i in range(len(a)):
        out[i] = twice(a[i])
"""
HELPER = """
from flexor.maths.kernels.jit import inline
from numbers_of_it import FACTOR

@inline
def twice(x):
    return FACTOR * x
"""


def write(folder: Path, factor: int = 2) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(KERNEL)
    (folder / "helper.py").write_text(HELPER)
    (folder / "numbers_of_it.py").write_text(f"FACTOR = {factor}\n")


def run(folder: Path, cache: Path, **environment: str) -> tuple[str, bool]:
    """What the kernel gives for 3, and whether something was compiled."""
    script = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "import numpy as np, mine\n"
        "a = np.full(1, 3, np.float32); mine.double(a, a); print(a[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment},
    )
    assert "compiling" in done.stderr or not done.stderr, done.stderr
    return done.stdout.strip(), "compiling" in done.stderr


@pytest.mark.jit
def test_a_changed_helper_of_a_helper_recompiles_its_users(tmp_path: Path) -> None:
    one, cache = tmp_path / "one", tmp_path / "cache"
    write(one)
    assert run(one, cache) == ("6.0", True)
    assert run(one, cache) == ("6.0", False)
    write(one, 5)
    assert run(one, cache) == ("15.0", True), "old machine code would give 6"
    write(one)
    assert run(one, cache) == ("6.0", False), "what was compiled before is still there"


@pytest.mark.jit
def test_a_copy_elsewhere_compiles_nothing(tmp_path: Path) -> None:
    one, two, cache = tmp_path / "one", tmp_path / "two", tmp_path / "cache"
    write(one)
    assert run(one, cache) == ("6.0", True)
    shutil.copytree(one, two)
    later = time.time() + 100
    for file in two.rglob("*.py"):
        os.utime(file, (later, later))
    assert run(two, cache) == ("6.0", False)


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


@pytest.mark.jit
def test_what_nobody_had_for_long_is_forgotten(tmp_path: Path) -> None:
    one, cache = tmp_path / "one", tmp_path / "cache"
    write(one)
    run(one, cache)
    (first,) = (cache / "flexor" / "mine").iterdir()
    write(one, 3)
    run(one, cache)
    assert first.is_dir(), "not old"
    long_ago = time.time() - 40 * 86400
    os.utime(first, (long_ago, long_ago))
    write(one, 4)
    run(one, cache)
    assert not first.exists()
    assert len(list((cache / "flexor" / "mine").iterdir())) == 2


@pytest.mark.jit
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("how", ["cut", "noise"])
def test_a_broken_file_is_compiled_anew_once(
    tmp_path: Path, ending: str, how: str
) -> None:
    one, cache = tmp_path / "one", tmp_path / "cache"
    write(one)
    run(one, cache)
    (file,) = (cache / "flexor").rglob(f"*.{ending}")
    whole = file.read_bytes()
    noise = bytes(255 - byte for byte in whole[:200])
    file.write_bytes(whole[:40] if how == "cut" else noise)
    assert run(one, cache) == ("6.0", True)
    assert run(one, cache) == ("6.0", False), "it has healed"


@pytest.mark.jit
def test_a_cache_that_can_only_be_read(tmp_path: Path) -> None:
    """Where the user is not root, who may write everywhere."""
    one, cache = tmp_path / "one", tmp_path / "cache"
    write(one)
    run(one, cache)
    for folder in sorted(cache.rglob("*"), reverse=True):
        folder.chmod(0o555 if folder.is_dir() else 0o444)
    cache.chmod(0o555)
    try:
        assert run(one, cache) == ("6.0", False)
    finally:
        for folder in (cache, *cache.rglob("*")):
            folder.chmod(0o755)


@pytest.mark.parametrize("home", ["", "relative/folder"])
def test_the_folder_of_a_program_is_no_cache(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setattr(keep.config, "CACHE_DIR", "")
    file = PACKAGE / "deform/kernels/vertices.py"
    assert list(keep._folders(file)) == [file.parent / "__pycache__"]


@pytest.mark.jit
def test_two_at_once(tmp_path: Path) -> None:
    one, cache = tmp_path / "one", tmp_path / "cache"
    write(one)
    script = (
        f"import sys; sys.path.insert(0, {str(one)!r})\n"
        "import numpy as np, mine\n"
        "a = np.full(1, 3, np.float32); mine.double(a, a); print(a[0])"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        for _ in range(2)
    ]
    assert [one.communicate()[0].strip() for one in both] == ["6.0", "6.0"]
    assert run(one, cache) == ("6.0", False)
