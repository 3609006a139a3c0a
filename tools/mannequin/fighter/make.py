"""The second file: clips for a fight, on the mannequin's skeleton alone."""

from __future__ import annotations

import numpy as np

from flexor.convert.motion.reduce import MotionSettings, reduce_motion
from flexor.scene.scene import RootSet, Scene
from tools.mannequin.clips import Recipe, make_clip
from tools.mannequin.fighter.collapses import (
    make_collapse_back,
    make_collapse_front,
    make_collapse_left,
)
from tools.mannequin.fighter.falls import make_down_back, make_down_front
from tools.mannequin.fighter.lying import make_lie_back, make_lie_front
from tools.mannequin.fighter.rises import make_rise_back, make_rise_front
from tools.mannequin.fighter.steps import (
    STEP_SPEED,
    make_advance,
    make_crouch,
    make_hit_low,
    make_low_kick,
    make_retreat,
)
from tools.mannequin.fighter.throws import make_throw, make_thrown
from tools.mannequin.nodes import build_nodes
from tools.mannequin.scene import clip_of, skeleton_of

__all__ = ["ERROR", "RECIPES", "make_fighter", "reduced"]

ERROR = 3e-4
"""Metres by which a point may be off in the file."""

RECIPES = {
    "advance": Recipe(make_advance, is_loop=True, velocity=(0.0, 0.0, STEP_SPEED)),
    "retreat": Recipe(make_retreat, is_loop=True, velocity=(0.0, 0.0, -STEP_SPEED)),
    "crouch": Recipe(make_crouch),
    "low-kick": Recipe(make_low_kick),
    "hit-low": Recipe(make_hit_low),
    "throw": Recipe(make_throw),
    "thrown": Recipe(make_thrown),
    "down-back": Recipe(make_down_back),
    "down-front": Recipe(make_down_front),
    "lie-back": Recipe(make_lie_back, is_loop=True),
    "lie-front": Recipe(make_lie_front, is_loop=True),
    "rise-back": Recipe(make_rise_back),
    "rise-front": Recipe(make_rise_front),
    "collapse-back": Recipe(make_collapse_back),
    "collapse-front": Recipe(make_collapse_front),
    "collapse-left": Recipe(make_collapse_left),
}


def make_fighter() -> Scene:
    """The clips on bare joints; about 20 s. Needs the mannequin's file for its skin."""
    nodes = build_nodes()
    skeleton = skeleton_of(nodes)
    joints = len(nodes.names)
    none = np.full(joints, -1, np.int32)
    clips = {
        name: clip_of(make_clip(name, recipe, nodes), nodes.names)
        for name, recipe in RECIPES.items()
    }
    return Scene(
        skeleton,
        none,
        none,
        clips=clips,
        root_sets=(RootSet("fighter", (0,)),),
        default_set=0,
    )


def reduced(scene: Scene) -> Scene:
    """The same motion in a tenth of the bytes: no point is off by more than ERROR."""
    return reduce_motion(scene, MotionSettings(error=ERROR))[0]
