"""How far points are off, against the slow twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.motion.error import (
    displacements,
    measure_motion,
    node_parts,
    world_of,
)
from flexor.pose.clip_tables import pack_clip
from flexor.pose.layout import make_layout
from flexor.scene.character.clip import Clip, Track
from tests.oracle import packed as oracle
from tests.packed_clips import arm
from tests.scenes import plain_scene, random_rotations, random_skeleton


@pytest.mark.parametrize("kind", ["one", "even", "uneven"])
def test_displacements_are_those_of_the_twin(rng: Any, kind: Any) -> None:
    skeleton = random_skeleton(rng, 9)
    layout = make_layout(plain_scene(skeleton))
    one = np.repeat(node_parts(layout, layout.rest[None]), 3, 0)
    two = one + rng.normal(size=one.shape) * 1e-2
    if kind != "one":
        one[..., 7:] *= 3.0
    if kind == "uneven":
        one[..., 8] *= 0.5
    off = displacements(world_of(layout, one), world_of(layout, two), 0.03)
    for frame in range(3):
        wanted = oracle.displacements(skeleton, one[frame], two[frame], 0.03)
        np.testing.assert_allclose(off[frame], wanted, rtol=1e-9)


def test_a_turn_is_seen_at_the_end_of_the_chain() -> None:
    skeleton = arm(5)
    layout = make_layout(plain_scene(skeleton))
    angle = 1e-3
    turn = np.array([[0, 0, np.sin(angle / 2), np.cos(angle / 2)]])
    still = Clip("a", (Track(0, "rotation", np.zeros(1), [[0, 0, 0, 1]]),))
    turned = Clip("b", (Track(0, "rotation", np.zeros(1), turn),))
    tables = [pack_clip(clip, layout) for clip in (still, turned)]
    found = measure_motion(tables[0], tables[1], np.zeros(1, np.float32), 0.03)
    assert found.node == 4
    assert found.worst == pytest.approx(1.03 * angle, rel=1e-3)


def test_points_are_where_they_are_in_the_scene(rng: Any) -> None:
    """A joint that is a hundred times as large still has its points at 3 cm."""
    skeleton = arm(1)
    layout = make_layout(plain_scene(skeleton))
    q = np.concatenate([random_rotations(rng, 1), random_rotations(rng, 1)])
    found = []
    for size in (1.0, 100.0):
        scale = Track(0, "scale", np.zeros(1), np.full((1, 3), size))
        clips = [
            Clip("a", (Track(0, "rotation", np.zeros(1), q[n : n + 1].copy()), scale))
            for n in (0, 1)
        ]
        tables = [pack_clip(clip, layout) for clip in clips]
        found.append(measure_motion(*tables, np.zeros(1, np.float32), 0.03).worst)
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    assert 0 < found[0] <= 0.06


def test_nothing_to_look_at() -> None:
    layout = make_layout(plain_scene(arm(0)))
    tables = pack_clip(Clip("a", ()), layout)
    assert measure_motion(tables, tables, np.zeros(0, np.float32), 0.03).worst == 0
