"""Cross-sections of bones as what a backend draws: ellipses at base and tip, joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.draw.drawlist import DrawLines
from flexor.scene.character.camera import Camera

__all__ = ["SectionShapes", "build_sections", "trim_lines"]

SIDES = 6  # lines from base to tip
HIDDEN = 0.55  # how much is left of a line behind the skin
THIN, BOLD = 0.55, 1.25  # widths: of sides and axes, of ellipses; in those of strokes
AXIS = (0.03, 0.03, 0.04)  # linear


@dataclass(frozen=True, slots=True, eq=False)
class SectionShapes:
    """Ellipses of S bones, in the frames of the nodes that they go with.

    nodes: int32 (S,); rings: float32 (S, 2, P, 3), at base and tip; axes: float32
    (S, 2, 3), base and tip of the bone; colours: float32 (S, 3), linear; part: the
    number that the part buffer has for them.
    """

    nodes: Ints
    rings: Floats
    axes: Floats
    colours: Floats
    part: int = 0


def build_sections(
    shapes: SectionShapes,
    world: Floats,
    width: float,
    camera: Camera,
    size: tuple[int, int],
) -> tuple[DrawLines, ...]:
    """Lines of a pose, fainter where the skin is in front of them.

    world: float32 (J, 3, 4), world_from_node; width: of strokes, pixels; size: of the
    picture.
    """
    if not len(shapes.nodes):
        return ()
    frames = world[shapes.nodes]
    rings, axes = _placed(frames, shapes.rings), _placed(frames, shapes.axes)
    count = rings.shape[2]
    ends = np.stack([rings, np.roll(rings, -1, 2)], 3)
    # Bones without a length have one ellipse, drawn once.
    long = (shapes.axes[:, 0] != shapes.axes[:, 1]).any(1)
    tint = shapes.colours.astype(np.float32)
    bold = [(ends[:, 0], tint), (ends[long, 1], tint[long])]
    beside = rings[long][:, :, :: max(count // SIDES, 1)].swapaxes(1, 2)
    dark = np.tile(np.array(AXIS, np.float32), (int(long.sum()), 1))
    thin = [(beside, tint[long]), (axes[long][:, None], dark)]
    lines: list[DrawLines] = []
    for groups, wide in ((bold, BOLD), (thin, THIN)):
        points = np.concatenate([one.reshape(-1, 2, 3) for one, _ in groups])
        colours = np.concatenate(
            [np.repeat(own, one.shape[1], axis=0) for one, own in groups]
        )
        points = np.ascontiguousarray(points, np.float32)
        front = np.ones((len(points), 4), np.float32)
        front[:, :3] = colours
        behind = front.copy()
        behind[:, 3] = HIDDEN
        pixels = width * wide
        cut = trim_lines(points, pixels, camera, size)
        lines.append(DrawLines(points, front, pixels, shapes.part))
        lines.append(DrawLines(cut, behind, pixels, shapes.part, layer=1))
    return tuple(lines)


def trim_lines(
    points: Floats, width: float, camera: Camera, size: tuple[int, int]
) -> Floats:
    """Lines (L, 2, 3) shorter by half their width at both ends.

    Ends reach so far beyond: lines of a chain would cover each other there, which is
    seen where they are half transparent.
    """
    with np.errstate(all="ignore"):  # what is behind the camera is not seen
        seen = camera.project(points, size)[..., :2]
        length = np.linalg.norm(seen[:, 1] - seen[:, 0], axis=1)
        share = np.nan_to_num(np.clip(width / 2 / length, 0, 0.49))[:, None]
        way = points[:, 1] - points[:, 0]
        ends = points[:, 0] + way * share, points[:, 1] - way * share
    return np.ascontiguousarray(np.stack(ends, 1), np.float32)


def _placed(frames: Floats, points: Floats) -> NDArray[np.float64]:
    """Points (S, ..., 3) taken by frames (S, 3, 4)."""
    shape = points.shape
    flat = points.reshape(len(points), -1, 3).astype(np.float64)
    with np.errstate(all="ignore"):  # what is not finite is not seen
        turned = flat @ frames[:, :, :3].swapaxes(1, 2).astype(np.float64)
        placed: NDArray[np.float64] = turned + frames[:, None, :, 3]
    return placed.reshape(shape)
