"""Affine matrices (3, 4) in flat arrays, twelve numbers each, four at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import fma4, load4, spread4, store4

if TYPE_CHECKING:
    from flexor.arrays import Floats, Masks, Whole

# Lane 3 of a row is the translation: it takes the left matrix's own as well.
LAST_ROW = np.array([0, 0, 0, 1], np.float32)


@inline
def multiply_affine(
    c_from_b: Floats,
    left: Whole,
    b_from_a: Floats,
    right: Whole,
    c_from_a: Floats,
    to: Whole,
) -> None:
    """The product of the matrices at `left` and `right`, written at `to`."""
    r0, r1 = load4(b_from_a, right), load4(b_from_a, right + 4)
    r2, r3 = load4(b_from_a, right + 8), load4(LAST_ROW, 0)
    for row in range(0, 12, 4):
        at = left + row
        sums = fma4(spread4(c_from_b, at + 2), r2, spread4(c_from_b, at + 3) * r3)
        sums = fma4(spread4(c_from_b, at + 1), r1, sums)
        store4(c_from_a, to + row, fma4(spread4(c_from_b, at), r0, sums))


@inline
def hang(world: Floats, nodes: Masks, offsets: Floats, out: Floats) -> None:
    """Matrices world_from_thing = world_from_node * node_from_thing.

    world: (J * 12,); nodes: (S,), what each thing hangs on; offsets: (S, 12); out:
    (S * 12,).
    """
    flat = offsets.reshape(-1)
    for s in range(len(nodes)):
        multiply_affine(world, np.int64(nodes[s]) * 12, flat, 12 * s, out, 12 * s)
