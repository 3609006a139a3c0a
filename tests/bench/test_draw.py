from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from flexor.bench import draw
from flexor.bench.draw import CASES, Case
from flexor.bench.timing import Result
from flexor.cli.bench import bench
from flexor.draw.backend import open_backend
from flexor.errors import BackendError, BackendMissing

TINY = partial(draw.run, rounds=1, steps=1, frames=1)
QUICK = (Case("humanoid", (64, 48)),)


class FakePeer:
    """Takes half a second for every frame; "raylib" is not there."""

    note = "fake"
    variants = ("", "aa", "plain", "aa/plain")
    breaks = "none"

    def __init__(self, name: str, *_: object) -> None:
        if name == "raylib":
            raise BackendMissing("raylib: pip install it")

    def seconds(self, variant: str, frames: Sequence[int]) -> list[float]:
        if variant == self.breaks:
            raise BackendError("gone")
        return [0.5] * len(frames)

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own pictures take seconds without compiled kernels."""
    monkeypatch.setattr(draw, "open_backend", lambda _: open_backend("record"))
    monkeypatch.setattr(draw, "PeerProcess", FakePeer)


def by_name(results: list[Result]) -> dict[str, Result]:
    assert len({result.name for result in results}) == len(results)
    return {result.name: result for result in results}


def test_names() -> None:
    names = set(by_name(list(TINY())))
    expected = {"draw/small_triangles", "draw/small_triangles/threads1"}
    for kind in ("humanoid", "sphere"):
        for size in ("640x480", "1280x720"):
            for aa in ("", "/aa"):
                base = f"draw/{kind}/{size}{aa}"
                ends = ("", "/threads1", "/llvmpipe", "/llvmpipe_plain")
                expected |= {base + end for end in (*ends, "/ratio", "/ratio_plain")}
    assert expected <= names
    assert not [name for name in names if "raylib" in name]
    assert len(CASES) == 5


def test_ratio_and_units() -> None:
    results = by_name(list(TINY(QUICK)))
    ours = results["draw/humanoid/64x48"]
    assert ours.unit == "fps"
    assert "no figure for raylib: pip install it" in ours.note
    assert results["draw/humanoid/64x48/llvmpipe"].value == pytest.approx(2)
    ratio = results["draw/humanoid/64x48/aa/ratio"]
    assert ratio.unit == "x"
    aa = results["draw/humanoid/64x48/aa"].value
    assert ratio.value == pytest.approx(aa / 2)


def test_small_triangles_are_counted_in_millions() -> None:
    results = by_name(list(TINY((CASES[-1],))))
    peer = results["draw/small_triangles/llvmpipe"]
    assert (peer.value, peer.unit) == (pytest.approx(0.4), "Mtriangles/s")
    assert not [name for name in results if "/aa" in name]


def test_without_peers() -> None:
    names = set(by_name(list(TINY(QUICK, peers=()))))
    ends = {"", "/aa", "/threads1", "/aa/threads1"}
    assert names == {f"draw/humanoid/64x48{end}" for end in ends}


def test_peer_that_breaks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakePeer, "breaks", "aa")
    names = set(by_name(list(TINY(QUICK))))
    assert "draw/humanoid/64x48/ratio" in names
    assert not {f"draw/humanoid/64x48/aa/{x}" for x in ("llvmpipe", "ratio")} & names


@pytest.mark.parametrize("before", [None, "3"])
def test_threads_are_set_back(
    before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLEXOR_THREADS", raising=False)
    if before:
        monkeypatch.setenv("FLEXOR_THREADS", before)
    results = by_name(list(TINY(QUICK)))
    assert os.environ.get("FLEXOR_THREADS") == before
    assert "1 thread;" in results["draw/humanoid/64x48/threads1"].note
    if before:
        assert "3 threads;" in results["draw/humanoid/64x48"].note


def test_best_round_of_every_step_counts() -> None:
    rounds = iter([[9.0, 1.0, 4.0], [9.0, 3.0, 2.0]])
    asked = []

    def timer(frames: Sequence[int]) -> list[float]:
        asked.append(list(frames))
        return next(rounds)

    one = draw.Contestant("", "", timer, [])
    draw._take_turns([one], 2, 2, 4)
    assert one.best == [1.0, 2.0]
    assert asked == [[2, 0, 2], [3, 1, 3]]


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "run", partial(TINY, QUICK))
    bench(["draw"], json_to=str(tmp_path / "out.json"))
    printed = json.loads((tmp_path / "out.json").read_text())
    assert all(result["value"] > 0 for result in printed["results"])
    assert {"draw/humanoid/64x48"} < {result["name"] for result in printed["results"]}
