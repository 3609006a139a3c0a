"""Modules by the names that version 0.1 gave them: they still load, with a warning.

The table holds what documents and examples of version 0.1 imported, and the homes of
public classes. It goes with the next version.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "find_moved"]

# Old name: new name, below `flexor`. A room that is gone has no new name.
MOVED: dict[str, str | None] = {
    "app": None,
    "app.character": "api.character",
    "app.cli": None,
    "app.cli.inspect": "cli.inspect",
    "app.cli.progress": "cli.progress",
    "app.crowd": "api.crowd",
    "app.drawing": "api.pictures.drawing",
    "app.goal": "api.goal",
    "app.joint_pictures": "api.repair.joint_pictures",
    "app.load_save": "api.load_save",
    "app.play": None,
    "app.play.game": "games.game",
    "app.play.sounds": "games.sounds",
    "app.playing": "api.playing",
    "app.reaching": "api.reaching",
    "app.repairing": "api.repair.repair",
    "app.retargeting": "api.retargeting",
    "app.stage": "api.stage",
    "convert.body": "convert.shape.body",
    "convert.hit_volumes": "convert.shape.hit_volumes",
    "convert.link_bones": "convert.links.link_bones",
    "convert.reduce_motion": "convert.motion.reduce",
    "deform.skin_dual": "deform.dual",
    "deform.skin_envelope": "deform.envelope",
    "deform.skin_vertices": "deform.vertices",
    "draw.build": "draw.scene.build",
    "draw.fit": "draw.scene.fit",
    "draw.ground": "draw.items.grid",
    "draw.ground_items": "draw.items.ground.build",
    "draw.lighting": "draw.scene.lighting",
    "draw.shadow_items": "draw.items.shadows",
    "draw.style": "draw.scene.style",
    "draw.upload": "draw.scene.upload",
    "files.bvh_read": "files.bvh",
    "files.effects_read": "files.text.effects",
    "files.levels_read": "files.text.levels",
    "files.limits_read": "files.text.limits",
    "files.moves_read": "files.text.moves",
    "files.package_clips": "files.package.clips",
    "files.package_levels": "files.package.levels",
    "files.package_motion": "files.package.motion",
    "files.stage_read": "files.text.stage",
    "pose.correct": "pose.ik.correct",
    "pose.cut_clip": "pose.clips.cut",
    "pose.human_limits": "pose.ik.human_limits",
    "pose.layers": "pose.play.layers",
    "pose.level_choice": "pose.crowd.level_choice",
    "pose.limit_angles": "pose.ik.limit_angles",
    "pose.mirror_clip": "pose.clips.mirror",
    "pose.motion_set": "pose.play.motion_set",
    "pose.node_motion": "pose.crowd.node_motion",
    "pose.player": "pose.play.player",
    "pose.reach": "pose.ik.reach",
    "pose.retarget": "pose.clips.retarget.retarget",
    "pose.retarget_plan": "pose.clips.retarget.plan",
    "pose.root_motion": "pose.clips.root_motion",
    "pose.voices": "pose.play.voices",
    "scene.camera": "scene.character.camera",
    "scene.clip": "scene.character.clip",
    "scene.effect_settings": "scene.stage.effect_settings",
    "scene.ground": "scene.stage.ground",
    "scene.ground_shapes": "scene.stage.ground_shapes",
    "scene.humans": "scene.human.human",
    "scene.light": "scene.character.light",
    "scene.material": "scene.character.material",
    "scene.mesh": "scene.character.mesh",
    "scene.moves": "scene.stage.moves",
    "scene.node_table": "scene.runtime.node_table",
    "scene.skeleton": "scene.character.skeleton",
    "scene.stage_plan": "scene.stage.plan",
    "scene.stage_settings": "scene.stage.settings",
    "scene.structure": "scene.stage.structure",
    "scene.weights": "scene.character.weights",
    "scene.zone": "scene.stage.zone",
}


class _Loader:
    """Gives the module of the new name under the old one: one module, two names."""

    def __init__(self, new: str | None) -> None:
        self._new = new
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if self._new is None:
            return ModuleType(spec.name, "A room of version 0.1.")
        module = import_module(self._new)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        if self._spec is not None:
            module.__spec__ = self._spec  # the import has put the old one there


def find_moved(name: str) -> ModuleSpec | None:
    """How to load a module by its old name; None where it never had that name."""
    inner = name.partition(".")[2]
    if inner not in MOVED:
        return None
    new = MOVED[inner]
    if new is None:
        return ModuleSpec(name, _Loader(None), is_package=True)  # type: ignore[arg-type]
    warnings.warn(
        f"{name} is flexor.{new} now; the old name goes with the next version",
        DeprecationWarning,
        stacklevel=3,  # who imports; the frames of importlib do not count
    )
    return ModuleSpec(name, _Loader(f"flexor.{new}"))  # type: ignore[arg-type]
