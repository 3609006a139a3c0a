"""Real characters against positions that an independent engine computed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import flexor
from tests.conftest import asset_files, find_assets

FOLDER = find_assets()
FILES = [
    file
    for file in asset_files()
    if FOLDER is not None and (FOLDER / "reference" / f"{file.stem}.npz").exists()
]
# Rotations that are not of unit length or quantised are worth less in any engine.
ROUGH = {"Fox_gltfpack", "Robot_gltfpack_q", "SimpleSkin"}


def height_of(points: np.ndarray) -> float:
    """Extent along y of points (V, 3); of flat things the largest extent."""
    extent = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
    largest = float(extent.max())
    return float(extent[1]) if extent[1] > 1e-3 * largest else largest


@pytest.mark.skipif(not FILES, reason="no assets with references: set FLEXOR_ASSETS")
@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_skin_is_where_the_reference_has_it(file: Path) -> None:
    hero = flexor.load(file)
    clips = list(hero.clips)
    with np.load(file.parent / "reference" / f"{file.stem}.npz") as stored:
        reference = {key: stored[key] for key in stored.files}
    rest = [points for key, points in reference.items() if key.startswith("rest")]
    height = height_of(np.concatenate(rest))
    moments: dict[str, dict[str, np.ndarray]] = {}
    for key, points in reference.items():
        moment, part = key.split("/")
        moments.setdefault(moment, {})[part] = points
    worst = 0.0
    for moment, parts in moments.items():
        match = re.fullmatch(r"(?:rest|clip(\d+))@([\d.]+)", moment)
        assert match is not None
        pose = hero.pose()
        if match[1] is not None:
            pose = hero.pose(clips[int(match[1])], float(match[2]))
        skin = hero.deform(pose)
        assert [f"n{part.node}_p{part.primitive}" for part in skin] == list(parts)
        for part, expected in zip(skin, parts.values(), strict=True):
            assert part.positions.shape == expected.shape
            assert np.isfinite(part.positions).all()
            assert np.isfinite(part.normals).all()
            good = np.isfinite(expected).all(axis=1)
            gap = np.linalg.norm((part.positions - expected)[good], axis=1)
            worst = max(worst, float(gap.max(initial=0)))
    assert worst <= (1e-4 if file.stem in ROUGH else 2e-5) * height
