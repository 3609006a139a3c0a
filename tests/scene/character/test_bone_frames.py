"""Axes of bones from directions of model space."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.maths import quaternions
from flexor.scene.character.bone_frames import (
    bone_frame,
    node_axes,
    square,
    usual_along,
)
from flexor.scene.character.skeleton import rest_world
from tests.scenes import random_skeleton


@pytest.mark.parametrize("scale", ["one", "even", "mirror"])
def test_frames_point_where_they_are_told(rng: np.random.Generator, scale: str) -> None:
    """Turned by a little about Z, the bone goes the way it was told to bend."""
    skeleton = random_skeleton(rng, 4, roots=1, scale=scale)  # type: ignore[arg-type]
    for axes in node_axes(skeleton)[:2]:
        if scale == "mirror" and np.abs(axes.T @ axes - np.eye(3)).max() > 0.1:
            continue  # sheared: no turn of it is one of the model
        along, toward = rng.normal(size=(2, 3))
        frame = quaternions.to_matrix(bone_frame(axes, along, toward))
        assert np.linalg.det(frame) > 0.999
        x_axis = axes @ frame[:, 0]
        np.testing.assert_allclose(np.cross(x_axis, along), 0, atol=1e-6)
        assert x_axis @ along > 0
        assert (axes @ frame[:, 1]) @ toward > 0


def test_axes_without_the_own_scale(rng: np.random.Generator) -> None:
    skeleton = random_skeleton(rng, 3, roots=1, scale="zero")
    axes = node_axes(skeleton)
    assert np.isfinite(axes).all()
    turns = quaternions.to_matrix(skeleton.rotations.astype(float))
    root = int(np.nonzero(skeleton.parents < 0)[0][0])
    np.testing.assert_allclose(axes[root], turns[root], atol=1e-6)


def test_across() -> None:
    axis = np.array([1.0, 0, 0])
    np.testing.assert_allclose(square(np.array([5.0, 2, 0]), axis), [0, 1, 0])
    for vector in (np.zeros(3), axis * 5):
        across = square(vector, axis)
        np.testing.assert_allclose(np.linalg.norm(across), 1)
        np.testing.assert_allclose(across @ axis, 0)


def test_usual_directions_are_units(rng: np.random.Generator) -> None:
    skeleton = random_skeleton(rng, 9)
    places = rest_world(skeleton)[:, :, 3]
    for where in (places, np.zeros_like(places)):
        for node in range(len(skeleton)):
            way = usual_along(skeleton, node, where)
            np.testing.assert_allclose(np.linalg.norm(way), 1)
