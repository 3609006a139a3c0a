"""Pictures a second of about 10,000 textured, lit triangles that all move, and peers.

Every frame brings new positions and normals and ends with the picture in an array.
Ours is timed from Python, with the draw list made anew for each frame.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from flexor.bench.draw_scene import DrawScene, assets, list_for_frame, make_scene
from flexor.bench.peers.process import PEERS, PeerProcess
from flexor.bench.timing import Result, use_threads
from flexor.draw.backend import Backend, open_backend
from flexor.draw.target import init_target
from flexor.errors import BackendError, BackendMissing
from flexor.maths.threads import thread_count

__all__ = ["CASES", "Case", "run"]

Size = tuple[int, int]
# Gives the seconds that each of the frames took.
Timer = Callable[[Sequence[int]], list[float]]

SAME = (
    "textured (512 x 512, bilinear, mipmaps), sRGB texture and picture, light for each "
    "vertex, depth, back faces left out, read as an array"
)
PEER_NOTES = {
    "llvmpipe": "the same: sRGB texture and picture, trilinear mipmaps",
    "llvmpipe_plain": "does less: bilinear, neither mipmaps nor sRGB",
    "raylib": "does less: no mipmaps, no sRGB, light by NumPy; one thread",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One scene at one size; has_aa: with 4 samples a pixel too."""

    kind: str
    size: Size
    has_aa: bool = True

    @property
    def name(self) -> str:
        """What its results are called, up to the variant."""
        if self.kind == "small_triangles":
            return "draw/small_triangles"
        return f"draw/{self.kind}/{self.size[0]}x{self.size[1]}"


CASES = (
    Case("humanoid", (640, 480)),
    Case("humanoid", (1280, 720)),
    Case("sphere", (640, 480)),
    Case("sphere", (1280, 720)),
    Case("small_triangles", (1280, 720), has_aa=False),
)


@dataclass(slots=True)
class Contestant:
    """Something to time; best: the least seconds of each step, or None if it broke."""

    name: str
    note: str
    timer: Timer
    best: list[float] | None


def run(
    cases: Iterable[Case] = CASES,
    *,
    peers: Iterable[str] = tuple(PEERS),
    rounds: int = 10,
    steps: int = 16,
    frames: int | None = None,
) -> Iterator[Result]:
    """All cases, ours and the peers that are there, taking turns round by round.

    steps: frames in a round, spread over the whole motion, of which each counts as fast
    as its best round; frames: how many are made of each scene, None for the usual.
    """
    for case in cases:
        scene = make_scene(case.kind, frames)
        with ExitStack() as stack:
            contestants = _ours(case, scene, stack)
            others, missing = _peers(case, peers, frames, stack)
            contestants += others
            _take_turns(contestants, rounds, steps, len(scene.positions))
        yield from _results(case, scene, contestants, missing)


def _ours(case: Case, scene: DrawScene, stack: ExitStack) -> list[Contestant]:
    backend = open_backend("raster")
    stack.callback(backend.close)
    mesh, texture = assets(scene)
    numbers = backend.upload(mesh), backend.upload(texture)
    made = []
    for aa in ("", "/aa") if case.has_aa else ("",):
        for name, threads in (("", thread_count()), ("/threads1", 1)):
            samples = 4 if aa else 1
            timer = _our_timer(backend, scene, numbers, case.size, samples, threads)
            cores = "1 thread" if threads == 1 else f"{threads} threads"
            note = f"{samples} sample{'s' * (samples > 1)}, {cores}; {SAME}"
            made.append(Contestant(aa + name, note, timer, []))
    return made


def _our_timer(
    backend: Backend,
    scene: DrawScene,
    numbers: tuple[int, int],
    size: Size,
    samples: int,
    threads: int,
) -> Timer:
    target = init_target(size, samples)

    def timer(frames: Sequence[int]) -> list[float]:
        taken = []
        with use_threads(threads):
            for frame in frames:
                started = time.perf_counter()
                backend.draw(list_for_frame(scene, frame, *numbers), target)
                taken.append(time.perf_counter() - started)
        return taken

    return timer


def _peers(
    case: Case, names: Iterable[str], frames: int | None, stack: ExitStack
) -> tuple[list[Contestant], str]:
    """The peers that are there, and what is said about the others."""
    found, missing = [], []
    for name in names:
        try:
            peer = PeerProcess(name, case.kind, case.size, frames)
        except BackendMissing as error:
            missing.append(str(error))
            continue
        stack.callback(peer.close)
        for variant in peer.variants:
            words = variant.split("/")
            if "aa" in words and not case.has_aa:
                continue
            full = f"{name}_plain" if "plain" in words else name
            aa, samples = ("/aa", "4 samples") if "aa" in words else ("", "1 sample")
            note = f"{peer.note}; {samples}; {PEER_NOTES[full]}"
            timer = _peer_timer(peer, variant)
            found.append(Contestant(f"{aa}/{full}", note, timer, []))
    return found, "; ".join(missing)


def _peer_timer(peer: PeerProcess, variant: str) -> Timer:
    return lambda frames: peer.seconds(variant, frames)


def _take_turns(
    contestants: list[Contestant], rounds: int, steps: int, frame_count: int
) -> None:
    """Time them round by round, and keep the least seconds of every step.

    Each round starts a frame later, so that all frames come up in turn. The first frame
    of a turn is not counted: the one before left the caches to itself.
    """
    stride = max(1, frame_count // steps)
    for number in range(rounds):
        frames = [step * stride + number % stride for step in range(steps)]
        for contestant in contestants:
            if contestant.best is None:
                continue
            try:
                taken = contestant.timer([frames[-1], *frames])[1:]
            except BackendError:
                contestant.best = None
                continue
            contestant.best = list(map(min, taken, contestant.best or taken))


def _results(
    case: Case, scene: DrawScene, contestants: list[Contestant], missing: str
) -> Iterator[Result]:
    is_small = case.kind == "small_triangles"
    unit = "Mtriangles/s" if is_small else "fps"
    amount = len(scene.faces) / 1e6 if is_small else 1.0
    absent = f"; no figure for {missing}" if missing else ""
    values = {}
    for contestant in contestants:
        if contestant.best is None:
            continue
        value = amount / float(np.mean(contestant.best))
        values[contestant.name] = value
        note = contestant.note + (absent if not contestant.name else "")
        yield Result(case.name + contestant.name, value, unit, note)
    for aa in ("", "/aa"):
        for peer, ratio in (("llvmpipe", "ratio"), ("llvmpipe_plain", "ratio_plain")):
            if aa in values and f"{aa}/{peer}" in values:
                value = values[aa] / values[f"{aa}/{peer}"]
                note = f"ours, all threads, to {peer}; {PEER_NOTES[peer]}"
                yield Result(f"{case.name}{aa}/{ratio}", value, "x", note)
