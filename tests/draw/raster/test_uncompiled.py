"""The kernels as plain Python, where every index is checked: same pictures."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from tests.conftest import HAS_JIT
from tests.draw.golden_scenes import SCENES, draw_scene
from tests.draw.test_golden import GOLDEN, read

pytestmark = pytest.mark.skipif(HAS_JIT, reason="for NUMBA_DISABLE_JIT alone")


@pytest.mark.parametrize("name", list(SCENES))
def test_picture(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", "1")
    backend = open_backend("raster")
    with np.errstate(all="ignore"):  # compiled code knows no such warnings
        have = draw_scene(backend, name)
    wrong = abs(have.astype(int) - read(GOLDEN / f"{name}.png")).max(-1)
    # Without fused multiplication a few edges and levels of detail fall otherwise.
    assert (wrong > 2).mean() < 0.01
