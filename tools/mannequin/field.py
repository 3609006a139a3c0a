"""The mannequin's body as a distance field: turned wooden forms, softly joined.

The left half is described; the right half is its mirror image. Parts are kept apart
(torso, head, arm, hand, five fingers, leg, foot), both to choose how softly each pair
is joined and so that weights can ask which part a vertex belongs to.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from tools.mannequin.nodes import FINGERS, NodeTable, hand_axes
from tools.mannequin.shapes import Ellipsoid, Spindle, ball, cut, join, spindle

PARTS = ("torso", "head", "arm", "hand", *FINGERS, "leg", "foot")

_FINGER_RADII: dict[str, tuple[float, float]] = {
    "thumb": (0.0118, 0.0088),
    "index": (0.0090, 0.0070),
    "middle": (0.0092, 0.0072),
    "ring": (0.0089, 0.0069),
    "pinky": (0.0080, 0.0062),
}

_Piece = tuple[Spindle | Ellipsoid, float]


class BodyField:
    """Signed distance of the whole figure and of its parts (left side, x >= 0)."""

    def __init__(self, nodes: NodeTable) -> None:
        self._at = {n: nodes.positions[i] for i, n in enumerate(nodes.names)}
        self._tip = {n: nodes.tips[i] for i, n in enumerate(nodes.names)}
        self._pieces: dict[str, Sequence[_Piece]] = {
            "torso": _torso(),
            "collar": self._collar(),
            "head": _head(),
            "arm": self._arm(),
            "hand": self._hand(),
            "leg": self._leg(),
            "foot": self._foot(),
        }
        for finger in FINGERS:
            self._pieces[finger] = self._finger(finger)

    def distance(self, points: Doubles) -> Doubles:
        """Signed distance (N,) of points (N, 3) with x >= 0, metres."""
        parts = self.part_distances(points)
        twin = points * np.array([-1.0, 1.0, 1.0])
        body = join(parts["torso"], parts["head"], 0.014)
        body = join(body, parts["arm"], 0.034)
        leg = join(parts["leg"], parts["foot"], 0.026)
        near = points[:, 0] < 0.15
        other = np.full(len(points), 9.0)
        other[near] = self._part("leg", twin[near])
        body = join(body, join(leg, other, 0.012), 0.022)
        fingers = parts["index"]
        for finger in FINGERS[2:]:
            fingers = join(fingers, parts[finger], 0.003)
        hand = join(parts["hand"], fingers, 0.007)
        hand = join(hand, parts["thumb"], 0.014)
        return np.asarray(np.minimum(body, join(parts["arm"], hand, 0.010)))

    def part_distances(self, points: Doubles) -> dict[str, Doubles]:
        """Distance (N,) to each part of `PARTS` alone, points (N, 3) with x >= 0."""
        return {part: self._part(part, points) for part in PARTS}

    def gradient(self, points: Doubles, step: float = 5e-4) -> Doubles:
        """Gradient (N, 3) of the field, by central differences; mirrored at x = 0."""
        result = np.empty_like(points)
        for axis in range(3):
            offset = np.zeros(3)
            offset[axis] = step
            ahead, behind = points + offset, points - offset
            behind[:, 0] = np.abs(behind[:, 0])
            change = self.distance(ahead) - self.distance(behind)
            result[:, axis] = change / (2 * step)
        return result

    def _part(self, part: str, points: Doubles) -> Doubles:
        if part == "torso":
            twin = points * np.array([-1.0, 1.0, 1.0])
            core = _evaluate(self._pieces["torso"], points)
            left = _evaluate(self._pieces["collar"], points)
            right = _evaluate(self._pieces["collar"], twin)
            return join(core, join(left, right, 0.05), 0.045)
        total = _evaluate(self._pieces[part], points)
        if part == "foot":
            total = cut(total, 0.001 - points[:, 1], 0.010)
        return total

    def _collar(self) -> list[_Piece]:
        shoulder = self._at["l-arm"]
        neck = np.array([0.016, 1.462, -0.030])
        chest = np.array([0.076, 1.354, 0.031])
        blade = np.array([0.082, 1.372, -0.060])
        return [
            (spindle(neck, shoulder, [0.056, 0.050, 0.046], depth_scale=0.95), 0.01),
            (ball(chest, (0.084, 0.064, 0.055), 12.0), 0.05),
            (ball(blade, (0.074, 0.088, 0.044)), 0.05),
        ]

    def _arm(self) -> list[_Piece]:
        arm, elbow, wrist = (self._at[f"l-{n}"] for n in ("arm", "elbow", "wrist"))
        upper = [0.047, 0.0530, 0.0520, 0.0465, 0.0395, 0.0325]
        lower = [0.0310, 0.0420, 0.0430, 0.0375, 0.0310, 0.0258, 0.0225]
        along = (elbow - arm) / np.linalg.norm(elbow - arm)
        return [
            (ball(arm, 0.0600), 0.01),
            (
                spindle(arm + 0.012 * along, elbow, upper, bends=[0, 4e-3, 2e-3, 0]),
                0.012,
            ),
            (ball(elbow, 0.0420), 0.007),
            (spindle(elbow, wrist, lower, bends=[0, 3e-3, 1e-3, 0]), 0.007),
            (ball(wrist, 0.0275), 0.006),
        ]

    def _hand(self) -> list[_Piece]:
        axes = hand_axes()
        wrist, palm = self._at["l-wrist"], axes[:, 2]
        heel = wrist + axes @ np.array([0.026, 0.0, 0.002])
        pieces: list[_Piece] = [(ball(heel, 0.0200), 0.01)]
        for finger in FINGERS[1:]:
            knuckle = self._at[f"l-{finger}0"]
            start = wrist + 0.30 * (knuckle - wrist) + 0.001 * palm
            width = _FINGER_RADII[finger][0]
            radii = [0.0150, 0.0140, width + 0.0028]
            pieces.append((spindle(start, knuckle, radii), 0.016))
        thumb = self._at["l-thumb0"]
        pad = 0.45 * thumb + 0.55 * self._at["l-thumb1"] + 0.001 * palm
        start = wrist + axes @ np.array([0.018, 0.006, 0.004])
        pieces.append((spindle(start, pad, [0.0150, 0.0168, 0.0125]), 0.014))
        edge = wrist + axes @ np.array([0.040, -0.020, 0.006])
        pieces.append((ball(edge, 0.0150), 0.014))
        return pieces

    def _finger(self, finger: str) -> list[_Piece]:
        base, tip = _FINGER_RADII[finger]
        pieces: list[_Piece] = []
        names = [f"l-{finger}{i}" for i in range(3)]
        points = [self._at[n] for n in names] + [self._tip[names[2]]]
        points[3] = points[3] + (points[2] - points[3]) * (tip / 0.025)
        radii = np.linspace(base, tip, 4)
        for i in range(3):
            a, b = radii[i], radii[i + 1]
            keys = [a, 0.5 * (a + b) - 0.0002, b]
            pieces.append((spindle(points[i], points[i + 1], keys), 0.003))
        return pieces

    def _leg(self) -> list[_Piece]:
        hip, knee, ankle = (self._at[f"l-{n}"] for n in ("hip", "knee", "ankle"))
        thigh = [0.072, 0.0765, 0.0755, 0.0700, 0.0615, 0.0530, 0.0460]
        shin = [0.0430, 0.0535, 0.0600, 0.0570, 0.0480, 0.0395, 0.0335, 0.0310]
        bulge = [0.0, -0.004, -0.012, -0.012, -0.007, -0.003, 0.0, 0.0]
        return [
            (ball(hip + np.array([0.0, -0.004, 0.0]), 0.0745), 0.01),
            (spindle(hip, knee, thigh, bends=[0, 8e-3, 9e-3, 5e-3, 0]), 0.016),
            (ball(knee + np.array([0.0, 0.0, 0.002]), 0.0560), 0.009),
            (spindle(knee, ankle, shin, bends=bulge), 0.009),
            (
                ball(ankle + np.array([0.0, -0.002, 0.0]), (0.0385, 0.0375, 0.0385)),
                0.010,
            ),
        ]

    def _foot(self) -> list[_Piece]:
        ankle, toe, tip = self._at["l-ankle"], self._at["l-toe"], self._tip["l-toe"]
        x = float(ankle[0])
        heel = np.array([x, 0.036, -0.044])
        ball_of = np.array([x + 0.003, 0.020, float(toe[2])])
        end = np.array([x - 0.002, 0.019, float(tip[2]) - 0.031])
        top = ankle + np.array([0.0, -0.022, 0.012])
        up = (0.0, 1.0, 0.0)
        side = [0.0330, 0.0350, 0.0410, 0.0465]
        toes = [0.0465, 0.0465, 0.0430, 0.0360]
        return [
            (ball(heel, (0.0345, 0.0390, 0.0400)), 0.01),
            (spindle(heel, ball_of, side, depth_scale=0.74, toward=up), 0.03),
            (spindle(ball_of, end, toes, depth_scale=0.58, toward=up), 0.020),
            (spindle(top, ball_of, [0.037, 0.034, 0.028], toward=up), 0.030),
        ]


def _torso() -> list[_Piece]:
    return [
        (ball((0.0, 1.365, -0.010), (0.154, 0.114, 0.101)), 0.01),
        (ball((0.0, 1.280, -0.002), (0.128, 0.112, 0.094)), 0.05),
        (ball((0.0, 1.130, 0.000), (0.114, 0.098, 0.084)), 0.038),
        (ball((0.0, 0.985, -0.006), (0.130, 0.088, 0.092)), 0.056),
        (ball((0.0, 0.930, -0.014), (0.108, 0.074, 0.090)), 0.050),
    ]


def _head() -> list[_Piece]:
    neck = spindle((0, 1.455, -0.030), (0, 1.610, -0.012), [0.058, 0.0535, 0.050])
    return [
        (ball((0.0, 1.704, -0.008), (0.0765, 0.0960, 0.0920)), 0.01),
        (ball((0.0, 1.650, 0.022), (0.0575, 0.0880, 0.0640), -10.0), 0.045),
        (neck, 0.016),
    ]


def _evaluate(pieces: Sequence[_Piece], points: Doubles) -> Doubles:
    """Join pieces in order (N,), each with its own softness."""
    total = pieces[0][0].distance(points)
    for shape, soft in pieces[1:]:
        total = join(total, shape.distance(points), soft)
    return total


def nearest_part(field: BodyField, points: Doubles) -> NDArray[np.intp]:
    """Row in `PARTS` of the part each point (N, 3), x >= 0, lies on: (N,)."""
    distances = field.part_distances(points)
    table = np.stack([distances[part] for part in PARTS])
    return np.asarray(np.argmin(table, axis=0), np.intp)
