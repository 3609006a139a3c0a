"""What every test stands on: strict arithmetic, the assets folder, generated files."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from tests.made import HAS_JIT, ROOT
from tests.made import clips_laid_out_once as clips_laid_out_once
from tests.made import made_anew as made_anew
from tests.made import made_once as made_once
from tests.made import painted_once as painted_once

# Several processes test at once (`pytest -n`): each keeps to a core of its own.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("FLEXOR_THREADS", "1")
# What is kept of earlier programs would hide what making it does: see `made_once`.
os.environ["FLEXOR_KEEP"] = "0"
# Files that take longest, longest first: begun first, so that no core waits in the end.
SLOW_FILES = (
    "examples/test_examples.py",
    "examples/test_documents.py",
    "conformance/test_envelopes.py",
    "games/goal/test_game.py",
    "games/match/test_match.py",
    "conformance/test_links.py",
    "conformance/test_levels.py",
    "cli/test_repair.py",
    "api/test_stage.py",
    "draw/raster/test_same_picture.py",
    "convert/levels/test_make.py",
    "cli/test_render_crowd.py",
    "api/test_stage_rules.py",
    "structure/test_layers.py",
    "convert/repair/test_recipe.py",
    "conformance/test_motion.py",
    "cli/test_convert.py",
    "tools/test_mannequin.py",
    "games/test_pinned.py",
    "bench/test_crowd.py",
    "maths/kernels/test_jit.py",
)


# No test asserts a time: machines that test are shared.
settings.register_profile("flexor", deadline=None)
settings.load_profile("flexor")


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


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: what looks for garbage need not look there."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def turn(item: pytest.Item) -> int:
    """When a test's turn comes: files that are not slow come last, as they are."""
    file = item.path.relative_to(ROOT / "tests").as_posix()
    return SLOW_FILES.index(file) if file in SLOW_FILES else len(SLOW_FILES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lost = [name for name in SLOW_FILES if not (ROOT / "tests" / name).exists()]
    if lost:
        raise pytest.UsageError(f"SLOW_FILES names files that are not there: {lost}")
    items.sort(key=turn)
    if HAS_JIT:
        return
    skip = pytest.mark.skip(reason="needs compiled kernels (NUMBA_DISABLE_JIT is set)")
    for item in items:
        if item.get_closest_marker("jit") or item.get_closest_marker("slow"):
            item.add_marker(skip)
