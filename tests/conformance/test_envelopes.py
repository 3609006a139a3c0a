"""Real characters as envelopes and as packages: the same skin, the same picture.

Of a file with more than twelve clips the first six are looked at, to stay quick; of
each clip five moments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.skins import SkinnedPrimitive
from flexor.convert.envelope.join_pieces import join_pieces
from flexor.convert.envelope.make import EnvelopeSettings, convert_parts
from flexor.convert.envelope.plan import depth_first
from flexor.convert.envelope.scene_parts import scene_parts
from flexor.convert.envelope.search_trace import placed_peak, search_trace
from flexor.convert.envelope.split_parts import cut_parts, piece_lives
from flexor.deform.envelope import skin_envelope
from flexor.draw.scene.style import DrawStyle
from flexor.pose.pose import Pose
from flexor.scene.character.weights import SkinWeights
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.scene import Scene
from tests.conftest import asset_files

MANY, FEW = 12, 6  # clips
MOMENTS = 5
PLACES, TURNS = 1e-5, 1e-4  # of the character's size; of a unit

pytestmark = [
    pytest.mark.skipif(not asset_files(), reason="no assets: set FLEXOR_ASSETS"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module", params=asset_files(), ids=lambda file: file.stem)
def hero(request: pytest.FixtureRequest, made_once: None) -> Character:
    """A character, loaded and converted once for all tests of it."""
    made = flexor.load(request.param)
    _ = made.envelopes
    return made


def motions(hero: Character) -> Iterator[tuple[str, Pose]]:
    """Moments of clips, from the first to the last; of a file without, at rest."""
    clips = list(hero.clips)
    for name in clips if len(clips) <= MANY else clips[:FEW]:
        last = hero.clips[name].duration
        yield name, hero.pose_many(name, np.linspace(0, last, MOMENTS))
    if not clips:
        yield "rest", hero.pose_many(None, [0.0])


def size_of(hero: Character) -> float:
    """The longest side of a character at rest; of one without a surface, 1."""
    if not hero.binds:
        return 1.0
    points = np.concatenate([skin.positions for skin in hero.deform(hero.pose())])
    return float(np.ptp(points, axis=0).max())


def by_envelope(hero: Character, poses: Pose) -> dict[tuple[int, int], Any]:
    """Positions and normals (2, N, V, 3) of each surface, with all weights."""
    state = hero.envelope_state("multi")
    sizes = {(bind.node, bind.primitive): bind.vertex_count for bind in hero.binds}
    room = {
        place: np.full((2, len(poses), sizes[place], 3), np.nan, np.float32)
        for place in state.surfaces
    }
    skin_envelope(
        state,
        np.ascontiguousarray(poses.world),
        np.ascontiguousarray(poses.weights),
        positions=[both[0] for both in room.values()],
        normals=[both[1] for both in room.values()],
    )
    return room


def is_sure(scene: Scene, skin: SkinnedPrimitive, world: Any) -> Any:
    """Vertices (N, V) whose normals have a direction: where a joint is scaled to
    nothing, what is left of them is rounding.
    """
    turns = world[..., :3].astype(np.float64)
    longest = np.linalg.norm(turns, axis=-1).max(-1)
    is_flat = np.abs(np.linalg.det(turns)) <= 1e-6 * longest**3  # (N, J)
    row = int(scene.node_skin[skin.node])
    primitive = scene.meshes[scene.node_mesh[skin.node]].primitives[skin.primitive]
    if row < 0 or primitive.skin is None:
        return np.repeat(~is_flat[:, skin.node, None], len(primitive), 1)
    nodes = scene.skins[row].joints[primitive.skin.joints]
    return ~(is_flat[:, nodes] & (primitive.skin.weights > 0)).any(-1)


def check_close(
    hero: Character, poses: Pose, made: Any, expected: list[SkinnedPrimitive], what: str
) -> None:
    """made: positions and normals by node and primitive."""
    size = size_of(hero)
    assert sorted(made) == [(skin.node, skin.primitive) for skin in expected]
    for skin in expected:
        positions, normals = made[skin.node, skin.primitive]
        gap = np.abs(positions - skin.positions).max(initial=0)
        assert gap <= PLACES * size, f"{what}: {gap / size:.2g} of its size"
        sure = is_sure(hero.scene, skin, poses.world)
        turn = np.abs(normals - skin.normals)[sure].max(initial=0)
        assert turn <= TURNS, f"{what}: a normal is off by {turn:.2g}"


def same_bytes(one: list[SkinnedPrimitive], other: list[SkinnedPrimitive]) -> bool:
    return all(
        (a.node, a.primitive) == (b.node, b.primitive)
        and a.positions.tobytes() == b.positions.tobytes()
        and a.normals.tobytes() == b.normals.tobytes()
        for a, b in zip(one, other, strict=True)
    )


def with_largest_weights(scene: Scene, trace: list[int]) -> Scene:
    """Every vertex wholly with the joint that pulls it most; of equal ones the first
    that is visited with all weights, in the order of `trace`. A mesh for each node: the
    same mesh may hang on several skins.
    """
    rank = np.argsort(trace)
    meshes, rows = [], np.full(len(scene.node_mesh), -1)
    for node, row in enumerate(scene.node_mesh.tolist()):
        if row < 0:
            continue
        mesh, skin = scene.meshes[row], int(scene.node_skin[node])
        if skin >= 0:
            joints = scene.skins[skin].joints
            primitives = (
                primitive
                if primitive.skin is None
                else replace(primitive, skin=largest(primitive.skin, rank[joints]))
                for primitive in mesh.primitives
            )
            mesh = replace(mesh, primitives=tuple(primitives))
        rows[node] = len(meshes)
        meshes.append(mesh)
    return replace(scene, meshes=tuple(meshes), node_mesh=rows)


def largest(tie: SkinWeights, rank: Any) -> SkinWeights:
    """One column; rank: (S,), in which order the joints are visited."""
    order = rank[tie.joints]
    weights = tie.weights.astype(np.float64)
    # A joint that is named twice pulls with both weights.
    alike = order[:, :, None] == order[:, None, :]
    sums = (alike * weights[:, None, :]).sum(2).astype(np.float32)
    sums[weights == 0] = 0
    is_best = sums == sums.max(1, keepdims=True)
    column = np.where(is_best, order, len(rank) + order.max(initial=0)).argmin(1)
    joints = np.take_along_axis(tie.joints, column[:, None], 1)
    return SkinWeights(joints.copy(), np.ones(joints.shape, np.float32))


def test_all_weights(hero: Character) -> None:
    """An envelope gives the skin that skinning vertex by vertex gives."""
    for clip, poses in motions(hero):
        made = by_envelope(hero, poses)
        check_close(hero, poses, made, hero.deform_many(poses), clip)


@pytest.fixture(scope="module")
def searched(hero: Character) -> tuple[Envelope, list[int]]:
    """Its parts as an envelope, made anew, and the order of visits."""
    parts, _ = scene_parts(hero.scene)
    return convert_parts(hero.skeleton.parents, parts)


def test_one_weight(hero: Character, searched: tuple[Envelope, list[int]]) -> None:
    """The skin of a character whose vertices have their largest weight alone."""
    reduced = Character(with_largest_weights(hero.scene, searched[1]))
    for clip, poses in motions(hero):
        skins = hero.deform_many(poses, weights="one")
        made = {(s.node, s.primitive): (s.positions, s.normals) for s in skins}
        check_close(reduced, poses, made, reduced.deform_many(poses), clip)


def test_packages(hero: Character, tmp_path: Path) -> None:
    """Saved and loaded: the same skin to the last bit, and the same picture."""
    flexor.save(hero, tmp_path / "hero.flexor")
    again = flexor.load(tmp_path / "hero.flexor")
    assert list(again.clips) == list(hero.clips)
    for name, poses in motions(hero):
        clip = name if hero.clips else None
        times = [0.0]
        if clip is not None:
            times = np.linspace(0, hero.clips[clip].duration, MOMENTS)
        others = again.pose_many(clip, times)
        assert poses.world.tobytes() == others.world.tobytes()
        for kind in ("multi", "one"):
            one = hero.deform_many(poses, weights=kind)
            assert same_bytes(one, again.deform_many(others, weights=kind))
    clip = next(iter(hero.clips), None)
    time = hero.clips[clip].duration / 3 if clip is not None else 0.0
    style = DrawStyle(ground=True)
    one, other = (
        flexor.draw(who, who.pose(clip, time), size=(64, 64), style=style)
        for who in (hero, again)
    )
    assert len(np.unique(one.reshape(-1, 4), axis=0)) > 2, "an empty picture"
    np.testing.assert_array_equal(one, other)


def test_less_is_waiting(hero: Character) -> None:
    """The common buffer is never larger than the mesh, and every vertex is worked."""
    vertices = sum(bind.vertex_count for bind in hero.binds)
    for envelope in (hero.envelopes.multi, hero.envelopes.one):
        assert envelope.peak <= vertices <= len(envelope.order)


@pytest.fixture(scope="module")
def cut(hero: Character) -> tuple[Any, ...]:
    """Its parts, the walk depth first, and the pieces they are cut into."""
    parts, _ = scene_parts(hero.scene)
    walk = np.argsort(depth_first(hero.skeleton.parents))
    return parts, walk, cut_parts(parts, walk)


@pytest.mark.parametrize("search", [True, False])
def test_joining_costs_no_room(
    hero: Character,
    cut: tuple[Any, ...],
    searched: tuple[Envelope, list[int]],
    search: bool,
) -> None:
    """The buffer is not larger than that of the pieces as they were cut; and another
    order of visits is taken only if it has not made it larger than depth first.
    """
    parents = hero.skeleton.parents
    parts, walk, pieces = cut
    lives = piece_lives(pieces)
    rank = np.argsort(search_trace(parents, lives)) if search else walk
    most = placed_peak(lives, rank)
    assert most <= placed_peak(lives, walk)
    left = join_pieces(pieces, rank)
    peak = placed_peak(piece_lives(left), rank)
    assert peak <= most
    assert len(left) <= len(pieces)
    walked, order = convert_parts(parents, parts, EnvelopeSettings(search=False))
    if not search:
        np.testing.assert_array_equal(np.argsort(order), rank)
        assert walked.peak == peak
        return
    made, trace = searched  # as it is without settings
    found = rank if peak <= walked.peak else walk
    np.testing.assert_array_equal(np.argsort(trace), found)
    assert made.peak == min(peak, walked.peak)
