"""Bounded biharmonic weights: what is handed over, and what comes back or does not."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flexor.bench.peers import bbw as peer_bbw
from flexor.bench.peers.bbw import BbwTask, solve_bbw
from flexor.errors import BackendMissing
from tests.bench.closed_tube import closed_tube

IS_HERE = all(importlib.util.find_spec(name) for name in ("igl", "tetgen"))


@pytest.fixture
def task() -> BbwTask:
    """Two bones in a tube, which meet at x = 2."""
    positions, faces = closed_tube()
    bases, tips = np.array([[0.0, 0, 0], [2, 0, 0]]), np.array([[2.0, 0, 0], [5, 0, 0]])
    return BbwTask(positions, faces, bases, tips)


def test_samples_along_bones() -> None:
    bases, tips = np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[1.0, 0, 0], [1, 0, 0]])
    places, bones = peer_bbw._sample(bases, tips, 0.3)
    np.testing.assert_allclose(places[:, 0], [0, 0.25, 0.5, 0.75, 1, 1])
    assert bones.tolist() == [0, 0, 0, 0, 0, 1]
    merged, at = peer_bbw._merge(places)
    assert len(merged) == 5
    np.testing.assert_array_equal(merged[at], places)
    assert at[4] == at[5]


def test_open_surface_is_refused(task: BbwTask) -> None:
    for faces in (task.faces[1:], task.faces[:0]):
        with pytest.raises(BackendMissing, match="bbw: the surface is not closed"):
            solve_bbw(replace(task, faces=faces), 60)


def test_too_slow(task: BbwTask) -> None:
    with pytest.raises(BackendMissing, match=r"bbw: more than 0\.01 seconds"):
        solve_bbw(task, 0.01)


@pytest.mark.skipif(IS_HERE, reason="libigl and tetgen are installed")
def test_what_to_install(task: BbwTask) -> None:
    with pytest.raises(BackendMissing, match=r"bbw: needs .*pip install libigl tetgen"):
        solve_bbw(task, 60)


@pytest.mark.skipif(not IS_HERE, reason="needs libigl and tetgen")
def test_weights_of_two_bones(task: BbwTask) -> None:
    weights, seconds, note = solve_bbw(task, 60)
    assert weights.shape == (len(task.positions), 2)
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(1), 1)
    x = task.positions[:, 0]
    assert weights[x < 0.5, 0].min() > 0.9
    assert weights[x > 3.5, 1].min() > 0.9
    near = weights[np.abs(x - 2) < 0.3]
    assert 0.2 < near.min()
    assert seconds > 0
    assert "libigl" in note
    assert "tetgen" in note


@pytest.mark.skipif(not IS_HERE, reason="needs libigl and tetgen")
def test_libraries_that_fail_say_why(
    task: BbwTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flat = replace(task, positions=task.positions * [1, 1, 0])
    with pytest.raises(BackendMissing, match=r"bbw: \w"):
        solve_bbw(flat, 60)
    assert not list(tmp_path.iterdir())
