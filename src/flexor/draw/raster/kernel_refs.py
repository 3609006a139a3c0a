"""From a ref, the number of a triangle or piece, to its corners and its owner."""

from __future__ import annotations

import numpy as np

from flexor.draw.raster import kernel_layout as at
from flexor.maths.kernel import inline
from flexor.maths.kernel_borrow import ints_at
from flexor.maths.kernel_lanes import take


@inline
def find_row(table, column, value):
    """The last row whose number in `column` (rising) is not above `value`."""
    low, high = 0, len(table)
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle, column] <= value:
            low = middle
        else:
            high = middle
    return low


@inline
def own(items, element, owner):
    """Which item and instance a triangle belongs to.

    owner: what was found for the triangle before, which mostly fits: row of the item,
    first triangle of the instance and of the next, first vertex of the instance, number
    of the instance.
    """
    if owner[1] <= element < owner[2]:
        return owner
    row = find_row(items, at.FIRST_TRIANGLE, element)
    faces, first = items[row, at.FACES], items[row, at.FIRST_TRIANGLE]
    instance = (element - first) // faces
    vertex = items[row, at.FIRST_VERTEX] + instance * items[row, at.VERTICES]
    low = first + instance * faces
    return row, low, low + faces, vertex, instance


@inline
def nobody():
    """An owner that fits no triangle."""
    zero = np.int64(0)
    return zero, zero, zero, zero, zero


@inline
def corners_of(items, element, owner):
    """The vertices of a triangle, counted inside its instance."""
    triangles = ints_at(items[owner[0], at.TRIANGLES], 3 * items[owner[0], at.FACES])
    corner = 3 * (element - owner[1])
    return (
        np.int64(take(triangles, corner)),
        np.int64(take(triangles, corner + 1)),
        np.int64(take(triangles, corner + 2)),
    )
