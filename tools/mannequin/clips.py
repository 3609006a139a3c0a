"""The mannequin's clips: authored sheets turned into keys.

Every clip has 60 keys a second, rotation tracks (x, y, z, w) for the joints that leave
their rest and one translation track for the hips. Looping clips end on their first key.
A joint that is held all the time, such as those of a fist, has two keys.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Floats
from tools.mannequin.actions import make_fall, make_jump
from tools.mannequin.duel import (
    make_cheer,
    make_guard,
    make_hit,
    make_parry,
    make_recoil,
    make_stance,
)
from tools.mannequin.fight import make_kick, make_punch
from tools.mannequin.footwork import SIDESTEP_SPEED, make_sidestep, make_spin_kick
from tools.mannequin.gait import RUN, WALK, make_idle, make_run, make_walk
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet
from tools.mannequin.rotation import quaternion_from_matrix, same_hemisphere

Point = tuple[float, float, float]
_STILL = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class ClipParts:
    """One clip as plain arrays.

    name; velocity: over the ground in m/s, x to the left, z ahead (all 0 where the
    figure does not travel);
    is_loop: whether the last key equals the first; times: float32 (T,), seconds.
    rotations: node name -> float32 (T, 4) xyzw, local, or (2, 4) for the first and the
    last time where the joint is held; hips_translation: (T, 3), m.
    """

    name: str
    velocity: Point
    is_loop: bool
    times: Floats
    rotations: Mapping[str, Floats]
    hips_translation: Floats


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a clip is made, and what is told about it."""

    make: Callable[[NodeTable], Sheet]
    is_loop: bool = False
    velocity: Point = (0.0, 0.0, 0.0)


_RECIPES = {
    "idle": Recipe(make_idle, is_loop=True),
    "walk": Recipe(make_walk, is_loop=True, velocity=(0.0, 0.0, WALK.speed)),
    "run": Recipe(make_run, is_loop=True, velocity=(0.0, 0.0, RUN.speed)),
    "punch": Recipe(make_punch),
    "kick": Recipe(make_kick),
    "jump": Recipe(make_jump),
    "fall": Recipe(make_fall),
    "stance": Recipe(make_stance, is_loop=True),
    "guard": Recipe(make_guard),
    "parry": Recipe(make_parry),
    "hit": Recipe(make_hit),
    "recoil": Recipe(make_recoil),
    "sidestep": Recipe(
        make_sidestep, is_loop=True, velocity=(SIDESTEP_SPEED, 0.0, 0.0)
    ),
    "spin-kick": Recipe(make_spin_kick),
    "cheer": Recipe(make_cheer, is_loop=True),
}


def build_clips(nodes: NodeTable) -> tuple[ClipParts, ...]:
    """Make every clip of the mannequin."""
    return tuple(make_clip(name, recipe, nodes) for name, recipe in _RECIPES.items())


def make_clip(name: str, recipe: Recipe, nodes: NodeTable) -> ClipParts:
    """The keys of one clip."""
    sheet = recipe.make(nodes)
    local = sheet.solve().local
    hips = sheet.hips.copy()
    if recipe.is_loop:
        local[-1], hips[-1] = local[0], hips[0]
    rotations: dict[str, Floats] = {}
    for row, node in enumerate(nodes.names):
        track = quaternion_from_matrix(local[:, row])
        if np.all(np.abs(np.abs(track @ nodes.rotations[row]) - 1.0) < _STILL):
            continue
        keys = same_hemisphere(track).astype(np.float32)
        is_held = bool(np.all(np.abs(keys - keys[0]) < _STILL))
        rotations[node] = keys[[0, 0]] if is_held else keys
    return ClipParts(
        name=name,
        velocity=recipe.velocity,
        is_loop=recipe.is_loop,
        times=sheet.times.astype(np.float32),
        rotations=rotations,
        hips_translation=hips.astype(np.float32),
    )
