"""The bench of crowds: its figures, and that all it counts are in the picture."""

from __future__ import annotations

import pytest

from flexor.api.crowd import Crowd
from flexor.bench import crowd as bench
from flexor.samples import mannequin


@pytest.mark.slow
@pytest.mark.usefixtures("made_once")
def test_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "COUNTS", (1, 1000))
    monkeypatch.setattr(bench, "MOST_WHOLE", 1)
    monkeypatch.setattr(bench, "SIZE", (320, 180))
    hero = mannequin()
    assert len(hero.levels) > 1  # as other tests have made them
    monkeypatch.setattr(bench.samples, "mannequin", lambda: hero)
    monkeypatch.setenv("FLEXOR_THREADS", "2")
    results = list(bench.run(rounds=1))
    names = [result.name for result in results]
    assert len(set(names)) == len(names)
    for name in (
        "crowd/256x4000/full",
        "crowd/1000/motion_skin",
        "crowd/1000/draw720",
        "crowd/1000/draw720/aa/threads1",
        "crowd/1/select",
        "crowd/1/whole/skin",
        "crowd/1/memory",
    ):
        assert name in names
    assert "crowd/1000/whole/skin" not in names
    assert all(result.value > 0 for result in results)
    assert "1000 shown" in results[names.index("crowd/1000/draw720")].note


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 7, 300])
def test_all_are_in_the_picture(count: int) -> None:
    crowd = Crowd(mannequin(), count, levels=False)
    bench.fill_view(crowd)
    crowd.select(bench.CAMERA, bench.SIZE)
    assert (crowd.level == 0).all()
    spots = bench.CAMERA.project(crowd.place, bench.SIZE)
    assert (spots[:, :2] > 0).all()
    assert (spots[:, :2] < bench.SIZE).all()
