"""Players of small random characters for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.api.character import Character
from flexor.maths import quaternions, transforms
from flexor.pose.layout import ROWS
from flexor.pose.play.kernels import player as kernel_player
from flexor.pose.play.layers import Layer
from flexor.pose.play.motion_set import make_motion_set
from flexor.pose.play.player import PlayerState, advance, init_player
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import Scene
from tests.scenes import plain_scene, random_skeleton

Rng = np.random.Generator


def player_of(scene: Scene, count: int = 1, *layers: Layer, **more: Any) -> PlayerState:
    """A player of all clips of a scene."""
    hero = Character(scene)
    motions = make_motion_set(scene.clips.values(), hero.layout)
    return init_player(motions, count, layers or None, **more)


def parts_of(state: PlayerState) -> tuple[Any, Any, Any]:
    """Local translations (N, J, 3), rotations (N, J, 4), scales (N, J, 3)."""
    layout = state.motions.layout
    shape = (state.count, ROWS, layout.lane_count)
    rows = state.local.reshape(shape)[..., layout.lane_of_node].swapaxes(1, 2)
    return rows[..., :3], rows[..., 3:7], rows[..., 7:]


def positions(state: PlayerState, layer: int = 0) -> Any:
    """Where the voices that are faded to are in their clips: (N,)."""
    levels = len(state.layers)
    rows = np.arange(state.count) * levels + layer
    voices = len(state._voices) // len(state._targets)
    return state._voices[rows * voices + state._targets[rows], kernel_player.POSITION]


def smooth_clip(
    rng: Rng, name: str, nodes: int, seconds: float = 1.0, *, is_closed: bool = True
) -> Clip:
    """Turns and places of all nodes, smooth, 33 keys; the last one like the first."""
    times = np.linspace(0, seconds, 33).astype(np.float32)
    angle = 2 * np.pi * np.arange(33) / (32 if is_closed else 60)
    tracks = []
    for node in range(nodes):
        waves = np.stack([np.sin(angle), np.cos(angle), np.sin(2 * angle)], 1)
        moved = waves @ rng.normal(0, 0.2, (3, 3))
        turned = np.concatenate(
            [waves @ rng.normal(0, 0.2, (3, 3)), np.ones((33, 1))], 1
        )
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        if is_closed:
            moved[-1], turned[-1] = moved[0], turned[0]
        tracks.append(Track(node, "translation", times.copy(), moved))
        tracks.append(Track(node, "rotation", times.copy(), turned))
    return Clip(name, tuple(tracks))


def smooth_scene(rng: Rng, nodes: int = 5) -> Scene:
    """Clips "a" (1 s), "b" (0.7 s), "c" (1.3 s) that loop without a jump.

    No two turns are far apart: halfway between opposite ones there is no way to go.
    """
    tree = random_skeleton(rng, nodes)
    turns = quaternions.normalise(
        np.array([0, 0, 0, 1]) + rng.normal(0, 0.2, (nodes, 4))
    )
    skeleton = Skeleton(tree.names, tree.parents, tree.translations, turns, tree.scales)
    clips = [
        smooth_clip(rng, name, nodes, seconds)
        for name, seconds in (("a", 1.0), ("b", 0.7), ("c", 1.3))
    ]
    return plain_scene(skeleton, *clips)


def shown(state: PlayerState) -> Any:
    """Local matrices (N, J, 3, 4): the sign of a quaternion does not show in them."""
    return transforms.compose(*parts_of(state))


def run(state: PlayerState, steps: int, dt: float) -> Any:
    """Local matrices after each of some steps: (steps, N, J, 3, 4)."""
    made = []
    for _ in range(steps):
        advance(state, dt)
        made.append(shown(state))
    return np.stack(made)
