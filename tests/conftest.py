"""What every test stands on: strict arithmetic, the assets folder, generated files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
HAS_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def find_assets() -> Path | None:
    """Characters by other people: FLEXOR_ASSETS, or a folder beside the project."""
    named = os.environ.get("FLEXOR_ASSETS")
    folder = Path(named) if named else ROOT.parent / "shared" / "assets"
    return folder if folder.is_dir() else None


def asset_files() -> list[Path]:
    """Every glTF character there is; none where the folder is absent."""
    folder = find_assets()
    if folder is None:
        return []
    return sorted(p for p in folder.iterdir() if p.suffix in (".glb", ".gltf", ".vrm"))


@pytest.fixture(scope="session")
def assets() -> Path:
    folder = find_assets()
    if folder is None:
        pytest.skip("no assets folder: set FLEXOR_ASSETS")
    return folder


@pytest.fixture(autouse=True)
def strict_arithmetic() -> Iterator[None]:
    """Overflow, NaN made from numbers and division by zero are failures."""
    with np.errstate(all="raise", under="ignore"):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate", action="store_true", help="make the golden pictures again"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if HAS_JIT:
        return
    skip = pytest.mark.skip(reason="needs compiled kernels (NUMBA_DISABLE_JIT is set)")
    for item in items:
        if item.get_closest_marker("jit") or item.get_closest_marker("slow"):
            item.add_marker(skip)
