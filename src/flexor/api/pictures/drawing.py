"""Pictures of characters: from a character and a pose to pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.api.one_weight import one_weight_error
from flexor.api.pictures.drawable import Drawable, check_one
from flexor.api.pictures.kit import (
    dressed,
    find_floor,
    many,
    reach,
    views_of,
)
from flexor.api.skins import (
    Method,
    SkinnedPrimitive,
    Weights,
    check_method,
    check_weights,
)
from flexor.arrays import Floats
from flexor.deform.weight_choice import WeightRule, choose_weights
from flexor.draw.drawlist import DrawItem, DrawLines, DrawList
from flexor.draw.items.bones import bone_points, build_bones
from flexor.draw.items.floor_shadow import (
    ShadowState,
    cast_shadow,
    init_shadow,
    sample_points,
    shadow_reach,
)
from flexor.draw.items.grid import ground_grid
from flexor.draw.labels import label_points
from flexor.draw.scene.build import build_items
from flexor.draw.scene.fit import FOV, MARGIN, THREE_QUARTER, fit_camera, fit_shape
from flexor.draw.scene.lighting import lights_of
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.draw.sheet import join_pictures
from flexor.draw.target import init_target
from flexor.errors import SettingError, ShapeError
from flexor.output.formats.png import encode_png
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from flexor.scene.character.standing import bounds
from flexor.scene.finding import Finding

__all__ = ["Drawer", "contact_sheet", "draw", "picture_png"]

SHEET_PIXELS = 240 * 240  # of one picture in a sheet, unless its size is given
STICKS = 0.3  # area of a character without a skin, in squares of its size

Around = tuple[tuple[Light, ...], tuple[DrawLines, ...]]


class Drawer:
    """Draws one character again and again into the same arrays.

    target: where the last picture is, with the buffers that the style asks for; floor:
    metres, of ground and shadow: the style's, or found at the first fit or picture;
    names: how many names of joints the last picture shows, and how many there are.
    weights: "multi" for all weights of each vertex, "one" for the largest alone, which
    will do at a distance, or a rule that chooses for each picture with a given camera;
    is_behind: for the rule, whether something half transparent is in front; set it;
    method: "dual" to blend all weights by dual quaternions; see docs/guide/deform.md.
    Each thread needs a drawer of its own; what they upload is shared.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> drawer = flexor.Drawer(hero, (320, 240), "cel")
    >>> camera = drawer.fit("walk")
    >>> drawer.draw(hero.pose("walk", 0.4), camera).shape
    (240, 320, 4)
    """

    def __init__(
        self,
        character: Drawable,
        size: tuple[int, int] = (640, 480),
        style: DrawStyle | str = "shaded",
        *,
        backend: str = "raster",
        weights: Weights | WeightRule = "multi",
        method: Method = "linear",
    ) -> None:
        check_one(character)
        self.character = character
        check_method(method)
        self._method: Method = method
        if not isinstance(weights, WeightRule):
            check_weights(weights)
        self.is_behind = False
        self._weights = weights
        self._is_one = np.zeros(1, bool)
        style = style_of(style)
        self.target = init_target(size, style.samples, style.buffers)
        self.style = style.for_height(self.target.size[1])
        self.floor = self.style.floor
        self.names = 0, 0
        self._backend = backend
        self._size: float | None = None
        self._most_skipped = 0
        self._dress_up()

    def _dress_up(self) -> None:
        """Make what draws, or take it where others have made it."""
        self._kit, self._dress = dressed(self.character, self.style, self._backend)
        self._views = views_of(self._kit, self.style)
        self._skins: list[SkinnedPrimitive] | None = None
        self._shadow: ShadowState | None = None
        self._key: tuple[Camera | None, float | None, float | None] = None, None, None
        self._lights_grid: Around = (), ()

    def __getstate__(self) -> dict[str, Any]:
        # What draws is in a backend, which stays where it is.
        made = "_kit", "_dress", "_views", "_skins", "_shadow", "_key", "_lights_grid"
        return {name: own for name, own in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._dress_up()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong with the character's looks, and with the worst picture."""
        skipped = max(self._most_skipped, self.target.skipped)
        known = self._kit.findings
        if self._views is not None:
            known += self._views.findings
        if not skipped:
            return known
        text = f"{skipped} faces are left out: a corner is not a finite place"
        found = Finding("warning", "skipped-faces", "positions", text)
        return *known, found

    def fit(
        self,
        what: str | Pose | None = None,
        *,
        direction: ArrayLike = THREE_QUARTER,
        fov: float = FOV,
        is_flat: bool = False,
        margin: float = MARGIN,
    ) -> Camera:
        """A camera that has a whole clip in the picture, or a pose, or many.

        what: a clip's name, a pose, or None for the rest pose; direction: from the
        character to the camera; fov: radians; is_flat: without perspective; margin:
        share of the picture left free on each side; a shadow may reach into it. A clip
        is deformed at up to 24 moments, which takes as long as several pictures; a
        pose takes less than one.
        """
        points, faint = self.reach(what)
        return fit_camera(
            points,
            self.target.size,
            direction=direction,
            fov=fov,
            is_flat=is_flat,
            margin=margin,
            faint=faint,
        )

    def reach(
        self, what: str | Pose | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """All there is to see of a clip, a pose or many, or at rest, for a camera.

        Gives points (N, P, 3) of N moments, and points (Q, 3) up to which shadows are
        seen; None if the style has none.
        """
        points = reach(self.character, self._kit, what)
        self._measure(points)
        return points, self._shadow_reach(points)

    def draw(self, pose: Pose, camera: Camera | None = None) -> NDArray[np.uint8]:
        """The picture of a pose, (H, W, 4): the target's own, until the next picture.

        camera: None for one fitted to the pose.
        """
        if not isinstance(pose, Pose):
            raise SettingError(
                f"pose: {type(pose).__name__}, expected a Pose, such as hero.pose(...)"
            )
        positions, normals = self._deform(pose, self._choose(pose, camera))
        style, kit = self.style, self._kit
        seen = positions if kit.has_skin else [self._sticks(pose)]
        if self._size is None:
            self._measure(np.concatenate(seen))
        shadow = self._cast(seen) if style.has_shadow else None
        if camera is None:
            faint = shadow_reach(shadow) if style.has_shadow else None
            camera = fit_camera(np.concatenate(seen), self.target.size, faint=faint)
        items, lines = build_items(self._dress, positions, normals, pose.world)
        items = (*items, *self._extras(shadow, pose))
        if self._views is not None:
            fans, strokes = self._views.build(positions, pose, camera, self.target.size)
            items, lines = (*items, *fans), (*lines, *strokes)
        lights, grid = self._around(camera)
        draw_list = DrawList(
            camera, items, (*lines, *grid), lights, style.paper, style.order
        )
        picture = kit.backend.draw(draw_list, self.target)
        self._most_skipped = max(self._most_skipped, self.target.skipped)
        if style.names:
            places = pose.world[kit.bones.joints, :, 3]
            shown = label_points(picture, camera, places, kit.bones.names)
            self.names = shown, sum(bool(name.strip()) for name in kit.bones.names)
        return picture

    def _choose(self, pose: Pose, camera: Camera | None) -> Weights:
        """All weights, or one; a camera that is fitted sees all of them."""
        if not isinstance(self._weights, WeightRule):
            return self._weights
        if camera is None or pose.is_many or not len(pose.world):
            return "multi"
        errors = None
        if self._weights.small is None:
            errors = np.array([one_weight_error(self.character)])
        places = pose.world[self._kit.nodes, :, 3]
        choose_weights(
            self._weights,
            camera,
            self.target.size,
            (places.min(0, keepdims=True) + places.max(0, keepdims=True)) / 2,
            np.array([self._kit.size / 2], np.float32),
            np.array([self.is_behind]),
            is_one=self._is_one,
            errors=errors,
        )
        return "one" if self._is_one[0] else "multi"

    def _deform(
        self, pose: Pose, weights: Weights
    ) -> tuple[list[Floats], list[Floats]]:
        """Positions and normals of every part."""
        if pose.is_many:
            raise ShapeError(f"a pose of {len(pose)} moments; draw one of them")
        self._skins = self.character.deform_many(
            many(pose), out=self._skins, weights=weights, method=self._method
        )
        positions = [skin.positions[0] for skin in self._skins]
        return positions, [skin.normals[0] for skin in self._skins]

    def _sticks(self, pose: Pose) -> Floats:
        """What there is to see of a character without a skin: points (P, 3)."""
        return bone_points(self._kit.bones, pose.world)

    def _extras(self, shadow: DrawItem | None, pose: Pose) -> list[DrawItem]:
        """Shadow and bones."""
        kit, style, size = self._kit, self.style, self._size or 1.0
        items = [] if shadow is None else [shadow]
        if not kit.has_skin:
            items += build_bones(kit.bones, pose.world, size, layer=0)
        elif style.bones:
            items += build_bones(kit.bones, pose.world, size)
        return items

    def _cast(self, positions: Sequence[Floats]) -> DrawItem | None:
        """The shadow of all parts, or of sticks: (V, 3) of each."""
        kit, size = self._kit, self._size or 1.0
        if self._shadow is None or self._shadow.size != size:
            self._shadow = init_shadow(kit.shadow_mesh, size)
        if kit.has_skin:
            points = sample_points(kit.samples, positions)
            area = kit.samples.area * (size / kit.size) ** 2
        else:
            points = positions[0]
            area = STICKS * size * size / max(len(points), 1)
        return cast_shadow(self._shadow, points, area, self.floor or 0.0)

    def _shadow_reach(self, moments: Floats) -> Floats | None:
        """How far shadows are seen of all there is at moments (N, P, 3): (Q, 3)."""
        if not self.style.has_shadow:
            return None
        return np.concatenate([shadow_reach(self._cast([one])) for one in moments])

    def _around(self, camera: Camera) -> Around:
        """Lights and grid; the same as before if the camera has not moved."""
        key = camera, self._size, self.floor
        if key != self._key:
            grid: tuple[DrawLines, ...] = ()
            if self.style.ground:
                lines = ground_grid(camera.target, self._size or 1.0, self.floor or 0.0)
                grid = (replace(lines, part=len(self._dress.parts)),)
            self._key, self._lights_grid = key, (lights_of(self.style, camera), grid)
        return self._lights_grid

    def _measure(self, points: NDArray[np.float32]) -> None:
        """Find the floor and the size of what stands at points (..., P, 3)."""
        lows, self._size = bounds(points)
        if self.style.floor is None:
            self.floor = find_floor(self._kit, lows, self._size)


def draw(
    character: Drawable,
    pose: Pose | None = None,
    camera: Camera | None = None,
    size: tuple[int, int] = (640, 480),
    *,
    style: DrawStyle | str = "shaded",
    weights: Weights | WeightRule = "multi",
    method: Method = "linear",
) -> NDArray[np.uint8]:
    """A picture of a character in a pose: uint8 (H, W, 4), sRGB and alpha.

    pose: None for the rest pose; camera: None for one fitted to the pose; size: width
    and height in pixels; style: a name such as "cel", or a DrawStyle; weights, method:
    as of a Drawer. Several threads may call it at once. To draw many pictures of one
    character, a Drawer is quicker, and has buffers beside the colours.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> flexor.draw(hero, hero.pose("walk", 0.4)).shape
    (480, 640, 4)
    """
    check_one(character)
    style = _colours_alone(style, "draw")
    drawer = Drawer(character, size, style, weights=weights, method=method)
    return drawer.draw(character.pose() if pose is None else pose, camera)


def contact_sheet(
    character: Drawable,
    clip: str | None = None,
    count: int = 12,
    *,
    size: tuple[int, int] | None = None,
    style: DrawStyle | str = "shaded",
    camera: Camera | None = None,
    direction: ArrayLike = THREE_QUARTER,
    is_flat: bool = False,
    columns: int | None = None,
    weights: Weights | WeightRule = "multi",
    method: Method = "linear",
) -> NDArray[np.uint8]:
    """Poses of a clip in one picture, all seen by one camera, with their times.

    clip: None for the first; count: how many poses, evenly spread; size: of each, None
    for one that suits the character; camera: None for one that has the whole clip in
    the picture, seen from `direction`; is_flat: without perspective; weights, method:
    as of a Drawer. Gives uint8 (H, W, 4).
    """
    if count < 1:
        raise SettingError(f"count: {count}, expected 1 or more")
    check_one(character)
    style = _colours_alone(style, "contact_sheet")
    if clip is None and character.clips:
        clip = next(iter(character.clips))
    times = [0.0] if clip is None else _spread(character, clip, count)
    poses = character.pose_many(clip, times)
    if size is None:
        kit, _ = dressed(character, style_of(style))
        shape = fit_shape(reach(character, kit, clip), direction)
        shape = min(max(shape, 0.5), 2.0)
        wide = round(math.sqrt(SHEET_PIXELS * shape))
        size = wide, round(SHEET_PIXELS / wide)
    drawer = Drawer(character, size, style, weights=weights, method=method)
    fitted = drawer.fit(clip, direction=direction, is_flat=is_flat)
    pictures = [
        drawer.draw(poses[row], camera or fitted).copy() for row in range(len(times))
    ]
    captions = [f"{time:.2f} s" for time in times] if clip is not None else None
    return join_pictures(
        pictures, captions, columns=columns, background=drawer.style.paper
    )


def picture_png(
    character: Drawable, size: tuple[int, int] = (360, 360)
) -> bytes | None:
    """A small picture at rest as the bytes of a PNG; None if it cannot be drawn."""
    try:
        return encode_png(draw(character, character.pose(), size=size))
    except Exception:  # a notebook shows the text instead; an odd file is no reason
        return None


def _colours_alone(style: DrawStyle | str, name: str) -> DrawStyle:
    """A style of pictures that come without anything beside them."""
    style = style_of(style)
    if style.buffers:
        raise SettingError(
            f"buffers: {', '.join(style.buffers)}: {name} gives colours alone; a "
            "flexor.Drawer keeps buffers in its `target`"
        )
    return style


def _spread(character: Drawable, clip: str, count: int) -> list[float]:
    """Times over a clip; without its end where that is its beginning again."""
    last = character.clip_tables(clip).duration
    if not last > 0:
        return [0.0]
    first, final = character.pose_many(clip, [0.0, last]).world.astype(np.float64)
    span = float(np.ptp(first[:, :, 3], axis=0).max(initial=0))
    apart = np.abs(first - final)
    moved, turned = apart[..., 3].max(initial=0), apart[..., :3].max(initial=0)
    scale = float(np.abs(first[..., :3]).max(initial=0))
    is_loop = bool(moved <= 0.02 * span and turned <= 0.05 * scale)
    times = np.linspace(0, last, count, endpoint=not is_loop)
    return [float(time) for time in times]
