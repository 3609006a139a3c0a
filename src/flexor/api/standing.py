"""Players' characters in a world: feet on uneven ground, hips that give way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.api.character import Character
from flexor.api.playing import Player
from flexor.api.reaching import LIMBS, Limbs
from flexor.arrays import Doubles, Floats
from flexor.scene.human.human import find_human
from flexor.scene.stage.ground import Ground
from flexor.stage.figures import FigureState

__all__ = ["Cast", "Feet", "has_legs"]

LEGS = ("left leg", "right leg")
LIFTED = 0.12  # metres above where it stands, from which a foot is not turned
SOFT = 0.3  # of the way that hips sink or rise in a step


@dataclass(slots=True, eq=False)
class Cast:
    """The characters of a player as a world has them.

    figures: at which level each is seen; tints: float32 (N, 4), linear; feet: what puts
    them on the ground, None: clips have them; is_standing: whether places are brought
    to the height of the ground; before: float64 (N, 3), where they were after the last
    step, None before the first.
    """

    player: Player
    figures: FigureState
    tints: Floats
    feet: Feet | None
    is_standing: bool
    before: Doubles | None = None

    def measure(self, dt: float) -> None:
        """How fast each has gone since it was last asked, `dt` seconds ago."""
        places = self.player.places[..., 3].copy()
        if self.before is not None and dt > 0:
            way = places - self.before
            self.figures.pace[:] = np.sqrt((way * way).sum(1)) / dt
        self.before = places


def has_legs(hero: Character) -> bool:
    """Whether a character has two legs that can be put on the ground."""
    human = find_human(hero.skeleton, hero.scene.carried).nodes
    return all(part in human for leg in LEGS for part in LIMBS[leg])


class Feet:
    """Puts the feet of all characters of a player on a ground.

    sole: metres from a place up to the floor that clips were made for; sinks: float64
    (N,), metres that hips are lower than clips have them.
    """

    def __init__(self, player: Player, sole: float = 0.0) -> None:
        hero = player.hero
        human = find_human(hero.skeleton, hero.scene.carried).nodes
        self._ends = [human[LIMBS[leg][2]] for leg in LEGS]
        rest = hero.pose().world[self._ends, 1, 3]
        self.sole = sole
        self._flat = float(rest.mean()) - sole  # an ankle's height over flat ground
        self._legs = Limbs(hero, LEGS, keeps=True, count=player.count)
        self.sinks: Doubles = np.zeros(player.count)

    def apply(self, player: Player, ground: Ground) -> None:
        """Bring feet to the ground, over which the places of the player are; they sink
        as far as the lower foot needs, bit by bit.
        """
        ends = player.points(self._ends).astype(np.float64)
        base = player.places[:, 1, 3] + self.sole
        x, z = ends[..., 0], ends[..., 2]
        over = ends[..., 1] - base[:, None]  # the flat ground that clips were made for
        rise = ground.height(x, z) - base[:, None]
        self.sinks += SOFT * (np.minimum(rise.min(1), 0.0) - self.sinks)
        targets = ends.copy()
        targets[..., 1] = base[:, None] + over + rise
        player.places[:, 1, 3] += self.sinks
        share = np.clip(1 - (over - self._flat) / LIFTED, 0, 1)
        self._legs.apply(player, targets, tilts=_slopes(ground.normal(x, z), share))


def _slopes(normals: Doubles, share: Doubles) -> Doubles:
    """Rotations (..., 4) by a share (...) of the way from upright to normals."""
    way = normals.copy()
    way[..., [0, 2]] *= share[..., None]
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    turns = np.zeros((*share.shape, 4))
    turns[..., 0], turns[..., 2] = way[..., 2], -way[..., 0]
    turns[..., 3] = 1 + way[..., 1]
    found: Doubles = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
    return found
