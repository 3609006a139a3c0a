"""Peers run in processes of their own, and take turns with us.

Their libraries print, start threads and can end the whole process; none of that must
reach ours. The processes talk in lines of JSON: the peer first says what it is or why
it is missing; then each request, a variant and a list of frames, is answered with the
seconds that each frame took.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from flexor.bench.draw_scene import DrawScene, make_scene
from flexor.errors import BackendError, BackendMissing
from flexor.maths.threads import thread_count

__all__ = ["PEERS", "Peer", "PeerProcess"]

# Where each peer is: its class takes a scene and a size.
PEERS = {
    "llvmpipe": "flexor.bench.peers.llvmpipe:Llvmpipe",
    "raylib": "flexor.bench.peers.raylib:Raylib",
}


class Peer(Protocol):
    """Another library that draws a scene."""

    variants: tuple[str, ...]
    note: str

    def draw(self, variant: str, frame: int) -> NDArray[np.uint8]:
        """The picture (H, W, 4) of a frame as an array."""
        ...


class PeerProcess:
    """A peer in another process; note, variants: what it said of itself.

    Raises BackendMissing if the peer cannot be had on this machine.
    """

    def __init__(
        self, name: str, kind: str, size: tuple[int, int], frames: int | None = None
    ) -> None:
        request = json.dumps([name, kind, size, frames])
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, request],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            text=True,
        )
        try:
            hello = self._answer()
        except BackendError:
            self.close()
            raise BackendMissing(f"{name}: its process ended at the start") from None
        if "missing" in hello:
            self.close()
            raise BackendMissing(hello["missing"])
        self.note: str = hello["note"]
        self.variants: list[str] = hello["variants"]

    def seconds(self, variant: str, frames: Sequence[int]) -> list[float]:
        """Draw the frames, one after the other: how long each took."""
        self._ask({"variant": variant, "frames": list(frames)})
        return cast(list[float], self._answer())

    def save_picture(self, variant: str, frame: int, path: Path) -> None:
        """Write the picture of a frame to a .npy file."""
        self._ask({"variant": variant, "frames": [frame], "to": str(path)})
        self._answer()

    def close(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                pass
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise BackendError(f"{self.name}: its process ended") from None

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BackendError(f"{self.name}: its process ended")
        return json.loads(line)


def _environment() -> dict[str, str]:
    """OpenGL on the CPU, with as many threads as ours."""
    wanted = {
        "EGL_PLATFORM": "surfaceless",
        "GALLIUM_DRIVER": "llvmpipe",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "LP_NUM_THREADS": str(thread_count()),
    }
    return {**os.environ, **wanted}


def _open_peer(name: str, scene: DrawScene, size: tuple[int, int]) -> Peer:
    module, _, kind = PEERS[name].partition(":")
    return cast(Peer, getattr(import_module(module), kind)(scene, size))


def _timed(peer: Peer, request: dict[str, Any]) -> list[float]:
    taken = []
    for frame in request["frames"]:
        started = time.perf_counter()
        picture = peer.draw(request["variant"], frame)
        taken.append(time.perf_counter() - started)
        if "to" in request:
            np.save(request["to"], picture)
    return taken


def _serve(requests: IO[str], answers: IO[str], first: str) -> None:
    """The peer's side, until there are no more requests."""
    name, kind, size, frames = json.loads(first)
    hello: dict[str, Any]
    try:
        peer = _open_peer(name, make_scene(kind, frames), tuple(size))
        hello = {"note": peer.note, "variants": peer.variants}
    except BackendMissing as error:
        hello = {"missing": str(error)}
    print(json.dumps(hello), file=answers, flush=True)
    for line in requests if "missing" not in hello else ():
        print(json.dumps(_timed(peer, json.loads(line))), file=answers, flush=True)


def _main() -> None:
    # What a library prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _serve(sys.stdin, answers, sys.argv[1])
    answers.flush()
    os._exit(0)  # not all of these libraries survive being taken down


if __name__ == "__main__":
    _main()
