"""How what `flexor convert` makes is compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import flexor
from flexor.api.character import Character
from tests.cli.conftest import Done
from tests.scenes import random_scene


def fill(made: Path) -> Path:
    """Two small characters, the mannequin twice, and what is none."""
    for name, seed in (("hero", 5), ("other", 6)):
        scene = random_scene(np.random.default_rng(seed), vertices=50)
        flexor.save(Character(scene), made / f"{name}.glb")
    mannequin = flexor.samples.mannequin()
    for ending in ("glb", "flexor"):
        flexor.save(mannequin, made / f"mannequin.{ending}")
    (made / "broken.glb").write_bytes(b"glTF\2\0\0\0")
    (made / "twin").mkdir()
    flexor.save(flexor.load(made / "other.glb"), made / "twin" / "hero.gltf")
    return made


def refused(done: Done, text: str) -> None:
    """One line on standard error, nothing else."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("flexor: ")
    assert done.err.count("\n") == 1
    assert text in done.err
