"""What compiles all kernels before tests begin finds all of them."""

from __future__ import annotations

import sys

from tests.conftest import ROOT
from tools.warm import FIRST, compile_module, kernel_modules


def test_all_modules_with_kernels_are_found() -> None:
    found = kernel_modules()
    assert len(found) == len(set(found))
    assert tuple(found[: len(FIRST)]) == FIRST
    source = ROOT / "src"
    for file in source.rglob("*.py"):
        if "\n@jit(" in file.read_text("utf-8"):
            name = ".".join(file.relative_to(source).with_suffix("").parts)
            assert name in found


def test_a_module_is_compiled_by_being_loaded() -> None:
    name = "flexor.maths.kernels.affine"
    compile_module(name)
    assert name in sys.modules
