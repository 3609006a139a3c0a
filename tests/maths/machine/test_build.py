"""What is compiled: functions of the C library and no others, and what is refused."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from flexor.maths.kernels.jit import jit
from flexor.maths.machine.mode import IS_PLAIN, mode
from tests.conftest import HAS_JIT
from tests.maths.machine.compiled import Compile, errors_of, run_compiler


@jit("void(f8, f8, out f8[::1])")
def of_the_library(a, b, out):  # type: ignore[no-untyped-def]
    out[0], out[1] = math.sqrt(b), a % b


@jit("void(f4, f4, out f4[::1])")
def of_small_numbers(a, b, out):  # type: ignore[no-untyped-def]
    out[0], out[1] = math.sqrt(b), a % b


@pytest.mark.parametrize(("a", "b"), [(0.25, 3.5), (-0.9, 0.01), (0.0, 1e6)])
def test_functions_of_the_library(a: float, b: float) -> None:
    """They are exact."""
    out = np.zeros(2)
    of_the_library(a, b, out)
    assert out.tolist() == [math.sqrt(b), a % b]
    small, c, d = np.zeros(2, np.float32), np.float32(a), np.float32(b)
    of_small_numbers(c, d, small)
    assert small.tolist() == [np.sqrt(d), c % d]


def needs_another(a, out):  # type: ignore[no-untyped-def]
    out[0] = math.sinh(a[0])


def needs_a_sine(a, out):  # type: ignore[no-untyped-def]
    out[0] = math.sin(a[0])


def gives_a_text(a, out):  # type: ignore[no-untyped-def]
    print(a[0])  # noqa: T201


def shapes_what_is_cut(a, out):  # type: ignore[no-untyped-def]
    out[0] = a[::2].reshape((2, 2))[0, 0]


def shapes_what_is_turned(a, out):  # type: ignore[no-untyped-def]
    out[0] = a.T.reshape((4, 1))[1, 0]


def is_fine(a, out):  # type: ignore[no-untyped-def]
    out[0] = a.reshape((2, 2))[0, 0] + math.sqrt(a[0])


def keeps_what_it_is_given(a):  # type: ignore[no-untyped-def]
    a[0] = 1


TEXT = "void(f8[::1], out f8[::1])"
TRIED: dict[str, tuple[Any, str, str]] = {
    "another": (needs_another, TEXT, "a kernel needs sinh, which is not the same"),
    "sine": (needs_a_sine, TEXT, "a kernel needs sin, which is not the same"),
    "text": (gives_a_text, TEXT, "a kernel needs "),
    "cut": (shapes_what_is_cut, TEXT, "contiguous array only"),
    "turned": (shapes_what_is_turned, "void(f8[:, ::1], out f8[::1])", "in C order"),
    "input": (keeps_what_it_is_given, "void(f8[::1])", "readonly array"),
    "fine": (is_fine, TEXT, ""),
}


def look_inside(compile: Compile) -> Any:
    """Runs in a process that compiles."""
    build = import_module("flexor.maths.machine.build")
    twice = [compile(is_fine, TEXT).hex() for _ in range(2)]
    named = type(mode.compiler).__name__, type(of_the_library).__name__
    errors = errors_of(compile, [one[:2] for one in TRIED.values()])
    return errors, twice, named, sorted(build.C_LIBRARY), IS_PLAIN


@pytest.fixture(scope="module")
def inside() -> Any:
    return run_compiler(__name__, "look_inside")


@pytest.mark.jit
@pytest.mark.parametrize("name", TRIED)
def test_what_a_kernel_may_not_do(name: str, inside: Any) -> None:
    text = inside[0][list(TRIED).index(name)]
    wanted = TRIED[name][2]
    assert wanted in text
    assert bool(text) == bool(wanted), text


@pytest.mark.jit
def test_the_same_kernel_gives_the_same_bytes(inside: Any) -> None:
    first, second = inside[1]
    assert first == second


@pytest.mark.jit
def test_modes(inside: Any) -> None:
    """Where kernels are compiled, they are taken; in a program nothing takes them."""
    taker, kernel = inside[2]
    assert (taker, kernel) == ("_Compiler", "CPUDispatcher")
    assert inside[4] is False
    assert mode.compiler is None
    assert type(of_the_library).__name__ == "builtin_function_or_method"


def test_plain_python_is_asked_for_by_name() -> None:
    assert IS_PLAIN is not HAS_JIT


@pytest.mark.jit
def test_functions_of_the_library_are_exact_ones(inside: Any) -> None:
    assert set(inside[3]) == {"fmod", "memmove", "memset", "sqrt", "sqrtf"}
