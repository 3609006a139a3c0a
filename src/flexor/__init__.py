"""flexor: real-time characters for Python.

    import flexor

    hero = flexor.load("hero.glb")
    pose = hero.pose("Walk", 0.4)
    for part in hero.deform(pose):
        print(part.node, part.primitive, part.positions.shape)
    picture = flexor.draw(hero, pose)
    flexor.save(hero, "out.glb")

Names are imported on first use, so `import flexor` is quick and loads no compiler.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flexor import samples
    from flexor.api.character import Character
    from flexor.api.crowd import Crowd
    from flexor.api.goal import Goal
    from flexor.api.load_save import load, save
    from flexor.api.pictures.drawing import Drawer, contact_sheet, draw
    from flexor.api.playing import Player
    from flexor.api.reaching import Limbs, Look, Reach
    from flexor.api.repair.repair import repair
    from flexor.api.retargeting import retarget
    from flexor.api.skins import SkinnedPrimitive
    from flexor.api.stage import Stage
    from flexor.api.world import World
    from flexor.deform.weight_choice import WeightRule
    from flexor.draw.scene.style import DrawStyle
    from flexor.errors import AssetError, FlexorError
    from flexor.pose.crowd.level_choice import LevelRule
    from flexor.pose.play.layers import Layer
    from flexor.pose.pose import Pose
    from flexor.scene.character.camera import Camera
    from flexor.scene.character.light import Light
    from flexor.scene.finding import Finding

__version__ = "0.1.0"

_HOMES = {
    "AssetError": "flexor.errors",
    "Camera": "flexor.scene.character.camera",
    "Character": "flexor.api.character",
    "Crowd": "flexor.api.crowd",
    "DrawStyle": "flexor.draw.scene.style",
    "Drawer": "flexor.api.pictures.drawing",
    "Finding": "flexor.scene.finding",
    "FlexorError": "flexor.errors",
    "Goal": "flexor.api.goal",
    "Layer": "flexor.pose.play.layers",
    "LevelRule": "flexor.pose.crowd.level_choice",
    "Light": "flexor.scene.character.light",
    "Limbs": "flexor.api.reaching",
    "Look": "flexor.api.reaching",
    "Player": "flexor.api.playing",
    "Pose": "flexor.pose.pose",
    "Reach": "flexor.api.reaching",
    "SkinnedPrimitive": "flexor.api.skins",
    "Stage": "flexor.api.stage",
    "WeightRule": "flexor.deform.weight_choice",
    "World": "flexor.api.world",
    "contact_sheet": "flexor.api.pictures.drawing",
    "draw": "flexor.api.pictures.drawing",
    "load": "flexor.api.load_save",
    "repair": "flexor.api.repair.repair",
    "retarget": "flexor.api.retargeting",
    "samples": "flexor.samples",
    "save": "flexor.api.load_save",
}

__all__ = [
    "AssetError",
    "Camera",
    "Character",
    "Crowd",
    "DrawStyle",
    "Drawer",
    "Finding",
    "FlexorError",
    "Goal",
    "Layer",
    "LevelRule",
    "Light",
    "Limbs",
    "Look",
    "Player",
    "Pose",
    "Reach",
    "SkinnedPrimitive",
    "Stage",
    "WeightRule",
    "World",
    "__version__",
    "contact_sheet",
    "draw",
    "load",
    "repair",
    "retarget",
    "samples",
    "save",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'flexor' has no attribute {name!r}")
    module = import_module(home)
    return module if name == "samples" else getattr(module, name)


def __dir__() -> list[str]:
    return __all__


class _OldNames:
    """Asked for modules that nobody else finds: those that have other names now."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith(f"{__name__}."):
            return None
        from flexor.moved import find_moved

        return find_moved(name)


sys.meta_path.append(_OldNames)


class _Face(ModuleType):
    """Keeps `flexor.draw` the function: the import of the folder of the same name would
    put the folder in its place. What is in it comes by `from flexor.draw.x import y`.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        home = _HOMES.get(name, f"flexor.{name}")
        if home == f"flexor.{name}" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face
