"""Envelopes beside skinning vertex by vertex: time with and without drawing, memory.

Each figure is of one thread but for the drawing, and all ways take turns in one run.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from flexor import samples
from flexor.api.character import Character
from flexor.api.pictures.drawing import Drawer
from flexor.api.skins import Weights
from flexor.arrays import Floats
from flexor.bench.timing import Result, best_seconds
from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from flexor.convert.envelope.report import PLACE_BYTES
from flexor.deform.envelope import (
    EnvelopeState,
    skin_envelope,
    trace_envelope,
)
from flexor.deform.vertices import init_skin, skin_vertices
from flexor.draw.drawlist import DrawItem, DrawLines, DrawList
from flexor.draw.scene.build import build_items
from flexor.draw.scene.envelope_sink import EnvelopeDraw
from flexor.draw.scene.lighting import lights_of
from flexor.draw.scene.style import DrawStyle
from flexor.pose.pose import Pose

__all__ = ["run"]

CROWD = 64
SIZE = (640, 480)
WAYS = {
    "vertices": "runs of vertices with the same joints, one pass over the mesh",
    "multi": "envelope, all weights",
    "one": "envelope, one weight a vertex",
}
ORIGINAL = "envelope, all weights, vertices that a joint starts in the file's order"

Call = Callable[[], None]
Items = tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]


def run(characters: Mapping[str, Character]) -> Iterator[Result]:
    """The mannequin and the characters given."""
    yield from _measure("mannequin", samples.mannequin())
    for name, character in characters.items():
        yield from _measure(name, character)


def _measure(name: str, character: Character) -> Iterator[Result]:
    vertices = sum(bind.vertex_count for bind in character.binds)
    if not vertices:
        return
    started = time.perf_counter()
    envelopes, _ = convert_scene(character.scene)
    seconds = time.perf_counter() - started
    character = character.with_envelopes(envelopes)
    yield Result(f"envelope/{name}/convert", seconds, "s", "both envelopes made, once")
    yield from _skin(name, character, vertices)
    yield from _draw(name, character)
    yield from _memory(name, character, vertices)


def _poses(character: Character, count: int) -> Pose:
    """Poses of the first clip, from its middle on."""
    clip = next(iter(character.clips), None)
    last = character.clips[clip].duration if clip else 0.0
    return character.pose_many(clip, np.linspace(last / 2, last, count))


def _skin(name: str, character: Character, vertices: int) -> Iterator[Result]:
    settings = EnvelopeSettings(order="original")
    original = character.with_envelopes(convert_scene(character.scene, settings)[0])
    for count, where in ((1, ""), (CROWD, f"/crowd{CROWD}")):
        poses = _poses(character, count)
        calls = [_by_vertices(character, poses)[0]]
        calls += [_by_envelope(character, poses, kind)[0] for kind in ("multi", "one")]
        calls.append(_by_envelope(original, poses, "multi")[0])
        seconds = best_seconds(*calls, rounds=30 if count == 1 else 15)
        ways = {**WAYS, "original": ORIGINAL}
        for way, best in zip(ways, seconds, strict=True):
            yield Result(
                f"envelope/{name}/skin{where}/{way}",
                best / count / vertices * 1e9,
                "ns/vertex",
                f"{ways[way]}; {vertices} vertices, results as in the file, all checks",
            )


def _by_vertices(character: Character, poses: Pose) -> tuple[Call, list[Floats]]:
    """Skinning as `deform` does it, with work space and results kept."""
    count = len(poses)
    world = np.ascontiguousarray(poses.world)
    own = []
    for bind in character.binds:
        first, width = character.layout.morph_columns.get(bind.node, (0, 0))
        weights = np.ascontiguousarray(poses.weights[:, first : first + width])
        shape = (count, bind.vertex_count, 3)
        results = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        own.append((init_skin(bind, count), weights, *results))

    def call() -> None:
        for state, weights, positions, normals in own:
            skin_vertices(state, world, weights, positions=positions, normals=normals)

    return call, [row[2] for row in own] + [row[3] for row in own]


def _by_envelope(
    character: Character, poses: Pose, kind: Weights
) -> tuple[Call, list[Floats]]:
    """The drawing library into the same arrays."""
    state = character.envelope_state(kind)
    world, weights = np.ascontiguousarray(poses.world), poses.weights
    sizes = {(bind.node, bind.primitive): bind.vertex_count for bind in character.binds}
    shapes = [(len(poses), sizes[place], 3) for place in state.surfaces]
    positions = [np.zeros(shape, np.float32) for shape in shapes]
    normals = [np.zeros(shape, np.float32) for shape in shapes]

    def call() -> None:
        skin_envelope(state, world, weights, positions=positions, normals=normals)

    return call, positions + normals


def _draw(name: str, character: Character) -> Iterator[Result]:
    """Whole frames: skin, draw list, picture."""
    poses = _poses(character, 1)
    pose = poses[0]
    drawer = Drawer(character, SIZE, DrawStyle(shadow=False))
    camera = drawer.fit(pose)
    lights = lights_of(drawer.style, camera)
    kit, dress = drawer._kit, drawer._dress
    if not kit.has_skin:
        return

    def frame(skin: Call, build: Callable[[], Items]) -> Call:
        def call() -> None:
            skin()
            items, lines = build()
            paper = drawer.style.paper
            kit.backend.draw(
                DrawList(camera, items, lines, lights, paper), drawer.target
            )

        return call

    def whole(skin: Call, arrays: list[Floats]) -> Call:
        half = len(arrays) // 2
        positions = [array[0] for array in arrays[:half]]
        normals = [array[0] for array in arrays[half:]]
        return frame(skin, lambda: build_items(dress, positions, normals, pose.world))

    calls = [whole(*_by_vertices(character, poses))]
    calls += [whole(*_by_envelope(character, poses, kind)) for kind in ("multi", "one")]
    state = character.envelope_state("multi")
    sink = EnvelopeDraw(dress, character.envelopes.multi)
    calls.append(
        frame(
            lambda: trace_envelope(state, pose.world, pose.weights, sink),
            lambda: sink.items(pose.world),
        )
    )
    ways = {**WAYS, "parts": "envelope, each part handed to the drawing when done"}
    for way, best in zip(ways, best_seconds(*calls), strict=True):
        note = f"{ways[way]}; skin, draw list and picture of {SIZE[0]} x {SIZE[1]}"
        yield Result(f"envelope/{name}/draw/{way}", 1 / best, "fps", note)


def _memory(name: str, character: Character, vertices: int) -> Iterator[Result]:
    """Bytes that are needed to work a frame, beside the data that do not change."""
    pose = _poses(character, 1)[0]
    yield Result(
        f"envelope/{name}/memory/mesh",
        float(PLACE_BYTES * vertices),
        "bytes",
        "positions and normals of the whole mesh",
    )
    for kind in ("multi", "one"):
        planned = getattr(character.envelopes, kind).peak * PLACE_BYTES
        state = character.envelope_state(kind)
        note = "the planned peak: the most vertices that wait at once"
        yield Result(f"envelope/{name}/memory/{kind}/planned", planned, "bytes", note)
        note = "measured: the common buffer, and all that a frame allocates"
        yield Result(
            f"envelope/{name}/memory/{kind}/measured",
            state.buffer.nbytes + _allocated(state, pose),
            "bytes",
            note,
        )


def _allocated(state: EnvelopeState, pose: Pose) -> int:
    """The most bytes that one frame holds, given to a sink that keeps nothing."""

    def sink(part: int, area: Floats) -> None:
        pass

    trace_envelope(state, pose.world, pose.weights, sink)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        trace_envelope(state, pose.world, pose.weights, sink)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
