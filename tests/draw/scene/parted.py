"""Characters to draw part by part, and whole beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from flexor.api.character import Character, Weights
from flexor.deform.envelope import trace_envelope
from flexor.draw.backend import Backend
from flexor.draw.scene.build import Dress, build_items, dress_scene
from flexor.draw.scene.envelope_sink import EnvelopeDraw
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.draw.scene.upload import upload_scene
from flexor.pose.pose import Pose
from flexor.scene.character.material import Material, TextureRef
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.weights import SkinWeights
from flexor.scene.scene import Scene
from tests.draw.scenes import png, skeleton, square_scene
from tests.draw.shapes import sphere
from tests.scenes import bound_skin

CHECKER = png(np.random.default_rng(1).integers(0, 256, (8, 8, 3)))


def dressed(backend: Backend, scene: Scene, style: DrawStyle | str = "shaded") -> Dress:
    assets, findings = upload_scene(backend, scene)
    assert not findings
    return dress_scene(assets, style_of(style))


def whole(hero: Character, dress: Dress, pose: Pose, weights: Weights) -> Any:
    """Items and lines as a character is usually drawn."""
    skins = hero.deform(pose, weights=weights)
    positions, normals = [s.positions for s in skins], [s.normals for s in skins]
    return build_items(dress, positions, normals, pose.world)


def by_parts(hero: Character, dress: Dress, pose: Pose, weights: Weights) -> Any:
    """The same through an envelope, whose buffer is spoilt after each part."""
    sink = EnvelopeDraw(dress, getattr(hero.envelopes, weights))

    def take(part: int, area: Any) -> None:
        sink(part, area)
        area[:] = np.nan

    state = hero.envelope_state(weights)
    trace_envelope(state, pose.world, pose.weights, take)
    return sink.items(pose.world)


# Scenes to draw


def tube(**more: Any) -> Scene:
    """A ball drawn out along y, on a chain of five joints, two of which pull each
    vertex; the surface is closed, so that what is inside out is seen at once.
    """
    shape = sphere(0.5, 16, 24)
    positions = shape.positions * (1, 3, 1)
    places = np.array([(0, -1.2, 0), *[(0, 0.6, 0)] * 4])
    nodes = replace(skeleton(5), translations=places)
    at = np.clip((positions[:, 1] + 1.2) / 0.6, 0, 3.999)
    low = at.astype(int)
    weights = SkinWeights(
        np.stack([low, low + 1], 1), np.stack([1 - at + low, at - low], 1)
    )
    primitive = Primitive(
        positions,
        np.array(shape.normals),
        texcoords=(np.array(shape.texcoords),),
        indices=np.ravel(shape.faces),
        material=0,
        skin=weights,
        **more,
    )
    scene = square_scene(Material(base_texture=TextureRef(0)), CHECKER)
    owner = np.array([0, -1, -1, -1, -1])
    mesh = Mesh("tube", (primitive,), np.zeros(len(primitive.targets)))
    return replace(
        scene,
        skeleton=nodes,
        node_mesh=owner,
        node_skin=owner.copy(),
        meshes=(mesh,),
        skins=(bound_skin(nodes, np.arange(5)),),
    )


def bent(hero: Character, angle: float = 0.5, **more: Any) -> Pose:
    """Every joint turned about z by `angle` radians."""
    count = len(hero.skeleton)
    turn = [0, 0, np.sin(angle / 2), np.cos(angle / 2)]
    return hero.pose_from(rotations=np.tile(turn, (count, 1)), **more)
