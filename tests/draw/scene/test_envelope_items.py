"""Characters drawn part by part: what is handed over, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.convert.envelope.make import convert_scene
from flexor.deform.envelope import trace_envelope
from flexor.draw.record.backend import RecordBackend
from flexor.draw.scene.envelope_sink import EnvelopeDraw
from flexor.draw.scene.style import DrawStyle
from flexor.errors import SettingError, ShapeError
from tests.draw.scene.parted import bent, by_parts, dressed, tube, whole
from tests.draw.scenes import png
from tests.scenes import random_scene

Rng = np.random.Generator

CHECKER = png(np.random.default_rng(1).integers(0, 256, (8, 8, 3)))


# What is handed over


def test_items_are_the_parts_of_the_envelope() -> None:
    hero, store = Character(tube()), RecordBackend()
    dress = dressed(store, hero.scene)
    pose = bent(hero)
    ((surface,), _) = whole(hero, dress, pose, "multi")
    items, lines = by_parts(hero, dress, pose, "multi")
    envelope = hero.envelopes.multi
    assert not lines
    assert [item.part for item in items] == list(range(len(envelope.parts)))
    (own,) = store.meshes[:1]
    faces: list[Any] = []
    for part, item in enumerate(items):
        order = envelope.part_order(part)
        mesh = store.meshes[item.mesh]
        assert item.look == surface.look
        np.testing.assert_array_equal(mesh.texcoords, own.texcoords[order])
        np.testing.assert_allclose(item.positions, surface.positions[order], atol=1e-6)
        np.testing.assert_allclose(item.normals, surface.normals[order], atol=1e-5)
        faces += order[mesh.faces].tolist()
    assert sorted(faces) == sorted(own.faces.tolist())


def test_each_part_has_its_own_heat() -> None:
    """For the heat buffer, in any style; colours only where the style shows it."""
    hero, store = Character(tube()), RecordBackend()
    pose, envelope = bent(hero), hero.envelopes.multi
    for style in (DrawStyle(heat="node2"), DrawStyle(style="heat", heat="node2")):
        dress = dressed(store, hero.scene, style)
        ((surface,), _) = whole(hero, dress, pose, "multi")
        assert 0 < surface.heat.mean() < 1
        for part, item in enumerate(by_parts(hero, dress, pose, "multi")[0]):
            order = envelope.part_order(part)
            np.testing.assert_array_equal(item.heat, surface.heat[order])
            assert (item.colours is None) == (style.style != "heat")
            if item.colours is not None:
                np.testing.assert_array_equal(item.colours, surface.colours[order])


def test_the_area_may_be_overwritten() -> None:
    """Parts keep nothing of the buffer, which the next part is written to."""
    hero = Character(tube())
    envelope = hero.envelopes.multi
    sink = EnvelopeDraw(dressed(RecordBackend(), hero.scene), envelope)
    areas = {
        part: np.random.default_rng(part)
        .normal(size=(6, len(envelope.part_order(part))))
        .astype(np.float32)
        for part in range(len(envelope.parts))
    }
    for part, area in areas.items():
        given = area.copy()
        sink(part, given)
        given[:] = np.nan
    items, _ = sink.items(hero.pose().world)
    for part, item in enumerate(items):
        np.testing.assert_array_equal(item.positions, areas[part][:3].T)
        np.testing.assert_array_equal(item.normals, areas[part][3:].T)


def test_a_sink_is_used_for_many_frames() -> None:
    """The last frame is drawn, and nothing is uploaded again."""
    hero, store = Character(tube()), RecordBackend()
    dress = dressed(store, hero.scene)
    sink = EnvelopeDraw(dress, hero.envelopes.multi)
    state = hero.envelope_state("multi")
    count = len(store.meshes)
    for angle in (0.1, 0.7, 0.4):
        pose = bent(hero, angle)
        trace_envelope(state, pose.world, pose.weights, sink)
        items, _ = sink.items(pose.world)
        expected, _ = by_parts(
            hero, dressed(RecordBackend(), hero.scene), pose, "multi"
        )
        for item, wanted in zip(items, expected, strict=True):
            np.testing.assert_array_equal(item.positions, wanted.positions)
            np.testing.assert_array_equal(item.normals, wanted.normals)
    assert len(store.meshes) == count


def test_the_dress_stays_as_it_was() -> None:
    """The plain way still works with the dress that a sink was made of."""
    hero, store = Character(tube()), RecordBackend()
    dress, pose = dressed(store, hero.scene), bent(hero)
    before = whole(hero, dress, pose, "multi")[0]
    EnvelopeDraw(dress, hero.envelopes.multi)
    after = whole(hero, dress, pose, "multi")[0]
    assert [item.mesh for item in before] == [item.mesh for item in after]
    np.testing.assert_array_equal(before[0].positions, after[0].positions)


# Refusals


@pytest.mark.parametrize("style", ["cel", "lines", "wire"])
def test_strokes_are_refused(style: str) -> None:
    hero = Character(tube())
    dress = dressed(RecordBackend(), hero.scene, style)
    with pytest.raises(SettingError, match=r"strokes: parts .* are drawn without"):
        EnvelopeDraw(dress, hero.envelopes.multi)


def test_surfaces_that_are_partly_smooth_are_refused() -> None:
    hero = Character(tube())
    style = DrawStyle(style="flat", smooth=("node2",))
    dress = dressed(RecordBackend(), hero.scene, style)
    with pytest.raises(SettingError, match=r"smooth: parts .* smooth, or flat, whole"):
        EnvelopeDraw(dress, hero.envelopes.multi)
    # All of it, or nothing of it, will do.
    for names in (("tube",), ()):
        style = DrawStyle(style="flat", smooth=names)
        EnvelopeDraw(dressed(RecordBackend(), hero.scene, style), hero.envelopes.multi)


def test_a_surface_that_is_missing_is_refused(rng: Rng) -> None:
    dress = dressed(RecordBackend(), tube())
    other = convert_scene(random_scene(rng))[0].multi
    node, primitive = next(
        place for place in other.parts[:, :2].tolist() if place != [0, 0]
    )
    text = f"envelope: no primitive {primitive} at node {node}"
    with pytest.raises(ShapeError, match=text):
        EnvelopeDraw(dress, other)
