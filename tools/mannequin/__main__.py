"""`python -m tools.mannequin`: make the mannequin's file again."""

from __future__ import annotations

from pathlib import Path

import flexor
from flexor.files.gltf.write import write_gltf
from tools.mannequin.make import make_mannequin
from tools.mannequin.scene import make_scene

FILE = Path(flexor.samples.__file__).with_name("mannequin.glb")

write_gltf(make_scene(make_mannequin()), FILE)
