"""Blender's bone heat: what is handed over, and what comes back or does not."""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest

from flexor.bench.peers import bone_heat as peer
from flexor.bench.peers.bone_heat import HeatTask, solve_bone_heat
from flexor.errors import BackendMissing
from tests.bench.closed_tube import closed_tube

IS_HERE = bool(os.environ.get("FLEXOR_BPY") or importlib.util.find_spec("bpy"))


@pytest.fixture
def task() -> HeatTask:
    """Two bones in a tube, which meet at x = 2."""
    positions, faces = closed_tube()
    bases, tips = np.array([[0.0, 0, 0], [2, 0, 0]]), np.array([[2.0, 0, 0], [5, 0, 0]])
    return HeatTask(positions, faces, bases, tips)


def test_the_nearest_bone(task: HeatTask) -> None:
    rows = np.ones(len(task.positions), bool)
    x = task.positions[:, 0]
    found = peer._nearest(task, rows)
    assert (found[x < 1.9] == 0).all()
    assert (found[x > 2.1] == 1).all()


def test_too_slow(task: HeatTask) -> None:
    with pytest.raises(BackendMissing, match=r"heat: more than 0\.01 seconds"):
        solve_bone_heat(task, 0.01)


def test_no_such_python(task: HeatTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_BPY", "/nowhere/python")
    with pytest.raises(BackendMissing, match="heat: /nowhere/python: No such file"):
        solve_bone_heat(task, 60)


@pytest.mark.skipif(IS_HERE, reason="bpy is installed")
def test_what_to_install(task: HeatTask) -> None:
    with pytest.raises(BackendMissing, match=r"heat: needs bpy: .*pip install bpy"):
        solve_bone_heat(task, 60)


@pytest.mark.skipif(not IS_HERE, reason="needs bpy")
def test_weights_of_two_bones(task: HeatTask) -> None:
    weights, seconds, note = solve_bone_heat(task, 120)
    assert weights.shape == (len(task.positions), 2)
    np.testing.assert_allclose(weights.sum(1), 1)
    assert seconds > 0
    assert "Blender" in note
    x = task.positions[:, 0]
    assert (weights[x < 1, 0] > 0.9).all()
    assert (weights[x > 3.5, 1] > 0.9).all()
