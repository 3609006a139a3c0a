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
from flexor.scene.finding import Finding

__all__ = ["Kit", "bounds", "dressed", "find_floor", "many", "reach", "views_of"]

MOST_DRESSES = 16
MOMENTS = 24  # of a clip, to see how far it reaches
MOST_POINTS = 3_000_000
NEAR_FLOOR = 0.12  # in sizes of the character
BELOW_FLOOR = 0.1  # share of its surface


@dataclass(slots=True, eq=False)
class Kit:
    """A character in a backend.

    samples: points on its surface; shadow_mesh: number of the grid for shadows; size:
    metres, the longest side of its bounds at rest; low: metres, where it stands at
    rest; has_skin: whether there is a surface, or lines, to draw; views: what is known
    of how the skin hangs; dresses: by what a style says about looks.
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


def bounds(points: NDArray[np.float32]) -> tuple[NDArray[np.float64], float]:
    """The lowest y of each moment (N,), and the longest side of the largest.

    points: (P, 3), or (N, P, 3) for N moments. What is not finite does not count; a
    single point has the size of 1 metre.
    """
    moments = points if points.ndim == 3 else points[None]
    is_finite = np.isfinite(moments)
    if moments.size and is_finite.all():
        low, high = moments.min(1), moments.max(1)
    else:
        is_whole = np.logical_and.reduce(is_finite, 2, keepdims=True)
        seen = np.logical_or.reduce(is_whole, 1)[:, 0]
        if not seen.any():
            return np.zeros(1), 1.0
        low = np.where(is_whole, moments, np.inf).min(1)[seen]
        high = np.where(is_whole, moments, -np.inf).max(1)[seen]
    size = float((high.astype(np.float64) - low).max())
    return low[:, 1].astype(np.float64), size if size > 0 else 1.0


def find_floor(kit: Kit, lows: NDArray[np.float64], size: float) -> float:
    """The height of the floor, from the lowest y of each moment (N,) of a motion.

    Where the character stands at rest, if the motion stands there at some moment, or
    a single pose is not far above or below: it may be in the air. Else its lowest.
    """
    apart = np.abs(lows - kit.low).min()
    most = (0.5 if len(lows) == 1 else NEAR_FLOOR) * size
    return kit.low if kit.has_skin and apart < most else float(lows.min())


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
    lows, size = bounds(points)
    samples = sample_surface(positions, faces)
    return Kit(
        backend,
        assets,
        findings,
        bones,
        samples,
        upload_shadow(backend),
        size,
        _stands_at(sample_points(samples, positions), float(lows[0]), size),
        has_skin,
        ViewAssets(character.scene, backend, assets.parts),
    )


def _stands_at(points: NDArray[np.float32], low: float, size: float) -> float:
    """Where a thing stands whose lowest point is at `low`: there, or at 0.

    points: (S, 3), spread over its surface. Most files have the floor at 0; a tool in
    a hand, or a tail, may hang below it all the same.
    """
    with np.errstate(invalid="ignore"):
        below = points[:, 1] < -0.01 * size
    is_near = abs(low) < NEAR_FLOOR * size
    return 0.0 if is_near and below.sum() <= BELOW_FLOOR * len(points) else low
