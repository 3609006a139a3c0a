"""What machine code is made of: every file that it needs, and no other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import flexor
from flexor.maths.machine import stamp
from flexor.maths.machine.stamp import sources_of, stamp_of
from tests.maths.machine.compiled import write_kernels
from tests.structure.rules import read_sources

PACKAGE = Path(flexor.__file__).parent


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """Files are read once in a process; here they change."""

    def forget() -> None:
        for function in (stamp._read, sources_of, stamp_of):
            function.cache_clear()

    forget()
    yield
    forget()


def names(*parts: str) -> set[Path]:
    return {PACKAGE.joinpath(part) for part in parts}


def test_a_kernel_is_made_of_all_that_it_imports() -> None:
    """Helpers of helpers too, and numbers of a layout."""
    file = PACKAGE / "draw/raster/kernels/frame.py"
    found = set(sources_of(file))
    wanted = names("draw/raster/kernels/texture.py", "draw/raster/layout.py")
    assert names("maths/kernels/lanes.py", "maths/machine/llvm/lanes.py") <= found
    assert wanted <= found
    assert not names("pose/kernels/sample.py") & found


def test_a_kernel_is_made_by_the_compiler() -> None:
    """Not by what loads and keeps it: that may change without compiling anew."""
    found = set(sources_of(PACKAGE / "deform/kernels/vertices.py"))
    making = ("build", "entry", "layout", "signature")
    around = ("keep", "load", "code", "target", "warm", "compiling", "stamp", "mode")
    assert names(*(f"maths/machine/{name}.py" for name in making)) <= found
    assert not names(*(f"maths/machine/{name}.py" for name in around)) & found
    assert not names("maths/kernels/jit.py") & found
    here = {file.stem for file in (PACKAGE / "maths/machine").glob("*.py")}
    assert here == {*making, *around, "__init__"}, "each is one or the other"


LISTING = """
import sys
{start}
for name in sys.argv[1:]:
    import importlib
    importlib.import_module(name)
    print(*(m.__file__ for n, m in sys.modules.items()
        if n.startswith("flexor.") and not hasattr(m, "__path__")))
"""
COMPILING = """
from flexor.maths.machine.build import start_compiler
start_compiler("x86-64", "")
"""


@pytest.mark.parametrize(
    "start", ["", pytest.param(COMPILING, marks=pytest.mark.jit)], ids=["run", "made"]
)
def test_what_is_stamped_is_what_python_imports(start: str) -> None:
    """By another way to find out: the modules that a kernel's module loads, in a
    program and where it is compiled.
    """
    modules = [
        f"flexor.{n}" for n in ("pose.play.kernels.player", "stage.goal.kernels.goal")
    ]
    done = subprocess.run(
        [sys.executable, "-c", LISTING.format(start=start), *modules],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "0" if start else "1"},
    )
    found: set[Path] = set()
    for name, line in zip(modules, done.stdout.splitlines(), strict=True):
        spec = find_spec(name)
        assert spec is not None
        found |= set(sources_of(Path(str(spec.origin))))
        loaded = {Path(file) for file in line.split()} - stamp._AROUND
        assert loaded <= found


def test_every_kernel_has_a_stamp() -> None:
    kernels = [source.module for source in read_sources(PACKAGE) if source.is_kernel]
    files = [
        PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
        for module in kernels
        if not module.endswith(".kernels")
    ]
    assert len(files) > 50
    stamps = [stamp_of(file) for file in files]
    assert all(len(one) == 32 for one in stamps)
    assert len(set(stamps)) == len(stamps)


def test_a_copy_elsewhere_has_the_same_stamp(tmp_path: Path) -> None:
    one = write_kernels(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert stamp_of(tmp_path / "two" / "mine.py") == stamp_of(one)


@pytest.mark.parametrize("name", ["mine", "helper", "numbers_of_it"])
def test_any_change_changes_the_stamp(name: str, tmp_path: Path) -> None:
    file = write_kernels(tmp_path / "one")
    assert {one.stem for one in sources_of(file)} >= {"mine", "helper", "numbers_of_it"}
    before = stamp_of(file)
    with (file.parent / f"{name}.py").open("a") as out:
        out.write("# more\n")
    assert stamp_of(file) == before, "read once"
    for function in (stamp._read, sources_of, stamp_of):
        function.cache_clear()
    assert stamp_of(file) != before


def test_other_files_do_not_change_the_stamp(tmp_path: Path) -> None:
    file = write_kernels(tmp_path / "one")
    before = stamp_of(file)
    (file.parent / "other.py").write_text("import mine\n")
    for function in (stamp._read, sources_of, stamp_of):
        function.cache_clear()
    assert stamp_of(file) == before


@pytest.mark.parametrize(
    "text",
    [
        "import helper",
        "import os, helper as h",
        "from helper import (\n    twice,\n    thrice as t,\n)",
        "from helper import twice as two  # a remark",
        "import numpy as np\nimport helper",
    ],
)
def test_ways_to_import(text: str, tmp_path: Path) -> None:
    write_kernels(tmp_path)
    file = tmp_path / "kernel.py"
    file.write_text(f'"""Text."""\n{text}\n')
    found = {one.name for one in sources_of(file) if one.parent == tmp_path}
    assert found == {"kernel.py", "helper.py", "numbers_of_it.py"}


def test_circles_end(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import two\n")
    (tmp_path / "two.py").write_text("import one\n")
    assert len(stamp_of(tmp_path / "one.py")) == 32
