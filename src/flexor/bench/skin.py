"""Skinning time per vertex: positions and unit normals, one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from flexor import samples
from flexor.api.character import Character
from flexor.arrays import Floats
from flexor.bench.synthetic import make_character
from flexor.bench.timing import Result, best_seconds
from flexor.deform.bind import Bind
from flexor.deform.dual import init_dual
from flexor.deform.kernels import dual as kernel_dual
from flexor.deform.kernels import file_order
from flexor.deform.kernels import vertices as kernel
from flexor.deform.vertices import init_skin
from flexor.pose.pose import Pose

__all__ = ["run"]

DUAL_INFLUENCES = 4  # of the cases that are also measured with dual quaternions
CASES = ((4000, 1), (4000, 2), (4000, 4), (20000, 1), (20000, 2), (20000, 4))


def _palette(bind: Bind, pose: Pose) -> Floats:
    count = len(pose)
    out = np.zeros((count, len(bind.nodes) * 12), np.float32)
    kernel.palette(pose.world.reshape(count, -1), bind.nodes, bind.binds, out)
    return out


def _blocks(bind: Bind, palette: Floats) -> Callable[[], None]:
    """Skinning into blocks, the order the runtime keeps vertices in."""
    state = init_skin(bind, len(palette))
    turns, work = state._turns, state._work
    out = np.zeros((len(palette), len(bind.order) * 6), np.float32)

    def call() -> None:
        kernel.skin_blocks(
            palette, bind.runs, bind.joints, bind.data, True, turns, work, out
        )

    return call


def _file_order(bind: Bind, palette: Floats) -> Callable[[], None]:
    """Skinning into arrays (N, V, 3) in the file's order."""
    state = init_skin(bind, len(palette))
    turns, work = state._turns, state._work
    positions = np.zeros((len(palette), bind.vertex_count * 3), np.float32)
    normals = np.zeros_like(positions)

    def call() -> None:
        file_order.skin_vertices(
            palette,
            bind.runs,
            bind.joints,
            bind.data,
            bind.order,
            True,
            turns,
            work,
            positions,
            normals,
        )

    return call


def _blocks_dual(bind: Bind, palette: Floats) -> Callable[[], None]:
    """As `_blocks`, with dual quaternions."""
    state = init_dual(bind, len(palette))
    space, work = state._space, state._work
    out = np.zeros((len(palette), len(bind.order) * 6), np.float32)

    def call() -> None:
        kernel_dual.skin_blocks_dual(
            palette, bind.runs, bind.joints, bind.data, True, space, work, out
        )

    return call


def _numpy(character: Character, palette: Floats) -> Callable[[], None]:
    """The usual NumPy way: gather matrices, blend and apply with einsum."""
    primitive = character.meshes[0].primitives[0]
    assert primitive.skin is not None
    assert primitive.normals is not None
    joints, weights = primitive.skin.joints, primitive.skin.weights
    rest, turned = primitive.positions, primitive.normals
    matrices = palette[0].reshape(-1, 3, 4)

    def call() -> None:
        blended = np.einsum("vk,vkrc->vrc", weights, matrices[joints])
        positions = np.einsum("vrc,vc->vr", blended[:, :, :3], rest)
        positions += blended[:, :, 3]
        normals = np.einsum("vrc,vc->vr", blended[:, :, :3], turned)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)

    return call


def run(characters: Mapping[str, Character]) -> Iterator[Result]:
    """The synthetic set, a crowd, the mannequin and the characters given."""
    note = "positions + unit normals, structure of arrays in run order, one thread"
    for vertices, influences in CASES:
        character = make_character(vertices, influences)
        bind = character.binds[0]
        palette = _palette(bind, character.pose_many("turns", [0.4]))
        pose = character.pose("turns", 0.4)
        calls: list[Callable[[], object]] = [
            _blocks(bind, palette),
            _file_order(bind, palette),
            _numpy(character, palette),
            partial(character.deform, pose),
            partial(character.deform, pose, out=character.deform(pose)),
        ]
        if influences == DUAL_INFLUENCES:
            calls.append(_blocks_dual(bind, palette))
        blocks, in_order, plain, face, again, *dual = best_seconds(*calls)
        name = f"skin/v{vertices}/i{influences}"
        scale = 1e9 / vertices
        yield Result(name, blocks * scale, "ns/vertex", note)
        text = "the same, arrays (V, 3) in the file's vertex order"
        yield Result(f"{name}/file_order", in_order * scale, "ns/vertex", text)
        text = "hero.deform(pose): the same with checks, palette and new arrays"
        yield Result(f"{name}/deform", face * scale, "ns/vertex", text)
        text = "hero.deform(pose, out=skin): into the same arrays again"
        yield Result(f"{name}/deform_out", again * scale, "ns/vertex", text)
        text = "gather and einsum, same data, same run"
        yield Result(f"{name}/numpy", plain * scale, "ns/vertex", text)
        for seconds in dual:
            text = "dual quaternions in run order, same data, same run"
            yield Result(f"{name}/dual", seconds * scale, "ns/vertex", text)
    yield from _crowd(note)
    yield from _real("mannequin", samples.mannequin())
    for name, character in characters.items():
        yield from _real(name, character)


def _crowd(note: str) -> Iterator[Result]:
    character = make_character(4000, 4)
    bind = character.binds[0]
    palette = _palette(bind, character.pose_many("turns", np.linspace(0, 2, 256)))
    calls = [_blocks(bind, palette), _file_order(bind, palette)]
    blocks, in_order = best_seconds(*calls, rounds=15)
    scale = 1e9 / (256 * 4000)
    yield Result("skin/crowd256x4000/i4", blocks * scale, "ns/vertex", note)
    yield Result(
        "skin/crowd256x4000/i4/file_order",
        in_order * scale,
        "ns/vertex",
        "the same, arrays (256, 4000, 3) in the file's vertex order",
    )


def _real(name: str, character: Character) -> Iterator[Result]:
    """All primitives of a character at the middle of its first clip."""
    clip = next(iter(character.clips), None)
    time = character.clips[clip].duration / 2 if clip else 0.0
    pose = character.pose_many(clip, [time])
    vertices = sum(bind.vertex_count for bind in character.binds)
    if not vertices:
        return
    parts = [(bind, _palette(bind, pose)) for bind in character.binds]
    in_blocks = [_blocks(bind, palette) for bind, palette in parts]
    in_order = [_file_order(bind, palette) for bind, palette in parts]
    seconds = best_seconds(
        lambda: [call() for call in in_blocks], lambda: [call() for call in in_order]
    )
    runs = sum(len(bind.runs) for bind in character.binds)
    note = f"{vertices} vertices, {runs} runs, {len(parts)} primitives, one thread"
    name = f"skin/real/{name}"
    yield Result(name, seconds[0] / vertices * 1e9, "ns/vertex", note)
    yield Result(
        f"{name}/file_order",
        seconds[1] / vertices * 1e9,
        "ns/vertex",
        "the same, in the file's vertex order",
    )
