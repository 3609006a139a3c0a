"""flexor: real-time characters for Python.

    import flexor

    hero = flexor.load("hero.glb")
    pose = hero.pose("Walk", 0.4)
    for part in hero.deform(pose):
        print(part.node, part.primitive, part.positions.shape)
    flexor.save(hero, "out.glb")

Names are imported on first use, so `import flexor` is quick and loads no compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flexor import samples
    from flexor.app.character import Character, SkinnedPrimitive
    from flexor.app.load_save import load, save
    from flexor.errors import AssetError, FlexorError
    from flexor.pose.pose import Pose
    from flexor.scene.finding import Finding

__version__ = "0.1.0"

_HOMES = {
    "AssetError": "flexor.errors",
    "Character": "flexor.app.character",
    "Finding": "flexor.scene.finding",
    "FlexorError": "flexor.errors",
    "Pose": "flexor.pose.pose",
    "SkinnedPrimitive": "flexor.app.character",
    "load": "flexor.app.load_save",
    "samples": "flexor.samples",
    "save": "flexor.app.load_save",
}

__all__ = [
    "AssetError",
    "Character",
    "Finding",
    "FlexorError",
    "Pose",
    "SkinnedPrimitive",
    "__version__",
    "load",
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
