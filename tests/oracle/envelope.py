"""Slow twins of envelopes: float64, one vertex at a time, every step looked at twice.

`moved` says where the vertices have to be and knows nothing of plans. `run_plan` and
`run_steps` are drawing libraries that do what they are told, with the common vertex
buffer as a dictionary, and fail where they are told something that cannot be right.
They are the twins of the kernels `skin_envelope` and `run_to_draw`, `morphed_data` of
`morph_data`; those of `fetch_models` and `make_units` are in tests/oracle/deform.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import (
    AREA,
    BLOCK,
    DELTAS,
    DRAW,
    DRAW_DEFERRED,
    END,
    GROUPS,
    MIDDLE,
    MORPH_COUNT,
    MORPH_DATA,
    MORPH_NODE,
    NATIVE,
    NO_DRAW,
    START,
    TARGET,
    VERTICES,
)
from tests.oracle.deform import normal_matrix, unit

Columns = dict[int, int]
# Positions and normals (V, 3) of a part.
Drawn = tuple[Any, Any]


def pulls(part: Any, row: int) -> dict[int, list[tuple[float, Any]]]:
    """By model that pulls a vertex: weights, and the bind matrix of each.

    The only model that pulls a vertex pulls it wholly.
    """
    found: dict[int, list[tuple[float, Any]]] = {}
    for joint, weight in zip(part.joints[row], part.weights[row], strict=True):
        if joint >= 0 and weight > 0:
            model = int(part.models[joint])
            found.setdefault(model, []).append((float(weight), part.binds[joint]))
    if len(found) == 1:
        ((model, shares),) = found.items()
        whole = sum(weight for weight, _ in shares)
        found[model] = [(weight / whole, bind) for weight, bind in shares]
    return found


def pulled(shares: list[tuple[float, Any]], matrix: Any, vertex: Any) -> Any:
    """What one model with the world matrix (3, 4) gives to x y z nx ny nz (6,)."""
    given = np.zeros(6)
    for weight, bind in shares:
        square = np.vstack([bind, [0, 0, 0, 1]]).astype(np.float64)
        both = matrix.astype(np.float64) @ square
        given[:3] += weight * (both[:, :3] @ vertex[:3] + both[:, 3])
        given[3:] += weight * (normal_matrix(both) @ vertex[3:])
    return given


def basic_form(part: Any, weights: Any, columns: Columns | None) -> Any:
    """x y z nx ny nz (V, 6) of a part, morphed, before any model pulls."""
    rest = np.hstack([part.positions, part.normals]).astype(np.float64)
    first = (columns or {}).get(part.node)
    for number, target in enumerate(part.targets):
        weight = 0.0 if first is None else float(weights[first + number])
        if target.positions is not None:
            rest[:, :3] += weight * target.positions
        if target.normals is not None:
            rest[:, 3:] += weight * target.normals
    return rest


def finished(vertices: Any, normalise: bool) -> Drawn:
    """Positions and normals (V, 3) of x y z nx ny nz (V, 6)."""
    vertices = np.reshape(vertices, (-1, 6))
    normals = vertices[:, 3:]
    return vertices[:, :3], unit(normals) if normalise else normals


def moved(
    parts: Any,
    world: Any,
    weights: Any = (),
    columns: Columns | None = None,
    *,
    normalise: bool = True,
) -> list[Drawn]:
    """Where the vertices of each part are, rows as in the part.

    world: (J, 3, 4), world_from_model; weights: (W,), morph weights; columns: the first
    of them by node.
    """
    made = []
    for part in parts:
        rest = basic_form(part, weights, columns)
        out = np.zeros_like(rest)
        squares = np.tile(np.eye(4), (len(part.models), 1, 1))
        squares[:, :3] = part.binds
        both = world[part.models].astype(np.float64) @ squares
        upright = np.array([normal_matrix(matrix) for matrix in both])
        joints, own = np.asarray(part.joints), shares_of(part)
        for k in range(own.shape[1]):
            rows = np.nonzero(own[:, k])[0]
            joint, share = joints[rows, k], own[rows, k, None]
            at = np.einsum("nij,nj->ni", both[joint, :, :3], rest[rows, :3])
            turned = np.einsum("nij,nj->ni", upright[joint], rest[rows, 3:])
            out[rows, :3] += share * (at + both[joint, :, 3])
            out[rows, 3:] += share * turned
        made.append(finished(out, normalise))
    return made


def shares_of(part: Any) -> Any:
    """What `pulls` says of all vertices: weights (V, K), 0 where nothing pulls."""
    joints, weights = np.asarray(part.joints), np.asarray(part.weights, np.float64)
    is_used = (joints >= 0) & (weights > 0)
    own = np.where(is_used, weights, 0.0)
    models = np.asarray(part.models, np.int64)[np.maximum(joints, 0)]
    most = len(models.ravel()) and models.max() + 1
    first = np.where(is_used, models, most).min(1, initial=most)
    is_alone = first == np.where(is_used, models, -1).max(1, initial=-1)
    own[is_alone] /= own[is_alone].sum(1, keepdims=True)
    return own


def group_of(part: Any, row: int, model: int, trace: tuple[int, ...]) -> str:
    """The group of the vertex that `model` pulls, by the order of visit."""
    models = sorted(pulls(part, row), key=trace.index)
    assert model in models, f"model {model} does not pull vertex {row}"
    if len(models) == 1:
        return "native"
    return {models[0]: "start", models[-1]: "end"}.get(model, "middle")


class CommonBuffer:
    """Places that hold x y z nx ny nz, each at most for one part at a time."""

    def __init__(self, peak: int) -> None:
        self.peak = peak
        self.numbers: dict[int, Any] = {}
        self.holder: dict[int, int] = {}

    def open(self, part: int, offset: int, count: int) -> None:
        """Make the area of a part its own."""
        for place in range(offset, offset + count):
            assert 0 <= place < self.peak, f"place {place} of {self.peak}"
            other = self.holder.get(place)
            assert other is None, f"place {place} of part {part} is part {other}'s"
            self.holder[place] = part

    def store(self, place: int, numbers: Any) -> None:
        assert place not in self.numbers, f"place {place} is stored twice"
        self.numbers[place] = numbers

    def add(self, place: int, numbers: Any) -> None:
        assert place in self.numbers, f"added to place {place} before it is stored"
        self.numbers[place] = self.numbers[place] + numbers

    def release(self, offset: int, count: int) -> list[Any]:
        """What is in an area, whose room may then be used again."""
        for place in range(offset, offset + count):
            self.holder.pop(place, None)
        return [self.numbers.pop(offset + entry) for entry in range(count)]


def run_plan(
    plan: Any, parts: Any, world: Any, *, normalise: bool = True
) -> list[Drawn]:
    """Obey a plan; the vertices of each part when it was drawn, rows as in the part."""
    assert [made.model for made in plan.lists] == list(plan.trace)
    assert len(plan.areas) == len(parts)
    for area, part in zip(plan.areas, parts, strict=True):
        assert area.owner == part.owner
        assert sorted(area.vertices) == list(range(len(part.positions)))
    rest = [basic_form(part, (), None) for part in parts]
    buffer = CommonBuffer(plan.peak)
    writes = [0] * len(parts)
    waiting: set[int] = set()  # rows of the table
    drawn: dict[int, Drawn] = {}

    def write(number: int, row: int, group: str, model: int) -> None:
        area, part = plan.areas[number], parts[number]
        assert number not in drawn, f"part {number} was drawn too early"
        right = group_of(part, row, model, plan.trace)
        assert group == right, f"vertex {row} of part {number} is {right}, not {group}"
        if not writes[number]:
            buffer.open(number, area.offset, len(area.vertices))
        place = area.offset + list(area.vertices).index(row)
        given = pulled(pulls(part, row)[model], world[model], rest[number][row])
        put = buffer.store if group in ("native", "start") else buffer.add
        put(place, given)
        writes[number] += 1

    def draw(number: int) -> None:
        area = plan.areas[number]
        assert number not in drawn, f"part {number} is drawn twice"
        text = f"part {number} is drawn after {writes[number]} of {area.counter}"
        assert writes[number] == area.counter, text
        vertices = np.zeros((len(area.vertices), 6))
        for row, numbers in zip(
            area.vertices, buffer.release(area.offset, len(area.vertices)), strict=True
        ):
            vertices[row] = numbers
        drawn[number] = finished(vertices, normalise)

    for made in plan.lists:
        for group in GROUPS:
            for number, row in getattr(made, group):
                write(number, row, group, made.model)
        for command, number in made.commands:
            if command == "DRAWCP":
                part = plan.table[number]
                assert plan.areas[part].owner == made.model
                assert writes[part] < plan.areas[part].counter, f"part {part} is full"
                assert number not in waiting
                waiting.add(number)
            elif command == "DRAW":
                assert plan.areas[number].owner == made.model
                draw(number)
            else:
                assert command == "DRAWDP"
                assert number in waiting, f"{number} was not registered"
                waiting.remove(number)
                draw(plan.table[number])
        for number, area in enumerate(plan.areas):
            if number not in drawn and area.owner == made.model:
                registered = [plan.table[row] for row in waiting]
                assert number in registered, f"part {number}: no command of its owner"
        for row in waiting:
            part = plan.table[row]
            text = f"part {part} is full and not drawn"
            assert writes[part] < plan.areas[part].counter, text
    assert len(drawn) == len(parts), f"drawn: {sorted(drawn)} of {len(parts)}"
    assert not buffer.numbers
    assert not waiting
    return [drawn[number] for number in range(len(parts))]


def decode(data: Any, step: Any) -> Any:
    """x y z nx ny nz and weight (count, 7) of the vertices of one step."""
    op, _, _, count, at = (int(number) for number in step)
    rows = 6 if op == NATIVE else 7
    blocks = -(-count // BLOCK)
    numbers = data[at : at + blocks * rows * BLOCK].reshape(blocks, rows, BLOCK)
    vertices = numbers.swapaxes(1, 2).reshape(-1, rows)
    assert (vertices[count:] == 0).all(), "a block is not filled up with zeros"
    vertices = vertices[:count]
    if op == NATIVE:
        vertices = np.hstack([vertices, np.ones((count, 1))])
    return vertices


def morphed_data(envelope: Envelope, weights: Any, columns: Columns | None) -> Any:
    data = envelope.data.astype(np.float64)
    for morph in envelope.morphs:
        first = (columns or {}).get(int(morph[MORPH_NODE]))
        if first is not None:
            to, of, count = morph[MORPH_DATA], morph[DELTAS], morph[MORPH_COUNT]
            weight = float(weights[first + morph[TARGET]])
            data[to : to + count] += weight * envelope.deltas[of : of + count]
    return data


def run_steps(
    envelope: Envelope,
    world: Any,
    weights: Any = (),
    columns: Columns | None = None,
    *,
    normalise: bool = True,
) -> list[Drawn]:
    """Do the steps; the vertices of each part when it was drawn, by entry number.

    A step does not say to which part it belongs: its places do. So what is looked at is
    the life of a place: stored, added to, finished, drawn, and only then stored again.
    """
    data = morphed_data(envelope, weights, columns)
    buffer = CommonBuffer(envelope.peak)
    is_finished: dict[int, bool] = {}
    waiting: set[int] = set()
    drawn: dict[int, Drawn] = {}
    visited: list[int] = []

    def draw(part: int) -> None:
        assert part not in drawn, f"part {part} is drawn twice"
        offset, count = (int(envelope.parts[part, c]) for c in (AREA, VERTICES))
        for place in range(offset, offset + count):
            assert is_finished.pop(place, False), f"place {place} is drawn too early"
        numbers = np.reshape(buffer.release(offset, count), (-1, 7))
        np.testing.assert_allclose(numbers[:, 6], 1, atol=1e-5)
        drawn[part] = finished(numbers[:, :6], normalise)

    for step in envelope.steps:
        op, model = int(step[0]), int(step[1])
        if op == NO_DRAW:
            waiting.add(model)
        elif op == DRAW:
            draw(model)
        elif op == DRAW_DEFERRED:
            assert model in waiting, f"{model} was not registered"
            draw(int(envelope.table[model]))
        else:
            if model not in visited[-1:]:
                assert model not in visited, f"model {model} is visited twice"
                visited.append(model)
            matrix = world[model].astype(np.float64)
            upright = normal_matrix(matrix)
            for entry, vertex in enumerate(decode(data, step), int(step[2])):
                weight = vertex[6]
                position = matrix[:, :3] @ vertex[:3] + weight * matrix[:, 3]
                normal = upright @ vertex[3:6]
                given = np.concatenate([position, normal, [weight]])
                if op in (NATIVE, START):
                    assert 0 <= entry < envelope.peak
                    buffer.store(entry, given)
                else:
                    assert op in (MIDDLE, END)
                    buffer.add(entry, given)
                    assert not is_finished[entry], f"place {entry} was finished"
                is_finished[entry] = op in (NATIVE, END)
    assert len(drawn) == len(envelope.parts), f"drawn: {sorted(drawn)}"
    assert not buffer.numbers, f"never drawn: {sorted(buffer.numbers)}"
    return [drawn[part] for part in range(len(envelope.parts))]
