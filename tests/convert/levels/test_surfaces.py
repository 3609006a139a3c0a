"""Levels as surfaces: materials apart, coarse levels first, joints together."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.levels.body import LevelBody
from flexor.convert.levels.surfaces import LevelSkin, make_surfaces


def body(faces: Any, materials: Any, joints: Any) -> LevelBody:
    count = len(materials)
    zeros = np.zeros((count, 3), np.float32)
    sources = np.stack([np.zeros(count), np.zeros(count), np.arange(count)], 1)
    names = np.array(joints, np.uint16).reshape(count, -1 if count else 1)
    weights = np.full(names.shape, 1 / names.shape[1], np.float32)
    return LevelBody(
        sources.astype(np.int32),
        zeros,
        zeros,
        zeros,
        zeros[:, :2],
        np.array(materials, np.int32),
        np.array(faces, np.int32),
        names,
        weights,
        np.arange(9, dtype=np.int32),
        np.zeros((9, 3, 4), np.float32),
        np.zeros(9, np.int32),
    )


def skins(own: LevelBody, *faces: Any) -> list[LevelSkin]:
    whole = [own.faces, *(np.array(f, np.int32).reshape(-1, 3) for f in faces)]
    return [LevelSkin(f, own.joints, own.weights) for f in whole]


def test_vertices_of_coarse_levels_stand_first_and_joints_together() -> None:
    own = body([(0, 1, 2), (3, 4, 5), (6, 7, 0)], [2] * 8, [5, 3, 3, 1, 5, 1, 3, 1])
    (surface,) = make_surfaces(own, skins(own, [(4, 6, 2)], [(4, 6, 2)]))
    assert surface.counts.tolist() == [8, 3, 3]
    assert surface.sources[:3, 2].tolist() == [2, 6, 4]  # joints 3 3 5
    assert surface.sources[3:, 2].tolist() == [3, 5, 7, 1, 0]  # joints 1 1 1 3 5
    for level, want in enumerate((own.faces, [(4, 6, 2)], [(4, 6, 2)])):
        back = surface.sources[:, 2][surface.faces[level]]
        np.testing.assert_array_equal(back, want)
        assert len(surface.joints[level]) == surface.counts[level]
        np.testing.assert_array_equal(
            surface.joints[level][:, 0],
            own.joints[surface.sources[: surface.counts[level], 2], 0],
        )


def test_a_surface_for_each_material_in_order_of_use() -> None:
    own = body(
        [(3, 4, 5), (0, 1, 2), (6, 7, 8)], [0, 0, 0, 4, 4, 4, -1, -1, -1], [0] * 9
    )
    surfaces = make_surfaces(own, skins(own, [(0, 1, 2)]))
    assert [surface.material for surface in surfaces] == [4, 0, -1]
    assert [surface.counts.tolist() for surface in surfaces] == [[3, 0], [3, 3], [3, 0]]
    assert [len(surface.faces[1]) for surface in surfaces] == [0, 1, 0]
    assert surfaces[0].joints[1].shape == (0, 1)


def test_few_joints_come_before_many() -> None:
    own = body([(0, 1, 2)], [0, 0, 0], [(1, 2), (0, 0), (0, 3)])
    own.weights[1] = 1, 0
    (surface,) = make_surfaces(own, skins(own))
    assert surface.sources[:, 2].tolist() == [1, 2, 0]


def test_each_level_has_as_many_influences_as_it_needs() -> None:
    own = body([(0, 1, 2)], [0, 0, 0], [(1, 2), (0, 2), (0, 3)])
    one = np.array([[1], [2], [3]], np.uint16)
    levels = skins(own, [(0, 1, 2)])
    levels[1] = LevelSkin(levels[1].faces, one, np.ones((3, 1), np.float32))
    (surface,) = make_surfaces(own, levels)
    assert [joints.shape[1] for joints in surface.joints] == [2, 1]


def test_nothing_makes_no_surface() -> None:
    own = body(np.zeros((0, 3)), [], np.zeros((0, 1)))
    assert make_surfaces(own, skins(own)) == ()
