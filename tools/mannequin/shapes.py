"""Turned solids with distance functions, and smooth ways to join them.

Every shape answers `distance(points)`: points (N, 3) metres in, signed distances (N,)
metres out, negative inside. Distances are exact on the surface and good near it; the
skin maker only needs them within a few centimetres.
The joins follow Quilez, "Smooth minimum" (polynomial form).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles
from tools.mannequin.rotation import frame

_TABLE_SIZE = 65


@dataclass(frozen=True, slots=True, eq=False)
class Spindle:
    """A limb turned on a lathe: a radius that changes along a straight axis.

    base, tip: (3,) ends of the axis; axes: (3, 3) columns along, depth, side.
    radii, bends: (65,) radius and shift of the centre along `depth`, even steps.
    depth_scale: how deep the cross-section is, for a width of one.
    """

    base: Doubles
    length: float
    axes: Doubles
    radii: Doubles
    bends: Doubles
    depth_scale: float

    def distance(self, points: Doubles) -> Doubles:
        """Signed distance of points (N, 3) in metres; round caps at both ends."""
        local = (points - self.base) @ self.axes
        t = np.clip(local[:, 0] / self.length, 0.0, 1.0) * (_TABLE_SIZE - 1)
        low = np.minimum(t.astype(np.intp), _TABLE_SIZE - 2)
        part = t - low
        radius = self.radii[low] * (1 - part) + self.radii[low + 1] * part
        bend = self.bends[low] * (1 - part) + self.bends[low + 1] * part
        over = local[:, 0] - t * (self.length / (_TABLE_SIZE - 1))
        depth = (local[:, 1] - bend) / self.depth_scale
        r = np.sqrt(over**2 + depth**2 + local[:, 2] ** 2)
        return np.asarray((r - radius) * min(1.0, self.depth_scale))


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsoid:
    """An ellipsoid; centre (3,), radii (3,), tilt radians about the x axis."""

    centre: Doubles
    radii: Doubles
    tilt: float = 0.0

    def distance(self, points: Doubles) -> Doubles:
        """Signed distance of points (N, 3) in metres, first order at the surface."""
        local = points - self.centre
        if self.tilt:
            c, s = np.cos(self.tilt), np.sin(self.tilt)
            local = local @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        scaled = local / self.radii
        k0 = np.sqrt(_squares(scaled))
        k1 = np.sqrt(_squares(scaled / self.radii))
        inner = -float(self.radii.min())
        return np.asarray(
            np.where(k1 > 1e-9, k0 * (k0 - 1.0) / np.maximum(k1, 1e-9), inner)
        )


def _squares(ways: Doubles) -> Doubles:
    """Sums (N,) of squares of (N, 3), as np.sum adds them: that takes three times as
    long on rows of three.
    """
    x, y, z = (ways**2).T
    return np.asarray(x + y + z)


def spindle(
    base: ArrayLike,
    tip: ArrayLike,
    radii: ArrayLike,
    *,
    bends: ArrayLike = 0.0,
    depth_scale: float = 1.0,
    toward: ArrayLike = (0.0, 0.0, 1.0),
) -> Spindle:
    """Lathe a limb from `base` to `tip` through evenly spaced radii (metres).

    bends: shifts of the centre towards `toward`, evenly spaced, metres.
    """
    a, b = np.asarray(base, np.float64), np.asarray(tip, np.float64)
    return Spindle(
        base=a,
        length=float(np.linalg.norm(b - a)),
        axes=frame(b - a, toward),
        radii=_curve(radii),
        bends=_curve(bends),
        depth_scale=depth_scale,
    )


def ball(centre: ArrayLike, radii: ArrayLike, tilt_degrees: float = 0.0) -> Ellipsoid:
    """Ball or ellipsoid; radii one number or three, metres; tilt about x, degrees."""
    return Ellipsoid(
        centre=np.asarray(centre, np.float64),
        radii=np.broadcast_to(np.asarray(radii, np.float64), (3,)).copy(),
        tilt=float(np.deg2rad(tilt_degrees)),
    )


def _curve(keys: ArrayLike) -> Doubles:
    """Even table (65,) through evenly spaced keys, monotone between them."""
    from scipy.interpolate import PchipInterpolator

    k = np.atleast_1d(np.asarray(keys, np.float64))
    if len(k) == 1:
        return np.full(_TABLE_SIZE, k[0])
    x = np.linspace(0.0, 1.0, len(k))
    curve = PchipInterpolator(x, k)
    return np.asarray(curve(np.linspace(0.0, 1.0, _TABLE_SIZE)), np.float64)


def join(a: Doubles, b: Doubles, radius: float) -> Doubles:
    """Smooth union of distances (N,): a fillet about `radius` metres wide."""
    h = np.maximum(radius - np.abs(a - b), 0.0)
    return np.asarray(np.minimum(a, b) - h * h / (4.0 * radius))


def cut(a: Doubles, b: Doubles, radius: float) -> Doubles:
    """Smooth intersection of distances (N,), rounded over `radius` metres."""
    h = np.maximum(radius - np.abs(a - b), 0.0)
    return np.asarray(np.maximum(a, b) + h * h / (4.0 * radius))
