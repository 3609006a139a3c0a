"""The made mannequin as a scene."""

from __future__ import annotations

import numpy as np

from flexor.maths import transforms
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.material import (
    Image,
    Material,
    Sampler,
    Texture,
    TextureRef,
)
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import RootSet, Scene
from tools.mannequin.clips import ClipParts
from tools.mannequin.make import MannequinParts
from tools.mannequin.nodes import NodeTable

__all__ = ["clip_of", "make_scene", "skeleton_of"]


def make_scene(parts: MannequinParts) -> Scene:
    """One skinned mesh on a node after the joints, one material, the clips."""
    joints = len(parts.names)
    none, one = np.full(joints, -1, np.int32), np.zeros(1, np.int32)
    skeleton = Skeleton(
        (*parts.names, "mannequin"),
        np.append(parts.parents, -1),
        np.vstack([parts.translations, np.zeros(3)]),
        np.vstack([parts.rotations, [0, 0, 0, 1]]),
        np.ones((joints + 1, 3), np.float32),
    )
    primitive = Primitive(
        parts.positions,
        parts.normals,
        texcoords=(parts.texcoords,),
        indices=parts.faces.astype(np.uint32).ravel(),
        material=0,
        skin=SkinWeights(parts.joints, parts.weights),
    )
    wood = Material("wood", base_texture=TextureRef(0), metallic=0.0, roughness=0.55)
    binds = transforms.invert(rest_world(skeleton)[:joints])
    return Scene(
        skeleton,
        np.append(none, one),
        np.append(none, one),
        (Mesh("mannequin", (primitive,)),),
        (Skin("mannequin", np.arange(joints, dtype=np.int32), binds, 0),),
        {clip.name: clip_of(clip, parts.names) for clip in parts.clips},
        (wood,),
        (Texture("wood", 0, 0),),
        (Sampler("", 9729, 9987),),
        (Image("wood", parts.texture_png, "image/png"),),
        (RootSet("mannequin", (0, joints)),),
        0,
    )


def skeleton_of(nodes: NodeTable) -> Skeleton:
    """The joints alone."""
    return Skeleton(
        nodes.names,
        nodes.parents,
        nodes.translations.astype(np.float32),
        nodes.rotations.astype(np.float32),
        np.ones((len(nodes.names), 3), np.float32),
    )


def clip_of(clip: ClipParts, names: tuple[str, ...]) -> Clip:
    """A made clip with its tracks by node."""
    tracks = [Track(0, "translation", clip.times, clip.hips_translation)]
    ends = clip.times[[0, -1]]
    for name, turns in clip.rotations.items():
        times = clip.times if len(turns) == len(clip.times) else ends
        tracks.append(Track(names.index(name), "rotation", times, turns))
    speed = round(float(np.linalg.norm(clip.velocity)), 6)
    extras: dict[str, object] = {"speed": speed, "loop": clip.is_loop}
    if speed:
        extras["velocity"] = list(clip.velocity)
    return Clip(clip.name, tuple(tracks), {"extras": extras})
