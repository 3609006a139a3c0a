"""The drawing library: an envelope and world matrices to finished parts, in order.

Each part is handed out when its last vertex is done, and its area of the common buffer
is used again: what is needed while working is the planned peak, not the mesh.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, address, check_array, check_input
from flexor.deform.kernels import envelope as kernel
from flexor.errors import ShapeError
from flexor.scene.runtime import layout as at
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import BLOCK

__all__ = [
    "EnvelopeSink",
    "EnvelopeState",
    "init_envelope",
    "skin_envelope",
    "trace_envelope",
]

# Called with the number of a part, and its vertices: float32 (6, V), x y z nx ny nz by
# entry number, a view of the common buffer that holds until the call returns.
EnvelopeSink = Callable[[int, Floats], None]


@dataclass(slots=True, eq=False)
class EnvelopeState:
    """Work space for an envelope, for one thread.

    surfaces: (node, primitive) of the arrays that `skin_envelope` fills, in order;
    buffer: float32 (6, peak and some), the common vertex buffer.
    """

    envelope: Envelope
    surfaces: tuple[tuple[int, int], ...]
    buffer: Floats
    _steps: Ints = field(repr=False)
    _parts: Ints = field(repr=False)
    _fewest: list[int] = field(repr=False)
    _columns: Ints = field(repr=False)
    _matrices: Floats = field(repr=False)
    _turns: Floats = field(repr=False)
    _work: Floats = field(repr=False)
    _morphed: Floats = field(repr=False)


def init_envelope(
    envelope: Envelope, columns: Mapping[int, int] | None = None
) -> EnvelopeState:
    """Work space for an envelope.

    columns: for nodes with morphs, the first of their columns in the morph weights.
    """
    places = [(int(row[at.NODE]), int(row[at.PRIMITIVE])) for row in envelope.parts]
    surfaces = tuple(dict.fromkeys(places))
    parts = np.zeros((len(places), 4), np.int32)
    counts = envelope.parts[:, at.VERTICES]
    parts[:, kernel.PART_AREA] = envelope.parts[:, at.AREA]
    parts[:, kernel.PART_COUNT] = counts
    parts[:, kernel.PART_FIRST] = np.cumsum(counts) - counts
    row_of = {place: row for row, place in enumerate(surfaces)}
    parts[:, kernel.PART_SURFACE] = [row_of[place] for place in places]
    fewest = [0] * len(surfaces)
    for _, size, begin, surface in parts.tolist():
        most = int(envelope.order[begin : begin + size].max(initial=-1))
        fewest[surface] = max(fewest[surface], most + 1)
    # Rows that are a multiple of 4 kB apart would wait for each other.
    stride = -(-(envelope.peak + BLOCK) // 16) * 16 + 16
    stride += 64 if stride % 1024 == 0 else 0
    own = columns or {}
    morphs = envelope.morphs
    for node in set(morphs[:, at.MORPH_NODE].tolist()):
        if node not in own:
            raise ShapeError(f"columns: node {node} has morphs but no column")
    names = [own[node] + target for node, target in morphs[:, : at.TARGET + 1].tolist()]
    size = 12 * len(envelope.models)
    return EnvelopeState(
        envelope,
        surfaces,
        np.zeros((6, stride), np.float32),
        _runtime_steps(envelope),
        parts,
        fewest,
        np.array(names, np.int32),
        np.zeros(size, np.float32),
        np.zeros(size, np.float32),
        np.zeros(48, np.float32),
        np.zeros(len(envelope.data) if len(morphs) else 0, np.float32),
    )


def _runtime_steps(envelope: Envelope) -> Ints:
    """Steps (S, 6) as the kernels take them; see `kernels.envelope`."""
    steps = np.zeros((len(envelope.steps), 6), np.int32)
    steps[:, :5] = envelope.steps
    is_list = steps[:, at.OP] <= at.END
    used = steps[is_list, at.MODEL]
    steps[is_list, at.MODEL] = np.searchsorted(envelope.models, used)
    is_late = steps[:, at.OP] == at.DRAW_DEFERRED
    steps[is_late, at.MODEL] = envelope.table[steps[is_late, at.MODEL]]
    steps[is_late, at.OP] = at.DRAW
    # A run may be stored beyond its end where nothing is that is still needed.
    is_live = np.zeros(envelope.peak + BLOCK, bool)
    areas = envelope.parts[:, [at.AREA, at.VERTICES]].tolist()
    for row, (op, part, entry, count, _) in enumerate(steps[:, :5].tolist()):
        if op == at.DRAW:
            begin, size = areas[part]
            is_live[begin : begin + size] = False
        elif op <= at.START:
            end = entry + count
            steps[row, kernel.IS_EXACT] = is_live[
                end : entry + -(-count // BLOCK) * BLOCK
            ].any()
            is_live[entry:end] = True
    return steps


def skin_envelope(
    state: EnvelopeState,
    world: Floats,
    weights: Floats,
    *,
    positions: Sequence[Floats],
    normals: Sequence[Floats],
) -> None:
    """Work N characters into world space, vertices in the file's order.

    world: (N, J or more, 3, 4), world_from_node; weights: (N, W), morphs of all nodes;
    positions, normals: results (N, V, 3) of each of `state.surfaces`; all float32.
    """
    envelope, count = state.envelope, len(world)
    _check_world(envelope, world, count)
    check_input(weights, np.float32, (count, None), "weights")
    surfaces = _surface_rows(state, count, positions, normals)
    order = envelope.order.view(np.uint32)
    flat = world.reshape(count, 12 * world.shape[1])
    has_morphs = len(envelope.morphs) > 0 and bool(weights.any())
    spans = [(c, c + 1) for c in range(count)] if has_morphs else [(0, count)]
    for begin, end in spans:
        data = _data(state, weights[begin]) if has_morphs else envelope.data
        kernel.skin_envelope(
            flat[begin:end],
            envelope.models,
            state._steps,
            data,
            state._parts,
            order,
            surfaces,
            begin,
            state.buffer.shape[1],
            state._matrices,
            state._turns,
            state._work,
            state.buffer.reshape(-1),
        )


def trace_envelope(
    state: EnvelopeState,
    world: Floats,
    weights: Floats,
    sink: EnvelopeSink,
    *,
    normalise: bool = True,
) -> None:
    """Work one character and give each part to `sink` when it is finished.

    world: (J or more, 3, 4); weights: (W,); normalise: whether normals are scaled to
    unit length first.
    """
    envelope = state.envelope
    _check_world(envelope, world[None], 1)
    check_input(weights, np.float32, (None,), "weights")
    data = envelope.data
    if len(envelope.morphs) and weights.any():
        data = _data(state, weights)
    flat, stride = state.buffer.reshape(-1), state.buffer.shape[1]
    is_uneven = kernel.fetch_models(
        world.reshape(-1), envelope.models, state._matrices, state._turns
    )
    turns = state._turns if is_uneven else state._matrices
    step = 0
    while step < len(state._steps):
        step = kernel.run_to_draw(
            step, state._steps, state._matrices, turns, data, stride, state._work, flat
        )
        if step == len(state._steps):
            break
        part = int(state._steps[step, at.MODEL])
        begin, count = state._parts[part, :2].tolist()
        if normalise:
            kernel.make_units(begin, count, stride, flat)
        sink(part, state.buffer[:, begin : begin + count])
        step += 1


def _check_world(envelope: Envelope, world: Floats, count: int) -> None:
    check_input(world, np.float32, (count, None, 3, 4), "world")
    last = int(envelope.models.max(initial=0))
    if len(envelope.models) and world.shape[1] <= last:
        have = world.shape[1]
        raise ShapeError(f"world: {have} nodes, but the skin hangs on node {last}")


def _data(state: EnvelopeState, weights: Floats) -> Floats:
    """The envelope's data with morphs added; weights: (W,)."""
    if not np.isfinite(weights).all():
        raise ShapeError("weights: must be finite")
    most = int(state._columns.max(initial=-1))
    if most >= len(weights):
        raise ShapeError(f"weights: {len(weights)}, but a morph has column {most}")
    envelope = state.envelope
    kernel.morph_data(
        envelope.morphs,
        state._columns,
        weights,
        envelope.data,
        envelope.deltas,
        state._morphed,
    )
    return state._morphed


def _surface_rows(
    state: EnvelopeState,
    count: int,
    positions: Sequence[Floats],
    normals: Sequence[Floats],
) -> NDArray[np.int64]:
    """Addresses and lengths of the results, checked; (surfaces, 3)."""
    wanted = len(state.surfaces)
    for name, given in (("positions", positions), ("normals", normals)):
        if len(given) != wanted:
            raise ShapeError(f"{name}: {len(given)} surfaces, expected {wanted}")
    rows = []
    for place, turn, fewest in zip(positions, normals, state._fewest, strict=True):
        have = max(place.shape[1] if place.ndim == 3 else 0, fewest)
        shape = (count, have, 3)
        check_array(place, np.float32, shape, "positions")
        check_array(turn, np.float32, shape, "normals")
        rows.append((address(place), address(turn), 3 * have))
    return np.array(rows, np.int64).reshape(-1, 3)
