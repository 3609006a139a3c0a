"""Backends for the tests of drawing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flexor.draw.backend import Backend, open_backend
from tests.conftest import HAS_JIT
from tests.draw.raster.slow import SlowBackend


def open_named(name: str) -> Backend:
    """A backend of the library, or "slow" for the twin of the rasteriser."""
    if name == "slow":
        return SlowBackend()
    if name == "raster" and not HAS_JIT:
        pytest.skip("needs compiled kernels (NUMBA_DISABLE_JIT is set)")
    return open_backend(name)


@pytest.fixture(params=["raster", "slow"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Everything that draws: the rasteriser, and its twin that the tests must fit."""
    opened = open_named(request.param)
    yield opened
    opened.close()


@pytest.fixture(params=["raster", "record", "slow"])
def any_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Everything that keeps the contract."""
    opened = open_named(request.param)
    yield opened
    opened.close()


@pytest.fixture
def raster() -> Iterator[Backend]:
    opened = open_named("raster")
    yield opened
    opened.close()
