"""A clip at a moment, all the way to the world, in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.bench.synthetic import make_character
from flexor.deform.kernels.vertices import palette
from flexor.errors import ShapeError
from flexor.pose import moving
from flexor.pose.links import follow_links
from flexor.pose.model_space import init_world, world_from_local
from flexor.pose.moving import init_moving, move
from flexor.pose.sample import init_sample, sample
from tests.scenes import random_scene

Rng = np.random.Generator
PLAIN = make_character(8, 4)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("clip", ["turns", "all", "linear", "step", "cubic", "mixed"])
def test_as_in_three_steps(clip: str, count: int, rng: Rng) -> None:
    """To the bit, by the kernels `move` and `hang_all`; two clips have no morphs."""
    is_plain = clip in ("turns", "all")
    hero = PLAIN if is_plain else Character(random_scene(rng, nodes=13))
    tables, layout, bind = hero.clip_tables(clip), hero.layout, hero.binds[0]
    state = init_moving(tables, layout, count, bind.nodes, bind.binds)
    steps, world = init_sample(tables, layout, count), init_world(layout, count)
    places = rng.normal(size=(count, 3, 4)).astype(np.float32)
    state.world.places[:] = places
    world.places[:] = places
    for _ in range(3):
        moments = rng.uniform(-0.2, tables.duration + 0.2, count).astype(np.float32)
        assert move(state, moments) is state
        local = sample(steps, moments).local
        follow_links(layout, local)
        world_from_local(world, local)
        hung = np.zeros((count, 12 * len(bind.nodes)), np.float32)
        flat = world.matrices.reshape(count, 12 * len(layout.skeleton))
        palette(flat, bind.nodes, bind.binds, hung)
        np.testing.assert_array_equal(state.sampled.local, local)
        np.testing.assert_array_equal(state.sampled.weights, steps.weights)
        np.testing.assert_array_equal(state.world.matrices, world.matrices)
        np.testing.assert_array_equal(state.hung.reshape(hung.shape), hung)


def test_plain_clips_are_one_call(rng: Rng, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(moving, "_move_by_steps", lambda state, _: calls.append(state))
    plain = init_moving(PLAIN.clip_tables("turns"), PLAIN.layout, 1)
    hero = Character(random_scene(rng))
    morphed = init_moving(hero.clip_tables("mixed"), hero.layout, 1)
    for state in (plain, morphed):
        move(state, np.zeros(1, np.float32))
    assert calls == [morphed]


@pytest.mark.jit  # plain Python does not look at arrays
@pytest.mark.parametrize(
    ("moments", "text"),
    [
        (np.zeros(3, np.float32), "moments: shape"),
        (np.zeros(2), "moments: float64"),
        (np.zeros((2, 1), np.float32), "moments: shape"),
        (np.zeros(4, np.float32)[::2], "moments: must be C-ordered"),
        ([0.0, 0.0], "moments: list"),
    ],
)
def test_refusals(moments: Any, text: str) -> None:
    state = init_moving(PLAIN.clip_tables("turns"), PLAIN.layout, 2)
    with pytest.raises(ShapeError, match=text):
        move(state, moments)


def test_what_hangs_must_hang_on_something(rng: Rng) -> None:
    hero = Character(random_scene(rng, nodes=9))
    tables, layout = hero.clip_tables("mixed"), hero.layout
    offsets = np.zeros((1, 12), np.float32)
    with pytest.raises(ShapeError, match="nodes: 9, but there are 9"):
        init_moving(tables, layout, 1, np.array([9], np.uint32), offsets)
    with pytest.raises(ShapeError, match="offsets"):
        init_moving(tables, layout, 1, np.array([1, 2], np.uint32), offsets)
