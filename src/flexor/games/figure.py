"""Characters of any file made as tall as others, so that they fit a game."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexor.api.character import Character

__all__ = ["as_tall_as"]


def _height(hero: Character) -> float:
    """Metres from the lowest to the highest point at rest."""
    skins = [skin.positions for skin in hero.deform(hero.pose())]
    points = np.concatenate([np.zeros((1, 3)), *skins])[:, 1]
    points = points[np.isfinite(points)]
    return float(points.max() - points.min())


def as_tall_as(hero: Character, other: Character) -> Character:
    """The hero, scaled as a whole to the height of another, on the ground.

    Clips of its own would still be of its own size: it is for characters that get
    theirs afterwards.
    """
    tall = _height(hero)
    if not tall > 0:
        return hero
    size = np.float32(_height(other) / tall)
    skeleton = hero.skeleton
    is_root = skeleton.parents < 0
    translations, scales = skeleton.translations.copy(), skeleton.scales.copy()
    translations[is_root] *= size
    scales[is_root] *= size
    scaled = replace(skeleton, translations=translations, scales=scales)
    return Character(replace(hero.scene, skeleton=scaled))
