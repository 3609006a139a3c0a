"""Walk and run in place: planted feet that the ground carries backwards.

A foot in contact rolls on its heel, lies flat, then rolls over the ball while the toes
stay down. The rolling point moves backwards at exactly the clip's speed, so against
ground moving at that speed nothing slides. The swing between two contacts is a spline
whose ends take over the position and velocity of the contact.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import SIDES, Limb, Sheet, new_sheet
from tools.mannequin.rotation import turn

Keys = tuple[tuple[float, float], ...]
Curve = Callable[[Doubles], Doubles]


@dataclass(frozen=True, slots=True, eq=False)
class Gait:
    """One way of going. Lengths in metres, angles in degrees, phases of the cycle.

    contact: share of the cycle a foot is down; front: ankle ahead of the hips when it
    lands; pitch: (phase, toe-up angle) keys over the contact. swing_pitch, swing_ahead
    and swing_height: keys over the swing, phase 0 to 1 without the ends.
    """

    duration: float
    speed: float
    contact: float
    front: float
    width: float
    pitch: Keys
    swing_pitch: Keys
    swing_ahead: Keys
    swing_height: Keys


WALK = Gait(
    duration=1.0,
    speed=1.35,
    contact=0.60,
    front=0.318,
    width=0.080,
    pitch=((0.0, 21.0), (0.09, 0.0), (0.28, 0.0), (0.44, -17.0), (0.60, -62.0)),
    swing_pitch=((0.10, -68.0), (0.35, -36.0), (0.62, 3.0), (0.84, 20.0)),
    swing_ahead=((0.22, -0.320), (0.50, 0.035), (0.80, 0.322)),
    swing_height=((0.18, 0.222), (0.48, 0.160), (0.76, 0.132)),
)
RUN = Gait(
    duration=44 / 60,
    speed=3.5,
    contact=0.29,
    front=0.265,
    width=0.070,
    pitch=((0.0, 8.0), (0.05, 0.0), (0.12, 0.0), (0.20, -24.0), (0.29, -66.0)),
    swing_pitch=((0.14, -92.0), (0.38, -84.0), (0.62, -34.0), (0.84, 6.0)),
    swing_ahead=((0.18, -0.520), (0.42, -0.250), (0.66, 0.225), (0.86, 0.335)),
    swing_height=((0.18, 0.395), (0.40, 0.470), (0.64, 0.330), (0.86, 0.165)),
)


def wave(phase: Doubles, amplitude: float, peak: float, beats: int = 1) -> Doubles:
    """Cosine over the cycle with its crest at phase `peak`."""
    return np.asarray(amplitude * np.cos(2 * np.pi * beats * (phase - peak)))


def foot_path(gait: Gait, nodes: NodeTable) -> tuple[Curve, Curve]:
    """Ankle (ahead, height) metres and pitch degrees over phase 0..1, periodic."""
    from scipy.interpolate import PchipInterpolator

    contact = np.linspace(0.0, gait.contact, 81)
    travel = gait.speed * gait.duration
    keys = np.array(gait.pitch)
    pitch = PchipInterpolator(keys[:, 0], keys[:, 1])(contact)
    ankle, toe = (nodes.positions[nodes.index(n)] for n in ("l-ankle", "l-toe"))
    heel = np.array([0.0, 0.004, ankle[2] - 0.034])
    rolls = np.where(pitch[:, None] > 0.0, heel, toe)[:, 1:]
    arm = ankle[1:] - rolls
    angle = np.deg2rad(-pitch)
    c, s = np.cos(angle), np.sin(angle)
    height = rolls[:, 0] + c * arm[:, 0] - s * arm[:, 1]
    ahead = rolls[:, 1] + s * arm[:, 0] + c * arm[:, 1] - ankle[2]
    ahead = ahead + gait.front - travel * contact
    down = np.stack([ahead, height, pitch], axis=1)
    slopes = np.gradient(down, contact, axis=0)
    return _close(gait, contact, down, slopes)


def _close(
    gait: Gait, contact: Doubles, down: Doubles, slopes: Doubles
) -> tuple[Curve, Curve]:
    """Add the swing and return periodic splines of (ahead, height) and of pitch."""
    from scipy.interpolate import CubicSpline

    swing_share = 1.0 - gait.contact
    phases = np.linspace(0.0, 1.0, 61)[1:-1]
    columns = []
    for k, keys in enumerate((gait.swing_ahead, gait.swing_height, gait.swing_pitch)):
        inner = np.array(keys)
        x = np.concatenate([[0.0], inner[:, 0], [1.0]])
        y = np.concatenate([[down[-1, k]], inner[:, 1], [down[0, k]]])
        ends = ((1, slopes[-1, k] * swing_share), (1, slopes[0, k] * swing_share))
        columns.append(CubicSpline(x, y, bc_type=ends)(phases))
    swing = np.stack(columns, axis=1)
    phase = np.concatenate([contact, gait.contact + swing_share * phases, [1.0]])
    values = np.concatenate([down, swing, down[:1]])
    path = CubicSpline(phase, values[:, :2], bc_type="periodic")
    return path, CubicSpline(phase, values[:, 2], bc_type="periodic")


def _legs(sheet: Sheet, gait: Gait, phase: Doubles, knees_out: float) -> None:
    """Put both feet on their paths, half a cycle apart, toes flat while they carry."""
    path, pitching = foot_path(gait, sheet.nodes)
    rest = sheet.nodes.positions[sheet.nodes.index("l-ankle")]
    for side, sign in SIDES.items():
        own = (phase + (0.0 if side == "l" else 0.5)) % 1.0
        ahead, height = path(own).T
        pitch = pitching(own)
        across = np.full_like(own, sign * gait.width)
        target = np.stack([across, height, rest[2] + ahead], axis=1)
        pole = np.array([sign * knees_out, 0.0, 1.0])
        poles = np.broadcast_to(pole, target.shape).copy()
        sheet.limbs[f"{side}-hip"] = Limb(target, poles)
        sheet.feet[f"{side}-ankle"] = turn("x", np.deg2rad(-pitch))
        swing = (own - gait.contact) / (1.0 - gait.contact)
        late = np.clip((swing - 0.05) / 0.32, 0.0, 1.0)
        hold = np.where(own <= gait.contact, 1.0, (1.0 - late) ** 2 * (1 + 2 * late))
        sheet.bend(f"{side}-toe", z=np.maximum(-pitch, 0.0) * hold)


def make_walk(nodes: NodeTable) -> Sheet:
    """Walk at 1.35 m/s, one second a cycle, the left heel landing first."""
    sheet = new_sheet(nodes, WALK.duration)
    phase = sheet.times / WALK.duration
    sheet.hips[:, 0] += wave(phase, 0.020, 0.30)
    sheet.hips[:, 1] += -0.029 + wave(phase, 0.012, 0.28, 2)
    sheet.hips[:, 2] += wave(phase, 0.007, 0.12, 2)
    yaw, roll = wave(phase, -6.0, 0.0), wave(phase, 3.2, 0.20)
    sheet.lean("hips", x=2.0 + wave(phase, 1.0, 0.05, 2), y=yaw, z=roll)
    for name, share in (("spine0", 0.30), ("spine1", 0.35), ("chest", 0.35)):
        lean = wave(phase, 0.8, 0.55, 2)
        sheet.lean(name, x=1.0 + share * lean, y=-2.05 * share * yaw, z=-share * roll)
    sheet.lean("neck", x=1.0, y=0.45 * yaw)
    sheet.lean("head", x=-2.5 + wave(phase, 0.8, 0.15, 2), y=0.55 * yaw)
    _legs(sheet, WALK, phase, knees_out=0.06)
    for side, offset in (("l", 0.5), ("r", 0.0)):
        own = phase + offset
        forward = -3.0 + wave(own, 23.0, 0.03) + wave(own, 2.0, 0.1, 2)
        elbow = 17.0 + wave(own, 11.0, 0.08)
        sheet.swing_arm(side, forward, 9.0 + wave(own, 1.2, 0.3, 2), elbow, 3.0)
        sheet.bend(f"{side}-shoulder", z=wave(own, 3.0, 0.03), y=-2.0)
        sheet.pronate(side, 8.0 + wave(own, 6.0, 0.1))
        sheet.bend(f"{side}-wrist", y=4.0, z=-3.0 + wave(own, 5.0, 0.85))
    return sheet


def make_run(nodes: NodeTable) -> Sheet:
    """Run at 3.5 m/s with two flights a cycle, the left foot landing first."""
    sheet = new_sheet(nodes, RUN.duration)
    phase = sheet.times / RUN.duration
    middle = 0.5 * RUN.contact
    sheet.hips[:, 0] += wave(phase, 0.010, middle)
    sheet.hips[:, 1] += -0.052 + wave(phase, -0.036, middle - 0.005, 2)
    sheet.hips[:, 2] += wave(phase, 0.008, 0.42, 2)
    yaw, roll = wave(phase, -9.0, -0.04), wave(phase, 3.0, middle)
    sheet.lean("hips", x=9.0 + wave(phase, 1.5, 0.02, 2), y=yaw, z=roll)
    for name, share in (("spine0", 0.30), ("spine1", 0.35), ("chest", 0.35)):
        bob = wave(phase, 2.0, middle, 2)
        sheet.lean(name, x=1.4 + share * bob, y=-2.1 * share * yaw, z=-share * roll)
    sheet.lean("neck", x=-2.0, y=0.5 * yaw)
    sheet.lean("head", x=-7.0 - wave(phase, 1.2, middle, 2), y=0.6 * yaw)
    _legs(sheet, RUN, phase, knees_out=0.04)
    for side, offset in (("l", 0.5), ("r", 0.0)):
        own = phase + offset
        forward = -14.0 + wave(own, 41.0, -0.02)
        elbow = 92.0 + wave(own, 14.0, 0.02) + wave(own, 5.0, 0.2, 2)
        sheet.swing_arm(side, forward, 12.0, elbow, 13.0 + wave(own, 5.0, 0.0))
        sheet.bend(f"{side}-shoulder", z=wave(own, 5.0, 0.0), y=1.0)
        sheet.pronate(side, 14.0)
        sheet.bend(f"{side}-wrist", y=6.0, z=wave(own, 7.0, 0.85))
    return sheet


def make_idle(nodes: NodeTable) -> Sheet:
    """Stand for four seconds: one breath and one shift of weight each way."""
    sheet = new_sheet(nodes, 4.0)
    phase = sheet.times / 4.0
    shift = wave(phase, 1.0, 0.25)
    breath = wave(phase, 1.0, 0.40) + wave(phase, 0.15, 0.40, 2)
    sheet.hips[:, 0] += 0.020 * shift
    sheet.hips[:, 1] += -0.005 + 0.001 * breath - 0.002 * shift**2
    sheet.hips[:, 2] += 0.004 * wave(phase, 1.0, 0.6)
    sheet.lean("hips", x=0.5, y=-1.5 * shift, z=1.6 * shift)
    for name in ("spine0", "spine1", "chest"):
        tilt = -0.6 * shift
        sheet.lean(name, x=0.4 - 0.55 * breath, y=0.7 * shift, z=tilt)
    sheet.lean("neck", x=1.5 + 0.6 * breath, y=0.6 * shift)
    sheet.lean("head", x=-1.0 + 0.8 * breath, y=wave(phase, 2.2, 0.45), z=-0.5 * shift)
    for side, sign in SIDES.items():
        ankle = nodes.positions[nodes.index(f"{side}-ankle")].copy()
        ankle[0] -= sign * 0.004
        target = np.broadcast_to(ankle, sheet.hips.shape).copy()
        toe_out = 7.0 * sign
        pole = np.array([np.sin(np.deg2rad(toe_out)), 0.0, np.cos(np.deg2rad(toe_out))])
        sheet.limbs[f"{side}-hip"] = Limb(target, np.broadcast_to(pole, target.shape))
        angle = np.full(len(phase), np.deg2rad(toe_out))
        sheet.feet[f"{side}-ankle"] = turn("y", angle)
        own = sign * shift
        sheet.swing_arm(side, 1.0 + 1.0 * own, 10.0 - 0.5 * breath, 14.0 + breath, 5.0)
        sheet.bend(f"{side}-shoulder", y=-2.0 + 1.2 * breath, z=0.8 * breath)
        sheet.pronate(side, 8.0 + 2.0 * own)
        sheet.bend(f"{side}-wrist", y=4.0)
    return sheet
