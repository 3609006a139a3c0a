"""Reading, writing and reading again keeps everything."""

from __future__ import annotations

from pathlib import Path

import pytest

import flexor
from flexor.api.character import Character
from tests.conftest import asset_files
from tests.same import differences


@pytest.fixture(scope="module", params=asset_files(), ids=lambda file: file.stem)
def first(request: pytest.FixtureRequest) -> Character:
    """A character, read once for all that is written of it."""
    return flexor.load(request.param)


@pytest.mark.skipif(not asset_files(), reason="no assets: set FLEXOR_ASSETS")
@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_written_scene_equals_the_one_read(
    first: Character, ending: str, tmp_path: Path
) -> None:
    target = tmp_path / f"again{ending}"
    flexor.save(first, target)
    second = flexor.load(target)
    assert list(differences(first.scene, second.scene)) == []
    mended = {finding.code for finding in second.findings}
    assert not mended & {"weights-mended", "skin-root", "normals-length"}
