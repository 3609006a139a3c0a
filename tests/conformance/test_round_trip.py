"""Reading, writing and reading again keeps everything."""

from __future__ import annotations

from pathlib import Path

import pytest

import flexor
from tests.conftest import asset_files
from tests.same import differences


@pytest.mark.skipif(not asset_files(), reason="no assets: set FLEXOR_ASSETS")
@pytest.mark.parametrize("ending", [".glb", ".gltf"])
@pytest.mark.parametrize("file", asset_files(), ids=lambda file: file.stem)
def test_written_scene_equals_the_one_read(
    file: Path, ending: str, tmp_path: Path
) -> None:
    first = flexor.load(file)
    target = tmp_path / f"again{ending}"
    flexor.save(first, target)
    second = flexor.load(target)
    assert list(differences(first.scene, second.scene)) == []
    mended = {finding.code for finding in second.findings}
    assert not mended & {"weights-mended", "skin-root", "normals-length"}
