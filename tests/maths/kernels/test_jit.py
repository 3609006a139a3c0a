"""The jit decorator: one compiled version, helpers and parts, the cache; and what the
compiler is told to do.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import weakref
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from flexor.arrays import Doubles, Floats
from flexor.maths.kernels.jit import inline, jit, part
from flexor.maths.machine.compiling import CannotCompile
from flexor.maths.machine.keep import find_code
from flexor.maths.machine.target import find_target
from flexor.maths.records import check_record
from tests.conftest import HAS_JIT
from tests.maths.machine.compiled import (
    Compile,
    errors_of,
    run_compiler,
    run_program,
    write_kernels,
)


@jit("f4(f4[:, ::1], out f4[::1])")
def row_sums(rows, out):  # type: ignore[no-untyped-def]
    """Sums of rows, and the sum of these."""
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
    """And nothing else: what does not fit is not compiled for, but refused."""
    test_read_only_and_writable_inputs()
    for wrong in (
        np.ones((2, 3)),
        np.ones((3, 2), np.float32).T,
        np.ones(3, np.float32),
    ):
        with pytest.raises(TypeError, match="expected float32 with 2 axes, C-ordered"):
            row_sums(wrong, np.zeros(2, np.float32))
    with pytest.raises(TypeError, match=r"argument 1: .*, writable"):
        row_sums(np.ones((2, 3), np.float32), locked([0, 0]))
    test_read_only_and_writable_inputs()


def test_what_a_kernel_says_of_itself() -> None:
    assert row_sums.__name__ == "row_sums"
    assert row_sums.__module__ == __name__
    assert row_sums.__doc__ == "Sums of rows, and the sum of these."


@pytest.mark.jit
def test_helpers_are_plain_python_in_a_program() -> None:
    assert one_of.__code__.co_filename == __file__
    assert one_of([1, 2], 1) == 2
    assert sum_to is plain_sum_to


@pytest.mark.jit
def test_a_kernel_inside_a_function_is_refused() -> None:
    """It would not be found when its module is compiled; later ones are still right."""
    for _ in range(2):
        with pytest.raises(CannotCompile, match="plain_sum_to is not declared where"):
            jit("void(f4[::1], out f4[::1], i8)")(plain_sum_to)
    test_read_only_and_writable_inputs()


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


@jit("i8(f4[::1])")
def count_nans(values):  # type: ignore[no-untyped-def]
    count = 0
    for v in values:
        count += np.isnan(v) and v != v
    return count


def test_nans_are_kept() -> None:
    assert count_nans(np.array([1, np.nan, 3, np.nan, np.inf], np.float32)) == 2


@jit("f4(f4[::1])")
def add_up(values):  # type: ignore[no-untyped-def]
    total = np.float32(0)
    for v in values:
        total += v
    return total


def test_sums_are_made_in_order(rng: np.random.Generator) -> None:
    """Whatever the compiler would like better; so they are the same everywhere."""
    values = (rng.normal(size=1000) * 10.0 ** rng.integers(-6, 6, 1000)).astype("f4")
    assert add_up(values) == np.add.accumulate(values)[-1]
    assert add_up(values[::-1].copy()) == np.add.accumulate(values[::-1])[-1]


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


class Inside(NamedTuple):
    """What is seen where kernels are compiled."""

    errors: list[str]
    fast: list[str]
    stages: list[int]
    options: dict[str, Any]
    is_inline: list[bool]
    objects: list[str]


def look_inside(compile: Compile) -> Inside:
    """Runs in a process that compiles."""
    build = import_module("flexor.maths.machine.build")
    stage: Any = part(plain_sum_to)
    stages = [len(stage.signatures)]

    def whole(values, out):  # type: ignore[no-untyped-def]
        for at in range(2):
            stage(values, out, at)
        stage(values, out, len(values))

    def with_constants(values, out):  # type: ignore[no-untyped-def]
        stage(values, out, 0)
        stage(values, out, 1)

    objects = [compile(plain_sums, SUMS)]
    for function in (whole, with_constants):
        objects.append(compile(function, SUMS))
        stages.append(len(stage.signatures))
    helper: Any = inline(plain_sum_to)
    options = {k: v for k, v in stage.targetoptions.items() if k != "fastmath"}
    return Inside(
        errors_of(compile, [(function, SUMS) for function, _ in MAKING]),
        sorted(build.FAST & set(stage.targetoptions["fastmath"])),
        stages,
        options,
        [bool(one.targetoptions.get("forceinline")) for one in (stage, helper)],
        [one.decode("latin-1") for one in objects],
    )


@pytest.fixture(scope="module")
def inside() -> Inside:
    return Inside(*run_compiler(__name__, "look_inside"))


@pytest.mark.jit
def test_flags(inside: Inside) -> None:
    """NaN and infinity exist, and sums are made in order."""
    assert inside.fast == ["afn", "arcp", "contract", "nsz"]


@pytest.mark.jit
def test_a_part_is_compiled_with_its_kernel(inside: Inside) -> None:
    """Not when it is defined; then once, but again for each constant argument."""
    assert inside.stages == [0, 1, 3]
    assert inside.is_inline == [False, True]
    assert inside.options["error_model"] == "numpy"


@pytest.mark.jit
def test_kernels_count_no_references(inside: Inside) -> None:
    """Neither for their own arrays nor for those of their parts and helpers."""
    for code in inside.objects:
        assert code.startswith("\x7fELF") or sys.platform != "linux"
        assert "PyEval_SaveThread" in code
        assert "NRT_" not in code


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


MAKING = [
    (make_zeros, "No implementation of function .*zeros"),
    (make_a_sum, "NRT required but not enabled"),
    (make_a_copy, "NRT required but not enabled"),
    (make_a_list, "NRT required but not enabled"),
    (let_a_helper_make, "Only accept returning of array passed into the function"),
]


@pytest.mark.jit
@pytest.mark.parametrize("at", range(len(MAKING)))
def test_a_kernel_that_makes_arrays_is_refused(at: int, inside: Inside) -> None:
    """When it is compiled, not when it runs."""
    text = inside.errors[at]
    assert re.search(MAKING[at][1], text), text
    assert text.partition(":")[0].endswith("Error")


@pytest.mark.parametrize("function", [function for function, _ in MAKING])
def test_nothing_else_is_wrong_with_kernels_that_make_arrays(
    function: Callable[..., None],
) -> None:
    out = np.full(1, -1, np.float32)
    values = locked([1, 0] if function is make_a_list else [0])
    function(values, out)
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


@pytest.mark.jit
def test_compiling_is_said_once_and_not_again(tmp_path: Path) -> None:
    """And a changed helper is compiled anew: the kernel's own file is the same."""
    folder, cache = tmp_path / "kernels", tmp_path / "cache"
    write_kernels(folder)
    out, said = run_program(folder, cache)
    assert out == "6.0 6.0"
    assert len(said.splitlines()) == 1, said
    assert "compiling" in said
    assert run_program(folder, cache) == ("6.0 6.0", "")
    write_kernels(folder, 12)
    out, said = run_program(folder, cache)
    assert out == "36.0 36.0"
    assert said.count("compiling") == 1


@pytest.mark.jit
def test_real_kernels_come_from_the_cache() -> None:
    """This process may compile; another is silent."""
    names = ("flexor.pose.kernels.sample", "flexor.deform.kernels.vertices")
    for name in names:
        import_module(name)
    script = f"import {', '.join(names)}, sys; print('numba' in sys.modules)"
    assert run_script(script) == ("False\n", ""), "nor does it load the compiler"


@pytest.mark.jit
def test_kernels_keep_their_code() -> None:
    assert find_code(__name__, Path(__file__), find_target()) is not None


@pytest.mark.skipif(HAS_JIT, reason="about kernels in plain Python")
def test_without_machine_code_kernels_are_what_they_were() -> None:
    assert jit(SUMS)(plain_sums) is plain_sums
    assert part(plain_sums) is plain_sums
    assert inline(plain_sums) is plain_sums


@pytest.mark.parametrize("text", ["", "void(f4[:])", "void(Nothing)"])
def test_a_wrong_signature_is_told_when_a_kernel_is_declared(text: str) -> None:
    with pytest.raises(ValueError, match="kernel signature"):
        jit(text)(plain_sums)
