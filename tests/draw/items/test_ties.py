"""Lines from vertices to bones."""

from __future__ import annotations

import numpy as np

from flexor.draw.items.ties import TieShapes, build_ties

Rng = np.random.Generator


def shapes() -> TieShapes:
    return TieShapes(
        np.array([1, 0, 1], np.int32),
        np.array([2, 0, 2], np.int32),
        np.array([0, 1, 1], np.int32),
        np.array([(0, 0, 0), (1, 0, 0), (0, 2, 0)], np.float32),
        np.array([0.1, 0.4, 1.0], np.float32),
        np.eye(3, dtype=np.float32),
        part=2,
    )


def test_from_the_skin_to_the_bone(rng: Rng) -> None:
    positions = [rng.normal(size=(n, 3)).astype(np.float32) for n in (1, 3)]
    world = rng.normal(size=(2, 3, 4)).astype(np.float32)
    lines, dots = build_ties(shapes(), positions, world, 2.0)
    skin = [positions[1][2], positions[0][0], positions[1][2]]
    np.testing.assert_array_equal(lines.points[:, 0], skin)
    bones = [
        world[0, :, 3],
        world[1, :, 0] + world[1, :, 3],
        2 * world[1, :, 1] + world[1, :, 3],
    ]
    np.testing.assert_allclose(lines.points[:, 1], bones, rtol=1e-5)
    np.testing.assert_array_equal(dots.points[:, 0], skin)
    np.testing.assert_array_equal(dots.points[:, 1], skin)
    assert (lines.layer, dots.layer, lines.part) == (1, 1, 2)


def test_larger_weights_are_brighter(rng: Rng) -> None:
    positions = [rng.normal(size=(n, 3)).astype(np.float32) for n in (1, 3)]
    world = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    lines, _ = build_ties(shapes(), positions, world, 2.0)
    np.testing.assert_array_equal(lines.colours[:, :3], np.eye(3))
    share = lines.colours[:, 3]
    assert 0 < share[0] < share[1] < share[2] == 1


def test_nothing() -> None:
    none = np.zeros(0, np.int32)
    rows = np.zeros((0, 3), np.float32)
    empty = TieShapes(none, none, none, rows, np.zeros(0, np.float32), rows)
    assert build_ties(empty, [], np.zeros((0, 3, 4), np.float32), 1.0) == ()
