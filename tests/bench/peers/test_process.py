from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from flexor.bench.draw_scene import DrawScene, make_scene
from flexor.bench.peers import process as peer_process
from flexor.bench.peers.llvmpipe import Llvmpipe
from flexor.bench.peers.process import PEERS, Peer, PeerProcess
from flexor.bench.peers.raylib import Raylib
from flexor.errors import BackendError, BackendMissing

SIZE = (64, 48)


@pytest.fixture(scope="module")
def scene() -> DrawScene:
    return make_scene("sphere", 2)


class Grey:
    variants = ("", "aa")
    note = "grey"

    def draw(self, variant: str, frame: int) -> NDArray[np.uint8]:
        return np.full((2, 2, 4), frame, np.uint8)


def serve(*requests: object) -> list[object]:
    lines = io.StringIO("".join(json.dumps(request) + "\n" for request in requests))
    answers = io.StringIO()
    first = json.dumps(["grey", "sphere", SIZE, 1])
    peer_process._serve(lines, answers, first)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_peer_answers_with_seconds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(peer_process, "_open_peer", lambda *_: Grey())
    path = str(tmp_path / "frame.npy")
    hello, taken, saved = serve(
        {"variant": "aa", "frames": [0, 1, 2]},
        {"variant": "", "frames": [7], "to": path},
    )
    assert hello == {"note": "grey", "variants": ["", "aa"]}
    assert isinstance(taken, list)
    assert len(taken) == 3
    assert min(taken) >= 0
    assert saved
    assert (np.load(path) == 7).all()


def test_missing_peer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> Peer:
        raise BackendMissing("grey: not here")

    monkeypatch.setattr(peer_process, "_open_peer", missing)
    assert serve({"variant": "", "frames": [0]}) == [{"missing": "grey: not here"}]


def test_process_that_ends_is_a_missing_peer() -> None:
    with pytest.raises(BackendMissing, match="nothing: its process ended"):
        PeerProcess("nothing", "sphere", SIZE, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="only looked for on Linux")
@pytest.mark.parametrize(
    ("peer", "module"), [(Llvmpipe, "moderngl"), (Raylib, "raylib")]
)
def test_what_to_install(
    peer: type[Llvmpipe | Raylib],
    module: str,
    scene: DrawScene,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BackendMissing, match=r"pip install 'flexor\[bench\]'"):
        peer(scene, SIZE)


@pytest.mark.parametrize("name", sorted(PEERS))
def test_real_peer(name: str, tmp_path: Path) -> None:
    try:
        peer = PeerProcess(name, "sphere", SIZE, 2)
    except BackendMissing as error:
        pytest.skip(str(error))
    try:
        assert name in peer.note
        for variant in peer.variants:
            assert min(peer.seconds(variant, [0, 1])) > 0
            peer.save_picture(variant, 1, tmp_path / "frame.npy")
            picture = np.load(tmp_path / "frame.npy")
            assert picture.shape == (48, 64, 4)
            covered = (picture != picture[0, 0]).any(-1)
            assert covered.mean() == pytest.approx(0.4, abs=0.05)
    finally:
        peer.close()
    with pytest.raises((BackendError, ValueError)):
        peer.seconds("", [0])
