"""The jit decorator: signature texts, one compiled version, the notice, the cache; and
what its options do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, NamedTuple

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.errors import NumbaError

from flexor.arrays import Doubles, Floats
from flexor.maths.kernels import jit as kernel
from flexor.maths.kernels.jit import FAST, inline, jit, part
from flexor.maths.records import check_record


def array(kind: object, axes: int, *, is_output: bool = False) -> types.Array:
    return types.Array(kind, axes, "C", readonly=not is_output)


@pytest.mark.parametrize(
    ("text", "result", "arguments"),
    [
        ("void()", types.void, ()),
        ("f4(f8, i8)", types.float32, (types.float64, types.int64)),
        (
            "bool(u1, u2, u4, i4)",
            types.boolean,
            (types.u1, types.u2, types.u4, types.i4),
        ),
        ("void(f4[::1])", types.void, (array(types.f4, 1),)),
        ("void(f4[:, ::1])", types.void, (array(types.f4, 2),)),
        ("void(f4[:,:,::1])", types.void, (array(types.f4, 3),)),
        ("void( out u4[::1] )", types.void, (array(types.u4, 1, is_output=True),)),
        (
            "i8(f4[:, ::1], i4[::1],\n out f4[:, ::1], f4)",
            types.int64,
            (
                array(types.f4, 2),
                array(types.i4, 1),
                array(types.f4, 2, is_output=True),
                types.f4,
            ),
        ),
    ],
)
def test_signature_texts(text: str, result: object, arguments: object) -> None:
    signature = kernel._signature(text, {})
    assert signature.return_type == result
    assert signature.args == arguments


@pytest.mark.parametrize(
    "text",
    [
        "void(f4[:])",  # not C order
        "void(f4[::2])",
        "void(f3[::1])",  # no such type
        "f3(f4[::1])",
        "void(f4 [::1] f4)",
        "void(in f4[::1])",
        "void(f4[::1]",  # no end
        "void f4[::1])",
        "void(f4[::1]) x",
        "void(out)",
        "void(f4[1])",  # no axis
        "void",
        "",
    ],
)
def test_bad_signature_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="kernel signature"):
        kernel._signature(text, {})


@jit("f4(f4[:, ::1], out f4[::1])")
def row_sums(rows, out):  # type: ignore[no-untyped-def]
    total = np.float32(0)
    for i in range(len(rows)):
        out[i] = 0
        for j in range(rows.shape[1]):
            out[i] += rows[i, j]
        total += out[i]
    return total


def locked(array: object) -> np.ndarray:
    frozen = np.array(array, np.float32)
    frozen.flags.writeable = False
    return frozen


def test_read_only_and_writable_inputs() -> None:
    out = np.zeros(2, np.float32)
    assert row_sums(locked([[1, 2], [3, 4]]), out) == 10
    np.testing.assert_array_equal(out, [3, 7])
    assert row_sums(np.ones((2, 3), np.float32), out) == 6


@pytest.mark.jit
def test_one_compiled_version_serves_both() -> None:
    test_read_only_and_writable_inputs()
    assert len(row_sums.signatures) == 1
    for wrong in (
        np.ones((2, 3)),
        np.ones((3, 2), np.float32).T,
        np.ones(3, np.float32),
    ):
        with pytest.raises(TypeError, match="No matching definition"):
            row_sums(wrong, np.zeros(2, np.float32))
    with pytest.raises(TypeError, match="No matching definition"):
        row_sums(np.ones((2, 3), np.float32), locked([0, 0]))
    assert len(row_sums.signatures) == 1


class Sums(NamedTuple):
    rows: Annotated[Floats, "out [::1]"]
    whole: Annotated[Doubles, "out [:, ::1]"]


class Table(NamedTuple):
    rows: Annotated[Floats, "[:, ::1]"]
    sums: Sums
    factor: float


@jit("i8(i8, Table)")
def table_sums(first: int, table: Table) -> int:
    sums = table.sums
    for i in range(first, len(table.rows)):
        sums.rows[i] = 0
        for j in range(table.rows.shape[1]):
            sums.rows[i] += table.rows[i, j] * table.factor
        sums.whole[0, 0] += sums.rows[i]
    return len(table.rows)


@pytest.mark.parametrize("frozen", [True, False])
def test_records_of_arrays(frozen: bool) -> None:
    rows = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    rows.flags.writeable = not frozen
    sums = Sums(np.zeros(3, np.float32), np.zeros((1, 1)))
    assert table_sums(1, check_record(Table(rows, sums, 2.0))) == 3
    assert sums.rows.tolist() == [0, 14, 22]
    assert sums.whole.tolist() == [[36]]


def test_signature_texts_with_records() -> None:
    given = kernel._signature("void(i8, Table)", globals()).args[1]
    assert list(given) == [
        array(types.f4, 2),
        types.NamedTuple(
            (array(types.f4, 1, is_output=True), array(types.f8, 2, is_output=True)),
            Sums,
        ),
        types.float64,
    ]
    for text in ("void(out Table)", "void(Table[::1])", "void(Nothing)", "void(np)"):
        with pytest.raises(ValueError, match="kernel signature"):
            kernel._signature(text, globals())


@jit("i8(f4[::1])")
def count_nans(values):  # type: ignore[no-untyped-def]
    count = 0
    for v in values:
        count += np.isnan(v) and v != v
    return count


def test_flags_keep_nans() -> None:
    assert "nnan" not in FAST
    assert "ninf" not in FAST
    assert count_nans(np.array([1, np.nan, 3, np.nan, np.inf], np.float32)) == 2


@jit("void(f8, f8, i8, i8, out f8[::1], out i8[::1])")
def divide(a, b, c, d, floats, ints):  # type: ignore[no-untyped-def]
    floats[0], floats[1], floats[2] = a / b, c / d, 1 / np.float64(d)
    ints[0], ints[1] = c // d, c % d


def test_division() -> None:
    floats, ints = np.zeros(3), np.zeros(2, np.int64)
    divide(-3.0, 2.0, -7, 2, floats, ints)
    assert floats.tolist() == [-1.5, -3.5, 0.5]
    assert ints.tolist() == [-4, 1]


@pytest.mark.jit
@pytest.mark.parametrize("sign", [1, -1])
def test_division_by_zero_is_no_error(sign: int) -> None:
    """As in NumPy: infinity, or NaN for zero by zero; whole numbers become 0."""
    floats, ints = np.zeros(3), np.ones(2, np.int64)
    divide(sign * 5.0, 0.0, sign * 5, 0, floats, ints)
    assert floats.tolist() == [sign * np.inf, sign * np.inf, np.inf]
    assert ints.tolist() == [0, 0]
    divide(0.0, 0.0, 0, 0, floats, ints)
    np.testing.assert_array_equal(floats, [np.nan, np.nan, np.inf])
    assert ints.tolist() == [0, 0]


@inline
def one_of(values, i):  # type: ignore[no-untyped-def]
    return values[i]


def plain_sum_to(values, out, at):  # type: ignore[no-untyped-def]
    out[at] = 0
    for i in range(len(values)):
        out[at] += one_of(values, i)


sum_to = part(plain_sum_to)


def plain_sums(values, out):  # type: ignore[no-untyped-def]
    sum_to(values, out, 0)
    sum_to(values[1:], out, 1)
    sum_to(out[:2], out, 2)


SUMS = "void(f4[::1], out f4[::1])"
sums = jit(SUMS)(plain_sums)


def test_a_kernel_of_parts() -> None:
    out = np.zeros(4, np.float32)
    sums(np.array([1, 2, 4, 8], np.float32), out)
    assert out.tolist() == [15, 14, 29, 0]
    sums(locked([]), out)
    assert out.tolist() == [0, 0, 0, 0]


@pytest.mark.jit
def test_a_part_is_compiled_with_its_kernel() -> None:
    """Not when it is defined; then once, but again for each constant argument."""
    stage = part(plain_sum_to)
    assert stage.signatures == []
    assert stage.targetoptions["nogil"] is True
    assert stage.targetoptions["fastmath"] == FAST
    assert not stage.targetoptions.get("forceinline", False)

    def whole(values, out):  # type: ignore[no-untyped-def]
        for at in range(2):
            stage(values, out, at)
        stage(values, out, len(values))

    made = kernel._compile_once(whole, kernel._signature(SUMS, {}), False)
    assert len(stage.signatures) == 1
    out = np.zeros(4, np.float32)
    made(locked([1, 2, 4]), out)
    assert out.tolist() == [7, 7, 0, 7]

    def with_constants(values, out):  # type: ignore[no-untyped-def]
        stage(values, out, 0)
        stage(values, out, 1)

    kernel._compile_once(with_constants, kernel._signature(SUMS, {}), False)
    assert len(stage.signatures) == 3


@pytest.mark.jit
def test_kernels_count_no_references() -> None:
    """Neither for their own arrays nor for those of their parts and helpers."""
    signature = kernel._signature(SUMS, {})
    made = kernel._compile_once(plain_sums, signature, False)
    assert "NRT_" not in made.inspect_llvm(signature.args)


def test_kernels_hold_no_references() -> None:
    values, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    before = sys.getrefcount(values), sys.getrefcount(out)
    for _ in range(100):
        sums(values, out)
    assert (sys.getrefcount(values), sys.getrefcount(out)) == before
    there = [weakref.ref(values), weakref.ref(out)]
    del values, out
    assert [reference() for reference in there] == [None, None]


def make_zeros(a, out):  # type: ignore[no-untyped-def]
    out[0] = np.zeros(3, np.float32)[0]


def make_a_sum(a, out):  # type: ignore[no-untyped-def]
    out[:] = a + a


def make_a_copy(a, out):  # type: ignore[no-untyped-def]
    out[0] = a.copy()[0]


def make_a_list(a, out):  # type: ignore[no-untyped-def]
    out[0] = [a[0], a[1]][-1]


@inline
def doubled(a):  # type: ignore[no-untyped-def]
    return a * np.float32(2)


def let_a_helper_make(a, out):  # type: ignore[no-untyped-def]
    out[0] = doubled(a)[0]


@pytest.mark.jit
@pytest.mark.parametrize(
    ("function", "text"),
    [
        (make_zeros, "No implementation of function .*zeros"),
        (make_a_sum, "NRT required but not enabled"),
        (make_a_copy, "NRT required but not enabled"),
        (make_a_list, "NRT required but not enabled"),
        (let_a_helper_make, "Only accept returning of array passed into the function"),
    ],
)
def test_a_kernel_that_makes_arrays_is_refused(
    function: Callable[..., None], text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """When it is compiled, not when it runs; and not for want of a cache."""
    with pytest.raises(NumbaError, match=text):
        jit(SUMS)(function)
    assert "cannot be kept" not in caplog.text


@pytest.mark.jit
@pytest.mark.parametrize("function", [make_zeros, make_a_list])
def test_nothing_else_is_wrong_with_kernels_that_make_arrays(
    function: Callable[..., None],
) -> None:
    made = numba.njit(kernel._signature(SUMS, {}))(function)
    out = np.full(1, -1, np.float32)
    made(locked([1, 0]), out)
    assert out[0] == 0


def run_script(script: str, **environment: str) -> tuple[str, str]:
    result = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return result.stdout, result.stderr


TINY = """
from flexor.maths.kernels.jit import inline, jit

@inline
def twice(x):
    return x + x

@jit("void(f4[::1], out f4[::1])")
def double(a, out):
    for i in range(len(a)):
        out[i] = twice(a[i])

@jit("f4(f4[::1])")
def first(a):
    return a[0]
"""


class Kept(NamedTuple):
    """A file of kernels and its cache: what two processes that used it said."""

    folder: Path
    script: str
    first: tuple[str, str]
    second: tuple[str, str]

    def run(self) -> tuple[str, str]:
        return run_script(self.script, NUMBA_CACHE_DIR=str(self.folder / "cache"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("kept")
    (folder / "tiny.py").write_text("from kernel_help import HOW_MUCH\n" + TINY)
    (folder / "kernel_help.py").write_text("HOW_MUCH = 1\n")
    script = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "import numpy as np, tiny\n"
        "a = np.ones(3, np.float32); tiny.double(a, a); print(a[0], tiny.first(a))"
    )
    one = Kept(folder, script, ("", ""), ("", ""))
    return one._replace(first=one.run(), second=one.run())


@pytest.mark.jit
def test_compiling_is_said_once_and_not_again(kept: Kept) -> None:
    out, err = kept.first
    assert out == "2.0 2.0\n"
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert "compiling" in lines[0]
    assert kept.second == ("2.0 2.0\n", "")


@pytest.mark.jit
def test_real_kernels_come_from_the_cache() -> None:
    """This process may compile; another is silent."""
    names = ("flexor.pose.kernels.sample", "flexor.deform.kernels.vertices")
    for name in names:
        import_module(name)
    assert run_script(f"import {', '.join(names)}") == ("", "")


@pytest.mark.jit
def test_kernels_run_without_the_lock_and_keep_their_code() -> None:
    options = row_sums.targetoptions
    assert options["nogil"] is True
    assert options["fastmath"] == FAST
    assert row_sums._cache.cache_path


@pytest.mark.jit
def test_a_changed_helper_is_compiled_anew(kept: Kept) -> None:
    """Numba alone would look at the kernel's own file and keep the old code."""
    assert kept.second[1] == ""
    (kept.folder / "kernel_help.py").write_text("HOW_MUCH = 12\n")
    assert "compiling" in kept.run()[1]


@pytest.mark.jit
def test_without_a_place_to_keep_kernels(tmp_path: Path) -> None:
    """Files where the folders should be: it goes on, and says so once."""
    (tmp_path / "tiny.py").write_text(TINY)
    (tmp_path / "__pycache__").write_text("in the way")
    blocked = str(tmp_path / "tiny.py" / "folder")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import numpy as np, tiny\n"
        "a = np.ones(3, np.float32); tiny.double(a, a); print(a[0])"
    )
    out, said = run_script(
        script, NUMBA_CACHE_DIR=blocked, HOME=blocked, XDG_CACHE_HOME=blocked
    )
    assert out == "2.0\n"
    assert said.count("cannot be kept") == 1
