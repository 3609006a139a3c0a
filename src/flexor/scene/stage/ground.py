"""The ground of a stage: a field of heights, and what its cells are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Doubles, freeze
from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.layout import FARTHEST, SURFACES

__all__ = ["Ground", "flat_ground", "make_ground"]

MOST_SIDE = 4096  # cells


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Heights at the corners of square cells.

    heights: float64 (R, C), metres; row 0 at the least z, column 0 at the least x;
    corner: x and z of its first point; step: metres from point to point; surfaces:
    uint8 (R - 1, C - 1), numbers in SURFACES. A cell is two triangles, cut from its
    first corner to the opposite one. Beyond its edges the ground goes on as at the
    edge. highest: metres, the greatest of the heights. Takes ownership of the arrays.
    """

    heights: Doubles
    corner: tuple[float, float]
    step: float
    surfaces: NDArray[np.uint8]
    highest: float = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "heights", freeze(self.heights, np.float64, (None, None), "heights"))
        rows, columns = self.heights.shape
        if not 2 <= rows <= MOST_SIDE + 1 or not 2 <= columns <= MOST_SIDE + 1:
            raise ShapeError(
                f"heights: {rows} x {columns}, expected 2 to {MOST_SIDE + 1} each way"
            )
        if not (np.abs(self.heights) <= FARTHEST).all():
            raise ShapeError(f"heights: expected metres of at most {FARTHEST:g}")
        put(self, "highest", float(self.heights.max()))
        if not 1e-3 <= self.step <= FARTHEST:
            raise SettingError(f"step: {self.step!r}, expected metres from 0.001 on")
        shape = (rows - 1, columns - 1)
        put(self, "surfaces", freeze(self.surfaces, np.uint8, shape, "surfaces"))
        if self.surfaces.max() >= len(SURFACES):
            last = len(SURFACES) - 1
            raise ShapeError(f"surfaces: {self.surfaces.max()}, expected 0 to {last}")
        try:
            x, z = (float(value) for value in self.corner)
        except (TypeError, ValueError):
            raise SettingError(f"corner: {self.corner!r}, expected x and z") from None
        if not (abs(x) <= FARTHEST and abs(z) <= FARTHEST):
            raise SettingError(f"corner: {self.corner}, expected metres")
        put(self, "corner", (x, z))

    def height(self, x: ArrayLike, z: ArrayLike) -> Any:
        """Metres above zero at places: a float, or float64 of the shape of x and z.

        x, z: numbers or arrays, metres, which are broadcast. The numbers are those that
        a stage puts its characters on, to the bit.
        """
        heights, _, shape = self._look(x, z)
        return heights.reshape(shape) if shape else float(heights[0])

    def normal(self, x: ArrayLike, z: ArrayLike) -> Doubles:
        """Which way is straight away from the ground: float64 (..., 3), unit, with the
        shape of x and z in front. Beyond an edge nothing rises across it.
        """
        _, normals, shape = self._look(x, z)
        return normals.reshape(*shape, 3)

    def _look(
        self, x: ArrayLike, z: ArrayLike
    ) -> tuple[Doubles, Doubles, tuple[int, ...]]:
        """Heights (P,) and normals (P, 3) of places, and the shape of x and z."""
        from flexor.maths.kernels import field as kernel_field

        xs, zs = _metres(x, "x"), _metres(z, "z")
        try:
            shape = np.broadcast_shapes(xs.shape, zs.shape)
        except ValueError:
            raise ShapeError(
                f"x, z: shapes {xs.shape} and {zs.shape} do not go together"
            ) from None
        places = np.zeros((*shape, 3))
        places[..., 0], places[..., 2] = xs, zs
        places = places.reshape(-1, 3)
        heights, normals = np.empty(len(places)), np.empty((len(places), 3))
        kernel_field.look_down(
            self.heights,
            self.surfaces,
            *self.corner,
            self.step,
            places,
            heights,
            normals,
            np.empty(len(places), np.uint8),
        )
        return heights, normals, shape

    def mesh(self) -> tuple[Doubles, NDArray[np.int32]]:
        """Its triangles: places (R * C, 3) and faces (2 cells, 3), seen from above
        counter-clockwise; those of a cell follow each other, cell by cell.
        """
        rows, columns = self.heights.shape
        z, x = np.indices((rows, columns)) * self.step
        places = np.stack([x + self.corner[0], self.heights, z + self.corner[1]], -1)
        first = np.arange(rows * columns).reshape(rows, columns)
        a, b = first[:-1, :-1], first[:-1, 1:]
        c, d = first[1:, :-1], first[1:, 1:]
        faces = np.stack([a, c, d, a, d, b], -1).reshape(-1, 3)
        return places.reshape(-1, 3), faces.astype(np.int32)


def _metres(values: ArrayLike, name: str) -> Doubles:
    """Numbers as float64; refused where one is none."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{name}: {values!r}, expected metres") from None
    wrong = np.argwhere(~np.isfinite(found))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        where = f"{name}[{', '.join(map(str, at))}]" if at else name
        raise ShapeError(f"{where}: {found[at]}, expected a finite number of metres")
    return found


def make_ground(
    heights: NDArray[np.floating],
    corner: tuple[float, float],
    step: float,
    surfaces: NDArray[np.integer] | Sequence[str] | str = "plain",
) -> Ground:
    """A ground of heights (R, C); surfaces: one name for all, or numbers of cells."""
    points: Doubles = np.array(heights, np.float64)
    if isinstance(surfaces, str):
        if surfaces not in SURFACES:
            known = ", ".join(SURFACES)
            raise SettingError(f"surfaces: {surfaces!r}, expected one of {known}")
        shape = tuple(max(n - 1, 0) for n in points.shape)
        surfaces = np.full(shape, SURFACES.index(surfaces))
    return Ground(points, corner, step, np.array(surfaces))


def flat_ground(size: float = 40.0, height: float = 0.0) -> Ground:
    """A flat, plain ground around the origin, `size` metres each way."""
    return make_ground(np.full((2, 2), height), (-size / 2, -size / 2), size)
