"""Pictures of a goalkeeper: its shadow."""

from __future__ import annotations

import numpy as np

from flexor.api.character import Character
from flexor.draw.backend import open_backend
from flexor.games.goal.keeper.drawing import KeeperPainter
from flexor.scene.character.standing import bounds
from tests.scenes import random_scene


def test_its_shadow_is_that_of_all_its_meshes(rng: np.random.Generator) -> None:
    """Not as large as the first of them, which may be a cap."""
    hero = Character(random_scene(rng))
    painter = KeeperPainter(open_backend("record"), hero, 2.0)
    own = [
        skin.positions
        for skin, has in zip(hero.deform(hero.pose()), painter._meshed, strict=True)
        if has
    ]
    whole = bounds(np.concatenate(own))[1]
    assert whole > 1.2 * bounds(own[0])[1]
    assert painter._shadow.size == 2.0 * whole
