"""Pictures of joints as they turn: before a repair, after it, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from flexor.api.character import Character
from flexor.api.repair.joint_views import (
    JointView,
    joint_views,
    turned_poses,
    view_cameras,
)
from flexor.api.repair.strained_skin import StrainedSkin, moved_skin
from flexor.api.skins import SkinnedPrimitive
from flexor.arrays import Bools, Doubles, Floats, Pixels
from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawItem, DrawLines, DrawList
from flexor.draw.scene.build import Dress, build_items, dress_scene
from flexor.draw.scene.style import DrawStyle
from flexor.draw.scene.upload import upload_scene
from flexor.draw.target import Target, init_target
from flexor.maths.colour import linear_from_srgb
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from flexor.scene.character.material import Material
from flexor.scene.scene import Scene

if TYPE_CHECKING:
    from flexor.convert.repair.trials import JointTrial

__all__ = [
    "BAD",
    "MOVED",
    "OUTLINE",
    "JointFilm",
    "choose_camera",
    "draw_joints",
    "frame_angles",
]


# sRGB. A plain surface shows shape best; what looks bad stands out of it, also for eyes
# that do not tell red from green, and so does what moved, from grey on.
CLAY, BAD = (205, 197, 187), (208, 32, 32)
MOVED = ((196, 198, 200), (110, 168, 222), (24, 74, 178))
OUTLINE = (238, 116, 18)
NOTHING = (160, 160, 160, 0)  # behind: the page's own colour, light or dark
# Softer than daylight: a shape shows on its dark side too.
STUDIO = (
    Light("ambient", (0.25, 0.26, 0.28)),
    Light("directional", (0.68, 0.66, 0.62), direction=(0.45, -0.55, -0.7)),
    Light("directional", (0.20, 0.21, 0.24), direction=(-0.8, -0.1, -0.5)),
)
FRAMES = 13  # from one end of a joint's range to the other
TRY_HEIGHT = 88  # pixels of the pictures by which a camera is chosen
FAINT = 0.15  # of the range of colours: two pixels that differ by less look alike
SIDEWAYS = 1.0  # how much better the side is from which a turn is seen best
SAME = 2e-4  # of the body: a skin that moved less than this did not
NEARLY_ALL = 0.99  # of the skin in the pictures has moved less than the last colour
LINE = 2  # pixels: outlines that are nearer than this are the same


@dataclass(frozen=True, slots=True, eq=False)
class JointFilm:
    """A joint as it turns, in F frames from one end of its range to the other.

    angles: float64 (F,), radians; still: the frame that shows most; camera: of all;
    before, after, difference: uint8 (H, W, 4) of each frame; largest: how far the skin
    that is seen has moved, of the body's size, where it has the last colour; 0: it did
    not move, and there are no pictures but those before.
    """

    node: int
    angles: Doubles
    still: int
    camera: Camera
    before: tuple[Pixels, ...]
    after: tuple[Pixels, ...]
    difference: tuple[Pixels, ...]
    largest: float


def draw_joints(
    before: Character,
    after: Character,
    trials: Mapping[int, JointTrial],
    size: tuple[int, int],
    most: int,
    *,
    frames: int = FRAMES,
    advance: Callable[[], None] = lambda: None,
) -> Iterator[JointFilm]:
    """Films of the first `most` joints that can be shown, one after another.

    trials: by node, how each is turned; size: width and height of each picture, pixels;
    advance: called after each picture. Joints without a skin or a joint above are
    passed over.
    """
    # What has no skin yet says nothing about where its joints are.
    source = before if before.scene.skins else after
    views = joint_views(source, trials, most)
    if not views:
        return
    drawers = _Drawer(before, size), _Drawer(after, size)
    for view in views:
        yield _film(drawers, view, trials[view.node], frames, advance)


def frame_angles(trial: JointTrial, count: int) -> tuple[Doubles, int]:
    """Angles (F,) of frames over the range of a trial, rest and the trial's among them;
    and which frame the trial's is.
    """
    reach = max(trial.high - trial.low, 1e-9)
    below = round((count - 1) * -trial.low / reach)
    angles = np.concatenate(
        [
            np.linspace(trial.low, 0, below, endpoint=False),
            np.linspace(0, trial.high, count - below),
        ]
    )
    still = int(np.argmin(np.abs(angles - trial.angle)))
    angles[still] = trial.angle
    return angles, still


def choose_camera(
    cameras: Sequence[tuple[Camera, float]],
    draw: Callable[[Camera], tuple[Pixels, Pixels]],
    way: Doubles | None,
    view: JointView,
) -> Camera:
    """The camera that sees most of what differs and of what looks bad.

    cameras: and how well liked each is; draw: small pictures before and after; way:
    (3,), the axis of a bend in world space, None for a twist. A bend is seen best along
    its axis, a twist from beside the bone: that decides where as much differs.
    """
    seen, sides = [], []
    for camera, _ in cameras:
        old, new = (picture.astype(np.float64) / 255 for picture in draw(camera))
        seen.append(_differing(old, new) + _bad(old) / 2 + _bad(new) / 2)
        back = camera.axes()[2]
        along = abs(float(back @ (view.world[:, 0] if way is None else way)))
        sides.append(1 - along if way is None else along)
    most = max(seen)
    ranks = [
        liked * (amount / most if most else 1.0) * (1 + SIDEWAYS * side)
        for (_, liked), amount, side in zip(cameras, seen, sides, strict=True)
    ]
    return cameras[int(np.argmax(ranks))][0]


def _differing(old: Doubles, new: Doubles) -> float:
    """How many pixels differ, those that differ much counting more."""
    away = np.abs(old[..., :3] * old[..., 3:] - new[..., :3] * new[..., 3:]).max(2)
    away = np.maximum(away, np.abs(old[..., 3] - new[..., 3]))
    return float(np.clip((away - FAINT) / (0.5 - FAINT), 0, 1).sum())


def _bad(picture: Doubles) -> float:
    """How many pixels have the colour of skin that looks bad."""
    red = picture[..., 0] - np.maximum(picture[..., 1], picture[..., 2])
    return float((np.clip(red * 2 - FAINT, 0, 1) * (picture[..., 3] > 0.5)).sum())


def _film(
    drawers: tuple[_Drawer, _Drawer],
    view: JointView,
    trial: JointTrial,
    frames: int,
    advance: Callable[[], None],
) -> JointFilm:
    angles, still = frame_angles(trial, frames)
    old, new = (one.pose(view, trial, angles) for one in drawers)
    moved = moved_skin(drawers[0].character, drawers[1].character, old.skins, new.skins)
    camera = _camera(drawers, view, trial, (old, new, moved), still)
    largest = _largest(view, camera, new, moved)
    films: tuple[list[Pixels], ...] = ([], [], [])
    for frame in range(frames):
        films[0].append(drawers[0].draw(drawers[0].shape(old, frame), camera))
        advance()
        if not largest:
            continue
        films[1].append(drawers[1].draw(drawers[1].shape(new, frame), camera))
        advance()
        shares = [far[frame] / (largest * view.body) for far in moved]
        picture = drawers[1].draw(drawers[1].shape(new, frame, shares), camera)
        films[2].append(_outlined(picture, films[0][-1]))
        advance()
    first, second, third = (tuple(film) for film in films)
    return JointFilm(view.node, angles, still, camera, first, second, third, largest)


def _camera(
    drawers: tuple[_Drawer, _Drawer],
    view: JointView,
    trial: JointTrial,
    shapes: tuple[_Posed, _Posed, list[Floats]],
    still: int,
) -> Camera:
    """From where a joint is shown: so that what there is to see is in the picture."""
    old, new, moved = shapes
    most = max([SAME * view.body, *(float(far[still].max(initial=0)) for far in moved)])
    shares = [
        far[still] / most + bad[still] for far, bad in zip(moved, new.bad, strict=True)
    ]
    shares += [bad[still] for bad in old.bad]
    points = [
        skin.positions[still].astype(np.float64) for skin in (*new.skins, *old.skins)
    ]
    size = drawers[0].size
    cameras = view_cameras(view, size, np.concatenate(points), np.concatenate(shares))
    target = init_target((round(TRY_HEIGHT * size[0] / size[1]), TRY_HEIGHT))

    both = [
        (one, one.shape(p, still)) for one, p in zip(drawers, (old, new), strict=True)
    ]

    def draw(camera: Camera) -> tuple[Pixels, Pixels]:
        one, other = (drawer.draw(own, camera, target) for drawer, own in both)
        return one, other

    way = old.world[still, view.node, :, :3].astype(np.float64) @ np.array(trial.way)
    way /= max(float(np.linalg.norm(way)), 1e-30)
    return choose_camera(cameras, draw, None if trial.axis == 0 else way, view)


def _largest(
    view: JointView, camera: Camera, new: _Posed, moved: list[Floats]
) -> float:
    """How far nearly all of the skin around a joint moved at most, of the body."""
    near = [np.zeros(0, np.float32)]
    for skin, far in zip(new.skins, moved, strict=True):
        away = np.linalg.norm(skin.positions - np.array(camera.target), axis=2)
        near.append(far[away < view.height / 2])
    every = np.concatenate(near) / view.body
    if not len(every) or every.max() < SAME:
        return 0.0
    changed = every[every > SAME / 4]
    return max(float(np.quantile(changed, NEARLY_ALL)), SAME)


_Shape = tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class _Posed:
    """A character in the N frames of a joint, by parts.

    bad: how strained each vertex is, (N, V); world: (N, J, 3, 4).
    """

    skins: Sequence[SkinnedPrimitive]
    bad: Sequence[Floats]
    world: Floats


class _Drawer:
    """Draws joints of one character: its skin in a plain colour, nothing behind it."""

    def __init__(self, character: Character, size: tuple[int, int]) -> None:
        self.character, self.size = character, size
        self._backend = open_backend()
        plain = _plain(character.scene)
        assets, _ = upload_scene(self._backend, plain)
        style = DrawStyle(shadow=False).for_height(size[1])
        self._dress = dress_scene(assets, style)
        self._target = init_target(size, style.samples)
        self._strained = StrainedSkin(character)

    def pose(self, view: JointView, trial: JointTrial, angles: Doubles) -> _Posed:
        """The character in the frames of a joint."""
        hero = self.character
        poses = turned_poses(hero, view.node, trial.way, angles)
        skins = hero.deform_many(poses)
        return _Posed(skins, self._strained.strain(skins), poses.world)

    def shape(
        self, posed: _Posed, frame: int, moved: Sequence[Floats] | None = None
    ) -> _Shape:
        """One frame: what is strained stands out, or how far all moved if that is said.

        moved: (V,) of each part, 1 for the last colour.
        """
        values = [bad[frame] for bad in posed.bad] if moved is None else moved
        stops = (CLAY, BAD) if moved is None else MOVED
        return build_items(
            _dressed(self._dress, [_ramp(stops, own) for own in values]),
            [skin.positions[frame] for skin in posed.skins],
            [skin.normals[frame] for skin in posed.skins],
            posed.world[frame],
        )

    def draw(
        self, shape: _Shape, camera: Camera, target: Target | None = None
    ) -> Pixels:
        """A picture of a frame."""
        drawn = DrawList(camera, *shape, _lights(camera), NOTHING)
        return self._backend.draw(drawn, target or self._target).copy()


def _plain(scene: Scene) -> Scene:
    """The scene with plain materials; what is seen through keeps its textures."""
    materials = []
    for old in scene.materials:
        if old.alpha_mode == "OPAQUE":
            materials.append(Material(double_sided=old.double_sided))
        else:
            plain = replace(old, unlit=False, emissive=(0.0, 0.0, 0.0), looks=None)
            materials.append(plain)
    return replace(scene, materials=tuple(materials))


def _dressed(dress: Dress, colours: Sequence[Floats]) -> Dress:
    """The dress with opaque parts in these colours, (V, 4) of each part."""
    parts = []
    for part, own in zip(dress.parts, colours, strict=True):
        if part.mesh is not None and part.look.alpha == "opaque":
            # A skin that is torn is seen from inside too.
            look = replace(part.look, colour=(1.0, 1.0, 1.0, 1.0), cull="none")
            part = replace(part, look=look, colours=own)
        parts.append(part)
    return replace(dress, parts=tuple(parts))


def _ramp(stops: Sequence[tuple[int, int, int]], values: Floats) -> Floats:
    """Linear colours (V, 4) for numbers 0 to 1, (V,)."""
    places = np.clip(np.nan_to_num(values), 0, 1)
    marks = linear_from_srgb(np.array(stops))
    colours = np.ones((len(places), 4), np.float32)
    at = np.linspace(0, 1, len(stops))
    for channel in range(3):
        colours[:, channel] = np.interp(places, at, marks[:, channel])
    return colours


def _outlined(picture: Pixels, old: Pixels) -> Pixels:
    """A picture with the outline of an older one, where it was another."""
    masks = [one[..., 3] > 127 for one in (picture, old)]
    now, line = (_edge(mask) for mask in masks)
    picture[line & ~_grown(now, LINE)] = (*OUTLINE, 255)
    return picture


def _edge(mask: Bools) -> Bools:
    """Pixels of a shape that lie beside what is not of it; two pixels wide."""
    edge: Bools = _grown(mask, 1) & _grown(~mask, 1)
    return edge


def _grown(mask: Bools, pixels: int) -> Bools:
    """Pixels that are no further than this many from some of a mask, across and up."""
    for _ in range(pixels):
        grown = mask.copy()
        grown[1:] |= mask[:-1]
        grown[:-1] |= mask[1:]
        grown[:, 1:] |= mask[:, :-1]
        grown[:, :-1] |= mask[:, 1:]
        mask = grown
    return mask


def _lights(camera: Camera) -> tuple[Light, ...]:
    """The lights of a studio, which stay with the camera wherever that looks."""
    axes = camera.axes()

    def turn(light: Light) -> Light:
        x, y, z = (np.array(light.direction) @ axes).tolist()
        return replace(light, direction=(x, y, z))

    return tuple(turn(light) for light in STUDIO)
