"""Where pictures are taken from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.errors import SettingError
from flexor.maths import exact
from flexor.scene.character.light import Vector, as_vector

__all__ = ["Camera"]

FLAT_FAR = 1000.0  # metres: how far depth goes without perspective, if not said


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera at `eye` that looks at `target`.

    eye, target: metres, world space; up: which way is up in the picture; fov: angle
    from the bottom to the top of the picture, radians; height: for a picture without
    perspective, metres from its bottom to its top (fov is not used then); near: what
    is nearer than this many metres is not drawn.
    """

    eye: Vector = (0.0, 1.0, 4.0)
    target: Vector = (0.0, 1.0, 0.0)
    up: Vector = (0.0, 1.0, 0.0)
    fov: float = math.radians(35)
    height: float | None = None
    near: float = 0.01

    def __post_init__(self) -> None:
        for name in ("eye", "target", "up"):
            object.__setattr__(
                self, name, as_vector(getattr(self, name), f"camera {name}")
            )
        if not 1e-6 < self.fov < math.pi:
            raise SettingError(f"camera fov: {self.fov}, expected 1e-6 to pi radians")
        if self.height is not None and not 0 < self.height < math.inf:
            raise SettingError(f"camera height: {self.height}, expected metres above 0")
        if not 0 < self.near < math.inf:
            raise SettingError(f"camera near: {self.near}, expected metres above 0")
        self._axes()

    def axes(self) -> NDArray[np.float64]:
        """Right, up and backward in world space: rows of float64 (3, 3), unit."""
        return np.array(self._axes())

    def _axes(self) -> tuple[Vector, Vector, Vector]:
        # Plain numbers: this is done for every picture, and NumPy takes ten times as
        # long for three of them.
        back, _ = _unit(_less(self.eye, self.target))
        if not any(back):
            raise SettingError("camera: eye and target are the same point")
        up, _ = _unit(self.up)
        right, length = _unit(_cross(up, back))
        if not length > 1e-9:
            raise SettingError("camera: up points along the view; give another up")
        return right, _cross(back, right), back

    def view(self) -> NDArray[np.float64]:
        """camera_from_world, float64 (3, 4); the camera looks along its -z."""
        rows = [(*axis, -_dot(axis, self.eye)) for axis in self._axes()]
        return np.array(rows)

    def projection(
        self, size: tuple[int, int], *, far: float = math.inf
    ) -> NDArray[np.float64]:
        """clip_from_camera, float64 (4, 4), for pictures of (width, height).

        As OpenGL has it: it acts on column vectors (x, y, z, 1) of camera space (see
        `view`); divided by its last number a point is in the picture where all three
        are within -1 and 1, with x to the right, y up, and -1 at `near`, 1 at `far`.
        far: metres; inf for none, which a camera without perspective cannot have: its
        depth goes to 1000 m then.
        """
        try:
            width, height = (float(side) for side in size)
        except (TypeError, ValueError):
            width = height = math.nan
        if not (0 < width < math.inf and 0 < height < math.inf):
            raise SettingError(f"size: {size!r}, expected width and height in pixels")
        if not far > self.near:
            raise SettingError(f"far: {far!r}, expected metres beyond {self.near:g}")
        near, clip = self.near, np.zeros((4, 4))
        if self.height is not None:
            far = max(FLAT_FAR, 2 * near) if far == math.inf else far
            clip[1, 1] = 2 / self.height
            clip[2, 2:] = -2 / (far - near), -(far + near) / (far - near)
            clip[3, 3] = 1
        else:
            clip[1, 1] = 1 / exact.tan(self.fov / 2)
            # Of both divided by `far`, so that it may be infinite.
            share = near / far
            clip[2, 2:] = -(1 + share) / (1 - share), -2 * near / (1 - share)
            clip[3, 2] = -1
        clip[0, 0] = clip[1, 1] * height / width
        return clip

    def scale(self, size: tuple[int, int]) -> float:
        """Pixels a metre in a picture of (width, height), at a distance of 1 m if the
        camera has perspective.
        """
        if self.height is not None:
            return size[1] / self.height
        return size[1] / (2 * exact.tan(self.fov / 2))

    def project(self, points: ArrayLike, size: tuple[int, int]) -> NDArray[np.float64]:
        """Where points (..., 3) appear in a picture of (width, height).

        Gives float64 (..., 3): pixels from the left and from the top, and distance from
        the camera along the view in metres. Points that are not in front of the camera
        (distance below `near`) have pixels NaN.
        """
        view = self.view()
        seen = (
            exact.multiply(np.asarray(points, np.float64), view[:, :3].T) + view[:, 3]
        )
        distance = -seen[..., 2]
        scale = self.scale(size)
        divisor = distance if self.height is None else np.ones_like(distance)
        divisor = np.where(distance >= self.near, divisor, np.nan)
        x = size[0] / 2 + seen[..., 0] * scale / divisor
        y = size[1] / 2 - seen[..., 1] * scale / divisor
        return np.stack([x, y, distance], -1)

    def turned(self, angle: float) -> Camera:
        """The camera moved around its target by `angle` radians about its up axis,
        counter-clockwise seen from above.
        """
        axis = np.array(self.up) / exact.norm(self.up)
        arm = np.array(self.eye) - np.array(self.target)
        along = axis * exact.multiply(axis, arm)
        flat = arm - along
        arm = along + flat * exact.cos(angle) + np.cross(axis, flat) * exact.sin(angle)
        eye = np.array(self.target) + arm
        return replace(self, eye=(float(eye[0]), float(eye[1]), float(eye[2])))

    def moved(self, way: ArrayLike) -> Camera:
        """The camera moved by `way` (3,), metres, with what it looks at."""
        x, y, z = as_vector(way, "camera way")
        (a, b, c), (d, e, f) = self.eye, self.target
        return replace(self, eye=(a + x, b + y, c + z), target=(d + x, e + y, f + z))


def _less(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def _unit(a: Vector) -> tuple[Vector, float]:
    """A vector made of unit length (zero stays zero), and its length."""
    length = math.sqrt(_dot(a, a))
    if not length > 0:
        return (0.0, 0.0, 0.0), 0.0
    return (a[0] / length, a[1] / length, a[2] / length), length
