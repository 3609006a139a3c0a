"""The jit decorator: signature texts, one compiled version, the notice, the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import types

from flexor.maths import kernel
from flexor.maths.kernel import FAST, jit


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
    signature = kernel._signature(text)
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
        kernel._signature(text)


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
from flexor.maths.kernel import inline, jit

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


@pytest.mark.jit
def test_compiling_is_said_once_and_not_again(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(TINY)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import numpy as np, tiny\n"
        "a = np.ones(3, np.float32); tiny.double(a, a); print(a[0], tiny.first(a))"
    )
    cache = str(tmp_path / "cache")
    out, err = run_script(script, NUMBA_CACHE_DIR=cache)
    assert out == "2.0 2.0\n"
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert "compiling" in lines[0]
    assert run_script(script, NUMBA_CACHE_DIR=cache) == ("2.0 2.0\n", "")


@pytest.mark.jit
def test_real_kernels_come_from_the_cache() -> None:
    """The first process may compile; the second is silent."""
    script = "import flexor.pose.kernel, flexor.deform.kernel"
    run_script(script)
    assert run_script(script) == ("", "")


@pytest.mark.jit
def test_kernels_run_without_the_lock_and_keep_their_code() -> None:
    options = row_sums.targetoptions
    assert options["nogil"] is True
    assert options["fastmath"] == FAST
    assert row_sums._cache.cache_path


@pytest.mark.jit
def test_a_changed_helper_is_compiled_anew(tmp_path: Path) -> None:
    """Numba alone would look at the kernel's own file and keep the old code."""
    (tmp_path / "tiny.py").write_text("from kernel_help import HOW_MUCH\n" + TINY)
    (tmp_path / "kernel_help.py").write_text("HOW_MUCH = 1\n")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tiny"
    cache = str(tmp_path / "cache")
    run_script(script, NUMBA_CACHE_DIR=cache)
    assert run_script(script, NUMBA_CACHE_DIR=cache)[1] == ""
    (tmp_path / "kernel_help.py").write_text("HOW_MUCH = 12\n")
    _, said = run_script(script, NUMBA_CACHE_DIR=cache)
    assert "compiling" in said


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
