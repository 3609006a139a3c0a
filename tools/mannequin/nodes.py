"""The node table of the mannequin: 64 joints of the default humanoid.

Model space: metres, Y up, facing +Z, the character's left is +X, feet on y = 0.
The rest pose is an A-pose: arms 45 degrees down, palms in and down, legs a little
apart. Every joint's local +X runs along its bone. Local +Y is forward for legs, spine,
arms and hands, and the palm side for finger joints; local +Z is then the hinge axis. A
right-hand frame is its left twin mirrored with z turned over, so the same z angle bends
both sides alike, and mirroring a local rotation is (x, y, z, w) -> (-x, -y, z, w).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from tools.mannequin.rotation import frame, normalize, quaternion_from_matrix, transpose

HEIGHT = 1.80
"""Standing height in metres."""

FINGERS = ("thumb", "index", "middle", "ring", "pinky")

Point = tuple[float, float, float]

_SPINE: dict[str, Point] = {
    "hips": (0.0, 0.955, -0.005),
    "spine0": (0.0, 1.055, -0.008),
    "spine1": (0.0, 1.150, -0.006),
    "chest": (0.0, 1.255, -0.010),
    "neck": (0.0, 1.500, -0.024),
    "head": (0.0, 1.585, -0.006),
}
_HEAD_TIP: Point = (0.0, 1.80, -0.002)

_HIP: Point = (0.088, 0.925, -0.004)
_ANKLE: Point = (0.118, 0.082, -0.022)
_KNEE_SHARE = 0.51
_KNEE_FORWARD = 0.018
_FOOT: Point = (0.118, 0.056, 0.030)
_TOE: Point = (0.118, 0.024, 0.102)
_TOE_TIP: Point = (0.118, 0.018, 0.176)

_SHOULDER: Point = (0.030, 1.448, -0.006)
_ARM: Point = (0.198, 1.437, -0.016)
_ARM_DOWN = np.deg2rad(45.0)
_ELBOW_DISTANCE = 0.290
_WRIST_DISTANCE = 0.540
_ELBOW_BACK = 0.010
_WRIST_FORWARD = 0.012
_HAND_DISTANCE = 0.034

# Finger bases in the hand: metres along the hand, to the thumb side, to the palm side.
_FINGER_BASE: dict[str, Point] = {
    "thumb": (0.020, 0.021, 0.010),
    "index": (0.088, 0.0305, 0.002),
    "middle": (0.092, 0.0095, -0.001),
    "ring": (0.087, -0.0115, 0.000),
    "pinky": (0.078, -0.0315, 0.003),
}
_FINGER_LENGTHS: dict[str, Point] = {
    "thumb": (0.042, 0.033, 0.027),
    "index": (0.041, 0.026, 0.021),
    "middle": (0.045, 0.029, 0.022),
    "ring": (0.042, 0.027, 0.021),
    "pinky": (0.033, 0.021, 0.018),
}
# Degrees: sideways fan towards the thumb, then the curl of each of the three joints.
_FINGER_FAN = {"index": 5.0, "middle": 1.0, "ring": -4.0, "pinky": -10.0}
_FINGER_CURL = (12.0, 17.0, 11.0)
_THUMB_DIRECTIONS: tuple[Point, Point, Point] = (
    (0.72, 0.58, 0.38),
    (0.84, 0.46, 0.28),
    (0.93, 0.32, 0.18),
)
_THUMB_TOWARD: Point = (0.30, -0.55, 0.80)


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """The skeleton at rest.

    names: J node names, parents before children; parents: int32 (J,), -1 for the root.
    positions, tips: float64 (J, 3), where each bone begins and ends, model space.
    frames: float64 (J, 3, 3), model-space rest rotation of each joint.
    translations (J, 3), rotations (J, 4) xyzw: float64, local to the parent.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int32]
    positions: Doubles
    tips: Doubles
    frames: Doubles
    translations: Doubles
    rotations: Doubles

    def index(self, name: str) -> int:
        """Row of a node by its name."""
        return self.names.index(name)

    def indices(self, *names: str) -> list[int]:
        """Rows of several nodes."""
        return [self.names.index(name) for name in names]


@dataclass(frozen=True, slots=True)
class _Bone:
    """One row while the table is put together: base, tip, and the y direction."""

    name: str
    parent: str
    base: Doubles
    tip: Doubles
    toward: Doubles


def hand_axes() -> Doubles:
    """Axes of the left hand as columns (3, 3): along, thumb side, palm side."""
    along = np.array([np.cos(_ARM_DOWN), -np.sin(_ARM_DOWN), 0.0])
    thumb = np.array([0.0, 0.0, 1.0])
    return np.stack([along, thumb, np.cross(along, thumb)], axis=-1)


def build_nodes() -> NodeTable:
    """Build the whole table: spine, then left and right legs and arms, numbered."""
    left_leg, left_arm = _leg(), _arm()
    spine = _spine()
    bones = [spine[0], *left_leg, *map(_mirror, left_leg), *spine[1:]]
    bones += [*left_arm, *map(_mirror, left_arm)]
    names = tuple(bone.name for bone in bones)
    parents = np.array(
        [names.index(b.parent) if b.parent else -1 for b in bones], np.int32
    )
    positions = np.stack([b.base for b in bones])
    frames = np.stack([frame(b.tip - b.base, b.toward) for b in bones])
    translations, local = positions.copy(), frames.copy()
    for row, parent in enumerate(parents):
        if parent >= 0:
            back = transpose(frames[parent])
            translations[row] = back @ (positions[row] - positions[parent])
            local[row] = back @ frames[row]
    return NodeTable(
        names=names,
        parents=parents,
        positions=positions,
        tips=np.stack([b.tip for b in bones]),
        frames=frames,
        translations=translations,
        rotations=quaternion_from_matrix(local),
    )


def _spine() -> list[_Bone]:
    names = list(_SPINE)
    points = [np.array(p) for p in [*_SPINE.values(), _HEAD_TIP]]
    forward = np.array([0.0, 0.0, 1.0])
    return [
        _Bone(name, names[i - 1] if i else "", points[i], points[i + 1], forward)
        for i, name in enumerate(names)
    ]


def _leg() -> list[_Bone]:
    hip, ankle = np.array(_HIP), np.array(_ANKLE)
    foot, toe, toe_tip = np.array(_FOOT), np.array(_TOE), np.array(_TOE_TIP)
    forward, up = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    knee = hip + _KNEE_SHARE * (ankle - hip) + _KNEE_FORWARD * forward
    thigh, shin = 0.5 * (hip + knee), 0.5 * (knee + ankle)
    return [
        _Bone("l-hip", "hips", hip, knee, forward),
        _Bone("l-hip-roll", "l-hip", thigh, knee, forward),
        _Bone("l-knee", "l-hip-roll", knee, ankle, forward),
        _Bone("l-knee-roll", "l-knee", shin, ankle, forward),
        _Bone("l-ankle", "l-knee-roll", ankle, foot, up),
        _Bone("l-foot", "l-ankle", foot, toe, up),
        _Bone("l-toe", "l-foot", toe, toe_tip, up),
    ]


def _arm() -> list[_Bone]:
    axes = hand_axes()
    along, forward = axes[:, 0], axes[:, 1]
    collar, arm = np.array(_SHOULDER), np.array(_ARM)
    elbow = arm + _ELBOW_DISTANCE * along - _ELBOW_BACK * forward
    wrist = arm + _WRIST_DISTANCE * along + _WRIST_FORWARD * forward
    hand = wrist + _HAND_DISTANCE * along
    upper, lower = 0.5 * (arm + elbow), 0.5 * (elbow + wrist)
    knuckle = wrist + axes @ np.array(_FINGER_BASE["middle"])
    bones = [
        _Bone("l-shoulder", "chest", collar, arm, forward),
        _Bone("l-arm", "l-shoulder", arm, elbow, forward),
        _Bone("l-arm-roll", "l-arm", upper, elbow, forward),
        _Bone("l-elbow", "l-arm-roll", elbow, wrist, forward),
        _Bone("l-elbow-roll", "l-elbow", lower, wrist, forward),
        _Bone("l-wrist", "l-elbow-roll", wrist, hand, forward),
        _Bone("l-hand", "l-wrist", hand, knuckle, forward),
    ]
    for finger in FINGERS:
        bones += _finger(finger, wrist, axes)
    return bones


def _finger(finger: str, wrist: Doubles, axes: Doubles) -> list[_Bone]:
    if finger == "thumb":
        directions = [normalize(d) for d in _THUMB_DIRECTIONS]
        toward = axes @ np.array(_THUMB_TOWARD)
    else:
        fan = np.deg2rad(_FINGER_FAN[finger])
        curls = np.cumsum(np.deg2rad(_FINGER_CURL))
        side = np.array([np.cos(fan), np.sin(fan), 0.0])
        palm = np.array([0.0, 0.0, 1.0])
        directions = [np.cos(c) * side + np.sin(c) * palm for c in curls]
        toward = axes @ palm
    base = wrist + axes @ np.array(_FINGER_BASE[finger])
    parent, bones = "l-hand", []
    for i, (length, direction) in enumerate(
        zip(_FINGER_LENGTHS[finger], directions, strict=True)
    ):
        tip = base + length * (axes @ direction)
        name = f"l-{finger}{i}"
        bones.append(_Bone(name, parent, base, tip, toward))
        parent, base = name, tip
    return bones


def _mirror(bone: _Bone) -> _Bone:
    """Right twin of a left bone: x turned over.

    `frame` takes x and y from mirrored directions, so z comes out turned over.
    """
    flip = np.array([-1.0, 1.0, 1.0])
    name = "r-" + bone.name.removeprefix("l-")
    left = bone.parent.startswith("l-")
    parent = "r-" + bone.parent.removeprefix("l-") if left else bone.parent
    return _Bone(name, parent, bone.base * flip, bone.tip * flip, bone.toward * flip)
