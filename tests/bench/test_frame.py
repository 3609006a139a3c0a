"""The bench of a frame: its character, its figures, and that all work is done."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.bench import frame, linked
from flexor.bench.timing import Result
from flexor.deform.bind import Bind

STEPS = ("motion", "links", "matrices", "vertices", "normals", "total")
FEW = (9, 12, 5, 3, 1)


@pytest.fixture(scope="module")
def hero() -> Character:
    return linked.make_linked()


def test_the_character(hero: Character) -> None:
    """As many vertices with each number of influences as it says, and no others."""
    assert sum(linked.VERTICES) == 3910
    primitive = hero.meshes[0].primitives[0]
    assert len(primitive) == 3910
    assert primitive.skin is not None
    counts = np.bincount(primitive.skin.influence_counts()).tolist()
    assert counts == [0, *linked.VERTICES]
    skeleton = hero.skeleton
    assert len(skeleton.links) == 42
    assert len(skeleton) == 24 + 42
    assert {link.fraction for link in skeleton.links.values()} == {0.25, 0.5, 0.75}
    assert 90 <= len(hero.binds[0].runs) <= 110
    assert {track.node for track in hero.clips["move"].tracks} == set(range(66))


def test_vertices_hang_on_neighbours(hero: Character) -> None:
    """On one chain from a parent over links to a joint."""
    skeleton, bind = hero.skeleton, hero.binds[0]
    for number, _, _, _, first in bind.runs.tolist():
        nodes = set(bind.joints[first : first + number].tolist())
        joints = {
            skeleton.links[node].joint if node in skeleton.links else node
            for node in nodes
        }
        parents = {int(skeleton.parents[joint]) for joint in joints}
        assert len(joints) == 1 or (len(joints) == 2 and joints & parents)


def test_tracks_of_links_are_what_links_do(hero: Character) -> None:
    """As in a file: what moves by its tracks alone stands where a link would."""
    clip = hero.clips["move"]
    pose = hero.pose("move", clip.tracks[0].times[7])
    for track in clip.tracks:
        if track.node in hero.skeleton.links:
            np.testing.assert_allclose(
                track.values[7], pose.rotations[track.node], atol=1e-6
            )


def few_steps(count: int) -> tuple[frame._Steps, Bind]:
    hero = linked.make_linked(FEW)
    return frame._steps(hero, count), hero.binds[0]


class Clock:
    """Does every call once, and says that the first takes 1 ms, the second 2 ms, ..."""

    def __call__(self, *calls: Callable[[], object], rounds: int) -> list[float]:
        assert rounds > 30
        for call in calls:
            call()
        return [1e-3 * number for number in range(1, len(calls) + 1)]


def test_names_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "best_seconds", Clock())
    monkeypatch.setattr(frame, "make_linked", lambda: linked.make_linked(FEW))
    monkeypatch.setattr(frame, "CROWD", 4)
    found: dict[str, Result] = {result.name: result for result in frame.run()}
    names = [f"frame/{step}" for step in STEPS]
    assert list(found) == names + [f"frame/alone/{step}" for step in STEPS]
    assert {result.unit for result in found.values()} == {"us"}
    # Motion 1 ms, links 2, world 3, palette 4, blended 5, unit 6, total 7.
    expected = {"motion": 1, "links": 2, "matrices": 7}
    expected |= {"vertices": 1, "normals": 1, "total": 7}
    for step, value in expected.items():
        assert found[f"frame/alone/{step}"].value == pytest.approx(1000 * value)
        assert found[f"frame/{step}"].value == pytest.approx(1000 * value / 4)
        assert "in a crowd of 4" in found[f"frame/{step}"].note
        assert "alone" in found[f"frame/alone/{step}"].note
    for result in found.values():
        assert "30 vertices" in result.note
        assert "70, 110, 90, 2040 and 920 us, in all 3200 us" in result.note
        assert "one thread" in result.note


def test_the_steps_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each does its part: one after another they fill what the whole frame fills."""
    made: list[object] = []
    real = frame.skin_blocks

    def keep(state: object, *given: object, **more: object) -> None:
        made[:] = [more["out"]]
        real(state, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(frame, "skin_blocks", keep)
    whole, _ = few_steps(3)
    whole.total()
    expected = np.array(made[0])
    parts, _ = few_steps(3)  # its moment is that of the first frame
    for call in (parts.motion, parts.links, parts.world, parts.palette, parts.unit):
        call()
    np.testing.assert_array_equal(np.array(made[0]), expected)
    assert expected.any()
    parts.blended()
    blended = np.array(made[0])
    np.testing.assert_array_equal(blended[:, :, :3], expected[:, :, :3])
    lengths = np.linalg.norm(blended[:, :, 3:], axis=2, keepdims=True)
    assert (np.abs(lengths - 1) > 1e-4).any()
    np.testing.assert_allclose(
        blended[:, :, 3:] / lengths, expected[:, :, 3:], atol=1e-6
    )
