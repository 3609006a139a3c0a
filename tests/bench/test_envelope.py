"""Benches of envelopes and of loading: which figures, and whether they can be true."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.pictures.drawing import Drawer
from flexor.bench import envelope, load
from flexor.bench.timing import Result, best_seconds
from flexor.draw.record.backend import RecordBackend
from tests.scenes import plain_scene, random_scene, random_skeleton

Call = Callable[[], object]
CROWD = 3


class Clock:
    """Does every call once, and says that the first takes 1 ms, the second 2 ms, ..."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *calls: Call, **_: object) -> list[float]:
        for call in calls:
            call()
        self.calls += len(calls)
        return [1e-3 * number for number in range(1, len(calls) + 1)]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(envelope, "best_seconds", made)
    monkeypatch.setattr(load, "best_seconds", made)
    return made


@pytest.fixture(autouse=True)
def _is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small crowd, and nothing is drawn: pictures take seconds without kernels."""
    monkeypatch.setattr(envelope, "CROWD", CROWD)
    monkeypatch.setattr(envelope, "Drawer", partial(Drawer, backend="record"))


@pytest.fixture(scope="module")
def tiny() -> Character:
    hero = Character(random_scene(np.random.default_rng(5)))
    _ = hero.envelopes
    return hero


def vertices(hero: Character) -> int:
    return sum(bind.vertex_count for bind in hero.binds)


def by_name(results: Any) -> dict[str, Result]:
    listed = list(results)
    assert len({result.name for result in listed}) == len(listed)
    assert all(result.note for result in listed)
    return {result.name: result for result in listed}


def expected_units(name: str) -> dict[str, str]:
    base = f"envelope/{name}"
    ways = ("vertices", "multi", "one")
    units = {f"{base}/convert": "s"}
    for way in (*ways, "original"):
        units[f"{base}/skin/{way}"] = "ns/vertex"
        units[f"{base}/skin/crowd{CROWD}/{way}"] = "ns/vertex"
    units |= {f"{base}/draw/{way}": "fps" for way in (*ways, "parts")}
    units[f"{base}/memory/mesh"] = "bytes"
    for kind in ("multi", "one"):
        for what in ("planned", "measured"):
            units[f"{base}/memory/{kind}/{what}"] = "bytes"
    return units


def test_names_and_units(
    clock: Clock, tiny: Character, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mannequin, here a small one, and what is given."""
    monkeypatch.setattr(flexor.samples, "mannequin", lambda: tiny)
    found = by_name(envelope.run({"other": tiny}))
    expected = expected_units("mannequin") | expected_units("other")
    assert {name: result.unit for name, result in found.items()} == expected
    assert all(result.value > 0 for result in found.values())
    assert clock.calls == 2 * (4 + 4 + 4)


@pytest.mark.usefixtures("clock")
def test_seconds_become_figures(tiny: Character) -> None:
    """The first way takes 1 ms, the second 2 ms and so on; see Clock."""
    found = by_name(envelope._measure("x", tiny))
    count = vertices(tiny)
    for number, way in enumerate(("vertices", "multi", "one", "original"), 1):
        alone = found[f"envelope/x/skin/{way}"].value
        assert alone == pytest.approx(number * 1e6 / count)
        crowd = found[f"envelope/x/skin/crowd{CROWD}/{way}"].value
        assert crowd == pytest.approx(alone / CROWD)
    for number, way in enumerate(("vertices", "multi", "one", "parts"), 1):
        fps = found[f"envelope/x/draw/{way}"].value
        assert fps == pytest.approx(1000 / number)


@pytest.mark.usefixtures("clock")
def test_bytes(tiny: Character) -> None:
    """What is measured is what was planned, and the little that a frame needs."""
    found = by_name(envelope._measure("x", tiny))
    assert found["envelope/x/memory/mesh"].value == 24 * vertices(tiny)
    for kind in ("multi", "one"):
        made = getattr(tiny.envelopes, kind)
        planned = found[f"envelope/x/memory/{kind}/planned"].value
        measured = found[f"envelope/x/memory/{kind}/measured"].value
        assert planned == 24 * made.peak
        buffer = tiny.envelope_state(kind).buffer.nbytes
        assert planned < buffer <= measured < buffer + 20_000


@pytest.mark.usefixtures("clock")
def test_nothing_to_skin() -> None:
    rng = np.random.default_rng(1)
    bare = Character(plain_scene(random_skeleton(rng, 3)))
    assert list(envelope._measure("bare", bare)) == []


def test_all_ways_do_the_same_work(tiny: Character) -> None:
    """The same arrays are filled; all weights give the same skin."""
    poses = envelope._poses(tiny, CROWD)
    call, expected = envelope._by_vertices(tiny, poses)
    call()
    for kind in ("multi", "one"):
        call, made = envelope._by_envelope(tiny, poses, kind)  # type: ignore[arg-type]
        call()
        assert [array.shape for array in made] == [array.shape for array in expected]
        for one, other in zip(made, expected, strict=True):
            assert one.any()
            if kind == "multi":
                np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.usefixtures("clock")
def test_all_ways_draw_the_same(
    tiny: Character, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four frames: whole surfaces three times, then by parts; faces are all there."""
    drawers: list[Drawer] = []

    def keep(*given: Any, **more: Any) -> Drawer:
        drawers.append(Drawer(*given, backend="record", **more))
        return drawers[-1]

    monkeypatch.setattr(envelope, "Drawer", keep)
    fresh = Character(tiny.scene)
    list(envelope._draw("x", fresh))
    (drawer,) = drawers
    backend = drawer._kit.backend
    assert isinstance(backend, RecordBackend)
    *whole, by_parts = backend.lists[-4:]
    assert [len(drawn.items) for drawn in whole] == [len(tiny.binds)] * 3
    counts = [
        sum(len(backend.meshes[item.mesh].faces) for item in drawn.items)
        for drawn in (*whole, by_parts)
    ]
    assert len(set(counts)) == 1
    assert len(by_parts.items) == len(fresh.envelopes.multi.parts)
    assert by_parts.camera == whole[0].camera


def test_poses_are_of_the_first_clip(tiny: Character) -> None:
    """From its middle to its end; without a clip, at rest."""
    last = tiny.clips["linear"].duration
    expected = tiny.pose_many("linear", np.linspace(last / 2, last, 4))
    assert envelope._poses(tiny, 4).world.tobytes() == expected.world.tobytes()
    still = tiny.posed(tiny.pose("linear", 0.4))
    world = envelope._poses(still, 2).world
    assert world.tobytes() == np.stack([still.pose().world] * 2).tobytes()


# Loading


@pytest.fixture
def tiny_file(tiny: Character, tmp_path: Path) -> Path:
    flexor.save(tiny, tmp_path / "tiny.GLB")
    return tmp_path / "tiny.GLB"


@pytest.mark.usefixtures("clock")
def test_loading(tiny_file: Path) -> None:
    """The mannequin and what is given, each beside its package."""
    found = by_name(load.run({"tiny": tiny_file}))
    units = {"": "ms", "/scene": "ms", "/ratio": "times", "/scene/ratio": "times"}
    expected = {}
    for name in ("mannequin", "tiny"):
        expected[f"load/glb/{name}"] = "ms"
        expected |= {f"load/package/{name}{end}": unit for end, unit in units.items()}
    assert {name: result.unit for name, result in found.items()} == expected
    own, ours = found["load/glb/tiny"], found["load/package/tiny"]
    assert (own.value, ours.value) == pytest.approx((1.0, 2.0))
    assert f"{tiny_file.stat().st_size:,} bytes" in own.note
    assert found["load/package/tiny/ratio"].value == pytest.approx(0.5)
    assert found["load/package/tiny/scene/ratio"].value == pytest.approx(1 / 3)
    assert sorted(path.name for path in tiny_file.parent.iterdir()) == ["tiny.GLB"]


def test_both_ways_load_the_same(
    tiny: Character, tiny_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file itself, and then its package."""
    loaded: list[Any] = []
    endings: list[str] = []
    real = load.load

    def watched(path: Path) -> Character:
        endings.append(path.suffix)
        return real(path)

    monkeypatch.setattr(load, "load", watched)

    def clock(*calls: Call) -> list[float]:
        loaded.extend(call() for call in calls)
        return best_seconds(*calls, rounds=1, least=0)

    monkeypatch.setattr(load, "best_seconds", clock)
    own, ours, *_ = load._measure("tiny", tiny_file)
    assert endings[:4] == [".GLB", ".GLB", ".flexor", ".flexor"], "saved, then in turns"
    assert own.value > 0
    assert ours.value > 0
    one, other, _ = loaded
    pose = tiny.pose("mixed", 0.3)
    for hero in (one, other):
        assert hero.pose("mixed", 0.3).world.tobytes() == pose.world.tobytes()
    np.testing.assert_array_equal(
        other.envelopes.multi.steps, tiny.envelopes.multi.steps
    )
