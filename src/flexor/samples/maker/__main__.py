"""`python -m flexor.samples.maker`: make the mannequin's file again."""

from __future__ import annotations

from pathlib import Path

from flexor.files.gltf.write import write_gltf
from flexor.samples.maker.make import make_mannequin
from flexor.samples.maker.scene import make_scene

write_gltf(make_scene(make_mannequin()), Path(__file__).parents[1] / "mannequin.glb")
