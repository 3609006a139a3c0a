"""A character in a backend, made once and shared by everything that draws it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from flexor.api.pictures.drawable import Drawable
from flexor.api.pictures.views import ViewAssets, Views, check_views
from flexor.arrays import Ints
from flexor.deform.bind import pulling_nodes
from flexor.draw.backend import Backend, open_backend
from flexor.draw.items.bones import BoneAssets, bone_points, upload_bones
from flexor.draw.items.floor_shadow import (
    SurfaceSamples,
    sample_points,
    sample_surface,
    upload_shadow,
)
from flexor.draw.scene.build import Dress, dress_scene
from flexor.draw.scene.style import DrawStyle
from flexor.draw.scene.upload import SceneAssets, upload_scene
from flexor.pose.pose import Pose
from flexor.scene.character import standing
from flexor.scene.finding import Finding

__all__ = ["Kit", "dressed", "find_floor", "many", "reach", "views_of"]

MOST_DRESSES = 16
MOMENTS = 24  # of a clip, to see how far it reaches
MOST_POINTS = 3_000_000


@dataclass(slots=True, eq=False)
class Kit:
    """A character in a backend.

    samples: points on its surface; shadow_mesh: number of the grid for shadows; size:
    metres, the longest side of its bounds at rest; low: metres, where it stands at
    rest; has_skin: whether there is a surface, or lines, to draw; nodes: int32 (P,),
    those that the surface hangs on, all where there is none; views: what is known of
    how the skin hangs; dresses: by what a style says about looks.
    """

    backend: Backend
    assets: SceneAssets
    findings: tuple[Finding, ...]
    bones: BoneAssets
    samples: SurfaceSamples
    shadow_mesh: int
    size: float
    low: float
    has_skin: bool
    nodes: Ints
    views: ViewAssets
    dresses: dict[tuple[Any, ...], Dress] = field(default_factory=dict)


# A kit holds the scene but not the character, so that it goes when the character does.
_KITS: WeakKeyDictionary[Drawable, dict[str, Kit]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def dressed(
    character: Drawable, style: DrawStyle, backend: str = "raster"
) -> tuple[Kit, Dress]:
    """The character in a backend, and in a style; both made once and kept."""
    key = (
        style.style,
        style.heat,
        style.show,
        style.joints,
        style.smooth,
        style.line_width,
        style.line_colour,
        style.crease,
        style.cel_bands,
        style.opacity,
    )
    check_views(character.scene, style)
    with _LOCK:
        kits = _KITS.setdefault(character, {})
        kit = kits.get(backend)
        if kit is None or (key not in kit.dresses and len(kit.dresses) >= MOST_DRESSES):
            # Backends cannot give back a single mesh: after many styles, start anew.
            kit = kits[backend] = _make_kit(character, backend)
        if key not in kit.dresses:
            kit.dresses[key] = dress_scene(kit.assets, style)
        return kit, kit.dresses[key]


def views_of(kit: Kit, style: DrawStyle) -> Views | None:
    """What a style shows beside the surface; None if that is nothing."""
    if not style.show:
        return None
    with _LOCK:
        return Views(kit.views, style, kit.size)


def reach(
    character: Drawable, kit: Kit, what: str | Pose | None
) -> NDArray[np.float32]:
    """All there is to see of a clip, a pose or many, or at rest: points (N, P, 3)."""
    if isinstance(what, Pose):
        poses = what if what.is_many else many(what)
    elif what is None:
        poses = character.pose_many(None, [0.0])
    else:
        last = character.clip_tables(what).duration
        vertices = sum(bind.vertex_count for bind in character.binds)
        count = min(MOMENTS, max(2, MOST_POINTS // max(vertices, 1)))
        poses = character.pose_many(what, np.linspace(0, last, count))
    if not kit.has_skin:
        return np.stack([bone_points(kit.bones, world) for world in poses.world])
    skins = character.deform_many(poses)
    return np.concatenate([skin.positions for skin in skins], 1)


def find_floor(kit: Kit, lows: NDArray[np.float64], size: float) -> float:
    """The height of the floor, from the lowest y of each moment (N,) of a motion."""
    if not kit.has_skin:
        return float(lows.min())
    return standing.find_floor(kit.low, lows, size)


def many(pose: Pose) -> Pose:
    """A single pose as a pose of one moment."""
    return Pose(
        pose.translations[None],
        pose.rotations[None],
        pose.scales[None],
        pose.world[None],
        pose.weights[None],
    )


def _make_kit(character: Drawable, name: str) -> Kit:
    backend = open_backend(name)
    assets, findings = upload_scene(backend, character.scene)
    bones = upload_bones(backend, character.scene)
    rest = character.pose()
    positions = [skin.positions for skin in character.deform(rest)]
    none = np.zeros((0, 3), np.int32)
    faces = [none if part.mesh is None else part.mesh.faces for part in assets.parts]
    has_skin = any(p.mesh is not None or p.ends is not None for p in assets.parts)
    points = np.concatenate(positions) if has_skin else bone_points(bones, rest.world)
    lows, size = standing.bounds(points)
    samples = sample_surface(positions, faces)
    nodes = pulling_nodes(character.scene)
    return Kit(
        backend,
        assets,
        findings,
        bones,
        samples,
        upload_shadow(backend),
        size,
        standing.stands_at(sample_points(samples, positions), float(lows[0]), size),
        has_skin,
        nodes if len(nodes) else np.arange(len(rest.world), dtype=np.int32),
        ViewAssets(character.scene, backend, assets.parts),
    )
