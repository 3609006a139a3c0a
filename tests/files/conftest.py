"""Fixtures of the tests of files."""

from __future__ import annotations

import pytest

from flexor.files.bvh import read_bvh
from flexor.scene.scene import Scene
from tests.files.bvh_text import Read


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    path = tmp_path_factory.mktemp("bvh") / "walk.bvh"

    def read_text(text: str | bytes) -> Scene:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_bvh(path)

    return read_text
