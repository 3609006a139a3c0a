"""Peers of the bench of inverse kinematics: they solve what they are given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.bench.peers import three_ik as peer_three_ik
from flexor.bench.peers.ikpy import solve_ikpy
from flexor.bench.peers.three_ik import solve_three
from flexor.errors import BackendError
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


def make_task(rng: np.random.Generator, count: int = 12, bones: int = 4) -> Any:
    """Lengths, starts and targets of chains of a metre."""
    lengths = np.full(bones, 1 / bones)
    starts = random_rotations(rng, count, bones)
    return lengths, starts, ends(lengths, random_rotations(rng, count, bones))


def test_three_comes_nearer_with_more_iterations(rng: np.random.Generator) -> None:
    task = make_task(rng)
    found = [solve_three(*task, n) for n in (0, 3, 200)]
    if found[0] is None:
        pytest.skip("no node, or FLEXOR_NODE names no folder with npm's three")
    none, few, many = (one[0] for one in found if one is not None)
    away = np.linalg.norm(ends(*task[:2]) - task[2], axis=1)
    np.testing.assert_allclose(none, away, atol=1e-6)
    assert few.mean() < none.mean()
    assert many.mean() < few.mean()
    assert np.median(many) < 0.01
    assert all(one[1] > 0 for one in found if one is not None)


def test_ikpy_reaches(rng: np.random.Generator) -> None:
    found = solve_ikpy(*make_task(rng, 3, 3))
    if found is None:
        pytest.skip("ikpy is not installed")
    assert np.median(found[0]) < 0.01
    assert found[1] > 0


def test_ikpy_begins_where_it_is_told(rng: np.random.Generator) -> None:
    """A target that is reached already: nothing is to do, whatever the start."""
    lengths, starts, _ = make_task(rng, 2, 3)
    found = solve_ikpy(lengths, starts, ends(lengths, starts))
    if found is None:
        pytest.skip("ikpy is not installed")
    assert found[0].max() < 1e-6


def test_without_node(monkeypatch: pytest.MonkeyPatch, rng: Any) -> None:
    monkeypatch.setattr(peer_three_ik.shutil, "which", lambda name: None)
    assert solve_three(*make_task(rng), 1) is None


@pytest.mark.parametrize("named", [None, "nothing"])
def test_without_three(
    monkeypatch: pytest.MonkeyPatch, rng: Any, tmp_path: Path, named: str | None
) -> None:
    monkeypatch.setattr(peer_three_ik.shutil, "which", lambda name: "node")
    if named is None:
        monkeypatch.delenv("FLEXOR_NODE", raising=False)
    else:
        monkeypatch.setenv("FLEXOR_NODE", str(tmp_path / named))
    assert solve_three(*make_task(rng), 1) is None


def test_processes_that_fail(
    monkeypatch: pytest.MonkeyPatch, rng: Any, tmp_path: Path
) -> None:
    (tmp_path / "node_modules" / "three").mkdir(parents=True)
    monkeypatch.setenv("FLEXOR_NODE", str(tmp_path))
    monkeypatch.setattr(peer_three_ik.shutil, "which", lambda name: "node")

    def end(*words: Any, **options: Any) -> Any:
        return subprocess.CompletedProcess(words, 1, "", "at x\nError: no module\n}\n")

    monkeypatch.setattr(peer_three_ik.subprocess, "run", end)
    with pytest.raises(BackendError, match="Error: no module"):
        solve_three(*make_task(rng), 1)

    def wait(*words: Any, **options: Any) -> Any:
        raise subprocess.TimeoutExpired("node", 5)

    monkeypatch.setattr(peer_three_ik.subprocess, "run", wait)
    with pytest.raises(BackendError, match="more than 5 seconds"):
        solve_three(*make_task(rng), 1, 5.0)


def test_without_ikpy(monkeypatch: pytest.MonkeyPatch, rng: Any) -> None:
    monkeypatch.setitem(sys.modules, "ikpy.chain", None)
    assert solve_ikpy(*make_task(rng)) is None
