"""Files that we write, looked at by the Khronos glTF-Validator (needs node)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import flexor
from tests.conftest import asset_files

SCRIPT = Path(__file__).parent / "validate.mjs"


def validator_folder() -> Path:
    named = os.environ.get("FLEXOR_NODE")
    if shutil.which("node") is None:
        pytest.skip("no node")
    if named is None or not (Path(named) / "node_modules" / "gltf-validator").is_dir():
        pytest.skip("FLEXOR_NODE names no folder with npm's gltf-validator")
    return Path(named)


def errors_of(files: list[Path]) -> dict[str, list[str]]:
    """The validator's errors by file name."""
    environment = {**os.environ, "FLEXOR_NODE": str(validator_folder())}
    done = subprocess.run(
        ["node", str(SCRIPT), *map(str, files)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
        timeout=300,
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return {Path(name).name: errors for name, errors in found.items() if errors}


def test_the_validator_sees_errors(tmp_path: Path) -> None:
    bad = tmp_path / "bad.gltf"
    bad.write_text('{"asset": {"version": "2.0"}, "nodes": [{"mesh": 7}]}')
    assert list(errors_of([bad])) == ["bad.gltf"]


@pytest.mark.skipif(not asset_files(), reason="no assets: set FLEXOR_ASSETS")
@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_every_asset_written_again_is_valid(tmp_path: Path, ending: str) -> None:
    written = []
    for file in asset_files():
        target = tmp_path / (file.stem + ending)
        flexor.save(flexor.load(file), target)
        written.append(target)
    assert errors_of(written) == {}


def test_the_sample_is_valid(tmp_path: Path) -> None:
    target = tmp_path / "mannequin.glb"
    hero = flexor.samples.mannequin()
    flexor.save(hero.posed(hero.pose("walk", 0.4)), tmp_path / "posed.glb")
    flexor.save(hero, target)
    assert errors_of([target, tmp_path / "posed.glb"]) == {}
