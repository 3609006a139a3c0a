"""`python -m tools.mannequin`: make the mannequin's files again."""

from __future__ import annotations

from pathlib import Path

import flexor
from flexor.api.character import Character
from flexor.files.gltf.write import write_gltf
from tools.mannequin.fighter.make import make_fighter, reduced
from tools.mannequin.make import make_mannequin
from tools.mannequin.scene import make_scene

FOLDER = Path(flexor.samples.__file__).parent

write_gltf(make_scene(make_mannequin()), FOLDER / "mannequin.glb")
flexor.save(Character(reduced(make_fighter())), FOLDER / "fighter.flexor")
