"""Pictures of joints that bend and twist, and of their weights: before and after."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from flexor.api.character import Character
from flexor.api.repair.joint_views import JointView, joint_views, turned_pose
from flexor.arrays import Floats, Pixels
from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawList, Look
from flexor.draw.scene.build import Dress, build_items, dress_scene
from flexor.draw.scene.heat import colour_ramp, joint_weights
from flexor.draw.scene.style import DrawStyle
from flexor.draw.scene.upload import upload_scene
from flexor.draw.target import init_target
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from flexor.scene.character.material import Material
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import Scene

__all__ = ["SHOTS", "JointDrawer", "JointPictures", "draw_joints"]


CLAY = (0.62, 0.56, 0.50, 1.0)  # linear: a plain surface shows shape best
CUT = 0.5  # what hangs less than this on the nodes that are drawn is left out
NOTHING = (160, 160, 160, 0)  # behind: the page's own colour, light or dark
SHOTS = ("bent 90\u00b0", "bent 150\u00b0", "twisted 180\u00b0", "weight at rest")


@dataclass(frozen=True, slots=True, eq=False)
class JointPictures:
    """What is shown of a joint, in the order of SHOTS: uint8 (H, W, 4) of each."""

    node: int
    before: tuple[Pixels, ...]
    after: tuple[Pixels, ...]


def draw_joints(
    before: Character,
    after: Character,
    nodes: Iterable[int],
    size: tuple[int, int],
    most: int,
    advance: Callable[[], None] = lambda: None,
) -> Iterator[JointPictures]:
    """Pictures of the first `most` of some joints that can be shown, one after another.

    nodes: of both characters; size: width and height of each picture, pixels; advance:
    called after each picture. Joints without a skin or a joint above are passed over.
    """
    views = joint_views(before, nodes, size, most)
    if not views:
        return
    drawers = JointDrawer(before, size), JointDrawer(after, size)
    for view in views:
        rows: list[tuple[Pixels, ...]] = []
        for drawer in drawers:
            pictures = []
            for picture in drawer.draw(view):
                pictures.append(picture)
                advance()
            rows.append(tuple(pictures))
        yield JointPictures(view.node, rows[0], rows[1])


class JointDrawer:
    """Draws joints of one character: its skin in a plain colour, nothing behind it."""

    def __init__(self, character: Character, size: tuple[int, int]) -> None:
        self.character = character
        self._backend = open_backend()
        plain = _plain(character.scene)
        assets, _ = upload_scene(self._backend, plain)
        style = DrawStyle(shadow=False).for_height(size[1])
        self._dress = dress_scene(assets, style)
        self._target = init_target(size, style.samples)

    def draw(self, view: JointView) -> Iterator[Pixels]:
        """The pictures of a joint, in the order of SHOTS."""
        hero = self.character
        clay = _clay(self._dress, _with_links(hero.skeleton, view.kept))
        for axis, degrees in ((view.bend, 90), (view.bend, 150), (view.twist, 180)):
            pose = turned_pose(hero, view.node, axis, math.radians(degrees))
            yield self._picture(pose, view.camera, clay)
        joints = _with_links(hero.skeleton, {view.node})
        yield self._picture(hero.pose(), view.camera, _heated(clay, joints))

    def _picture(self, pose: Pose, camera: Camera, dress: Dress) -> Pixels:
        skins = self.character.deform(pose)
        items, lines = build_items(
            dress,
            [skin.positions for skin in skins],
            [skin.normals for skin in skins],
            pose.world,
        )
        lights = _lights(camera)
        drawn = DrawList(camera, items, lines, lights, NOTHING)
        return self._backend.draw(drawn, self._target).copy()


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


def _with_links(skeleton: Skeleton, nodes: Iterable[int]) -> set[int]:
    """Nodes and their links."""
    given = set(nodes)
    links = skeleton.links.items()
    return given | {node for node, link in links if link.joint in given}


def _clay(dress: Dress, nodes: set[int]) -> Dress:
    """The dress with opaque parts in one colour, and only what hangs on these nodes."""
    parts = []
    for part in dress.parts:
        own = part.part
        share = joint_weights(dress.assets.scene, own.node, own.primitive, nodes)
        if part.mesh is None or not (share >= CUT).any():
            part = replace(part, mesh=None)
        elif part.look.alpha == "opaque":
            colours: Floats = np.ones((len(share), 4), np.float32)
            # A skin that is cut open or torn is seen from inside too.
            look = replace(part.look, colour=CLAY, cull="none")
            if not (share >= CUT).all():
                look = replace(look, alpha="mask", cutoff=CUT)
                colours[:, 3] = share
            part = replace(part, look=look, colours=colours)
        parts.append(part)
    return replace(dress, parts=tuple(parts))


def _heated(clay: Dress, joints: set[int]) -> Dress:
    """What is drawn, with the weights of some joints together as colours."""
    parts = []
    for part in clay.parts:
        if part.mesh is not None:
            own, look = part.part, part.look
            pull = joint_weights(clay.assets.scene, own.node, own.primitive, joints)
            colours = colour_ramp(pull)
            is_cut = look.alpha == "mask" and part.colours is not None
            if is_cut and part.colours is not None:
                colours[:, 3] = part.colours[:, 3]
            plain = Look(cull=look.cull, shading=look.shading)
            look = replace(plain, alpha="mask", cutoff=CUT) if is_cut else plain
            part = replace(part, look=look, colours=colours)
        parts.append(part)
    return replace(clay, parts=tuple(parts))


def _lights(camera: Camera) -> tuple[Light, ...]:
    """Daylight that stays with the camera, wherever that looks."""
    axes = camera.axes()

    def turn(light: Light) -> Light:
        x, y, z = (np.array(light.direction) @ axes).tolist()
        return replace(light, direction=(x, y, z))

    return tuple(turn(light) for light in DAYLIGHT)
