"""Peers of the bench of inverse kinematics: they solve what they are given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.app.bench import peer_three_ik
from flexor.app.bench.peer_ik import IkTask, Solved
from flexor.app.bench.peer_ikpy import solve_ikpy
from flexor.app.bench.peer_three_ik import solve_three
from flexor.errors import BackendMissing, ShapeError
from flexor.maths import quaternions
from tests.scenes import random_rotations


def ends(lengths: Any, rotations: Any) -> Any:
    """Where chains end, (N, 3); rotations: local (N, B, 4)."""
    end = np.zeros((len(rotations), 3))
    for length, turn in zip(
        lengths[::-1], np.moveaxis(rotations, 1, 0)[::-1], strict=True
    ):
        along = end + np.array([length, 0, 0])
        end = (quaternions.to_matrix(turn) @ along[..., None])[..., 0]
    return end


def make_task(rng: np.random.Generator, count: int = 12, bones: int = 4) -> IkTask:
    lengths = np.full(bones, 1 / bones)
    starts = random_rotations(rng, count, bones)
    targets = ends(lengths, random_rotations(rng, count, bones))
    return IkTask(lengths, starts, targets)


def solved(solve: Any, *given: Any) -> Solved:
    try:
        result: Solved = solve(*given)
    except BackendMissing as error:
        pytest.skip(str(error))
    return result


def test_three_comes_nearer_with_more_iterations(rng: np.random.Generator) -> None:
    task = make_task(rng)
    none, few, many = (solved(solve_three, task, n) for n in (0, 3, 200))
    away = np.linalg.norm(ends(task.lengths, task.starts) - task.targets, axis=1)
    np.testing.assert_allclose(none.errors, away, atol=1e-6)
    assert few.errors.mean() < none.errors.mean()
    assert many.errors.mean() < few.errors.mean()
    assert np.median(many.errors) < 0.01
    assert many.seconds.shape == (12,)
    assert (many.seconds > 0).all()
    assert many.note.startswith("three.js")


def test_ikpy_reaches(rng: np.random.Generator) -> None:
    result = solved(solve_ikpy, make_task(rng, 3, 3))
    assert np.median(result.errors) < 0.01
    assert (result.seconds > 0).all()
    assert result.note.startswith("ikpy")


def test_ikpy_begins_where_it_is_told(rng: np.random.Generator) -> None:
    """A target that is reached already: nothing is to do, whatever the start."""
    task = make_task(rng, 2, 3)
    reached = ends(task.lengths, task.starts)
    result = solved(solve_ikpy, IkTask(task.lengths, task.starts, reached))
    assert result.errors.max() < 1e-6


def test_without_node(monkeypatch: pytest.MonkeyPatch, rng: Any) -> None:
    monkeypatch.setattr(peer_three_ik.shutil, "which", lambda name: None)
    with pytest.raises(BackendMissing, match="no node"):
        solve_three(make_task(rng), 1)


@pytest.mark.parametrize("named", [None, "nothing"])
def test_without_three(
    monkeypatch: pytest.MonkeyPatch, rng: Any, tmp_path: Path, named: str | None
) -> None:
    monkeypatch.setattr(peer_three_ik.shutil, "which", lambda name: "node")
    if named is None:
        monkeypatch.delenv("FLEXOR_NODE", raising=False)
    else:
        monkeypatch.setenv("FLEXOR_NODE", str(tmp_path / named))
    with pytest.raises(BackendMissing, match="FLEXOR_NODE"):
        solve_three(make_task(rng), 1)


def test_processes_that_fail(
    monkeypatch: pytest.MonkeyPatch, rng: Any, tmp_path: Path
) -> None:
    (tmp_path / "node_modules" / "three").mkdir(parents=True)
    monkeypatch.setenv("FLEXOR_NODE", str(tmp_path))
    monkeypatch.setattr(peer_three_ik.shutil, "which", lambda name: "node")

    def end(*words: Any, **options: Any) -> Any:
        return subprocess.CompletedProcess(words, 1, "", "at x\nError: no module\n}\n")

    monkeypatch.setattr(peer_three_ik.subprocess, "run", end)
    with pytest.raises(BackendMissing, match="Error: no module"):
        solve_three(make_task(rng), 1)

    def wait(*words: Any, **options: Any) -> Any:
        raise subprocess.TimeoutExpired("node", 5)

    monkeypatch.setattr(peer_three_ik.subprocess, "run", wait)
    with pytest.raises(BackendMissing, match="more than 5 seconds"):
        solve_three(make_task(rng), 1, 5.0)


def test_without_ikpy(monkeypatch: pytest.MonkeyPatch, rng: Any) -> None:
    monkeypatch.setitem(sys.modules, "ikpy.chain", None)
    with pytest.raises(BackendMissing, match="not installed"):
        solve_ikpy(make_task(rng))


@pytest.mark.parametrize(
    ("lengths", "starts", "targets", "text"),
    [
        (np.ones(0), np.ones((2, 0, 4)), np.ones((2, 3)), "lengths: shape"),
        (np.ones(2), np.ones((2, 3, 4)), np.ones((2, 3)), "starts: shape"),
        (np.ones(2), np.ones((2, 2, 4)), np.ones((3, 3)), "targets: shape"),
        (np.ones(2), np.ones((2, 2, 4)), np.full((2, 3), np.nan), "targets: not"),
    ],
)
def test_tasks_that_are_none(
    lengths: Any, starts: Any, targets: Any, text: str
) -> None:
    with pytest.raises(ShapeError, match=text):
        IkTask(lengths, starts, targets)
