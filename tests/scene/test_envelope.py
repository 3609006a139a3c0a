"""Envelopes as data: each refusal, and what can be asked of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.envelope import (
    DRAW,
    DRAW_DEFERRED,
    END,
    NATIVE,
    NO_DRAW,
    START,
    Envelope,
)

# Part 0: three vertices at places 0 to 2, two of them pulled by models 0 and 4, one by
# model 0 alone; drawn at model 4. Part 1: nine vertices at 3 to 11, all model 4's.
STEPS = [
    [NATIVE, 0, 0, 1, 0],
    [START, 0, 1, 2, 48],
    [NO_DRAW, 0, 0, 0, 0],
    [NATIVE, 4, 3, 9, 104],
    [END, 4, 1, 2, 200],
    [DRAW, 1, 0, 0, 0],
    [DRAW_DEFERRED, 0, 0, 0, 0],
]
PARTS = [[7, 0, 0, 0, 3, 1], [7, 1, 4, 3, 9, 2]]
ORDER = [2, 0, 1, *range(9)]
FACES = [[0, 1, 2], [3, 4, 5], [11, 4, 9]]
MORPHS = [[7, 0, 48, 56, 0], [7, 1, 104, 96, 10]]


def make(**changes: Any) -> Envelope:
    """The envelope above, with other arrays."""
    return Envelope(
        **{
            "steps": STEPS,
            "table": [0],
            "data": np.zeros(256),
            "parts": PARTS,
            "order": ORDER,
            "faces": FACES,
            "addresses": None,
            "morphs": MORPHS,
            "deltas": np.zeros(106),
            "peak": 12,
            **changes,
        }
    )


def other(rows: Any, row: int, column: int, value: int) -> Any:
    """A copy with one other number."""
    changed = np.array(rows)
    changed[row, column] = value
    return changed


def with_ids(**changes: Any) -> Envelope:
    """The same with consistent IDs; part 1 uses the places of part 0 again."""
    parts = other(PARTS, 1, 3, 0)
    addresses = [0, 1, 2, *range(9)]
    return make(**{"parts": parts, "addresses": addresses, **changes})


def test_it_is_accepted() -> None:
    envelope = make()
    assert envelope.steps.dtype == np.int32
    assert envelope.data.dtype == np.float32
    assert with_ids().addresses is not None


def test_an_empty_one_is_accepted() -> None:
    none = np.zeros((0, 5))
    envelope = make(
        steps=none,
        table=[],
        data=[],
        parts=np.zeros((0, 6)),
        order=[],
        faces=np.zeros((0, 3)),
        morphs=none,
        deltas=[],
        peak=0,
    )
    assert envelope.group_counts() == {"native": 0, "start": 0, "middle": 0, "end": 0}
    assert len(envelope.models) == 0


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"steps": np.zeros((2, 4))}, r"steps: shape \(2, 4\), expected \(any, 5\)"),
        ({"parts": np.zeros((2, 5))}, "parts: shape"),
        ({"faces": np.zeros((3, 4))}, "faces: shape"),
        ({"morphs": np.zeros((2, 4))}, "morphs: shape"),
        ({"table": [[0]]}, "table: shape"),
        ({"order": [ORDER]}, "order: shape"),
        ({"data": np.zeros((2, 128))}, "data: shape"),
        ({"deltas": np.zeros((1, 106))}, "deltas: shape"),
        ({"addresses": [0, 1, 2]}, r"addresses: shape \(3,\), expected \(12,\)"),
        ({"table": [0.5]}, "table: cannot be made int32"),
    ],
)
def test_shapes(changes: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make(**changes)


@pytest.mark.parametrize("peak", [-1, 1 << 30])
def test_peak(peak: int) -> None:
    with pytest.raises(ShapeError, match=f"peak: {peak} places"):
        make(peak=peak)


@pytest.mark.parametrize("op", [-1, 7])
def test_unknown_steps(op: int) -> None:
    with pytest.raises(ShapeError, match=r"steps: op: must lie in 0\.\.6"):
        make(steps=other(STEPS, 2, 0, op))


@pytest.mark.parametrize("model", [-1, 1 << 20])
def test_models(model: int) -> None:
    with pytest.raises(ShapeError, match=r"steps: model: must lie in 0\.\."):
        make(steps=other(STEPS, 1, 1, model))


@pytest.mark.parametrize(
    ("column", "value"),
    [(2, -1), (2, 4), (3, -1), (3, 10)],
    ids=["entry before", "entry beyond", "count below zero", "count beyond"],
)
def test_places_that_are_not_in_the_buffer(column: int, value: int) -> None:
    with pytest.raises(ShapeError, match="steps: entry: leads outside of 12"):
        make(steps=other(STEPS, 3, column, value))


@pytest.mark.parametrize(("row", "at"), [(0, -1), (0, 209), (3, 161), (4, 201)])
def test_numbers_that_are_not_in_the_data(row: int, at: int) -> None:
    """Blocks have six times eight numbers, seven with weights; nine need two."""
    make(steps=other(STEPS, row, 4, at - 1 if at > 0 else 0))
    with pytest.raises(ShapeError, match="steps: data: leads outside of 256"):
        make(steps=other(STEPS, row, 4, at))


@pytest.mark.parametrize("part", [-1, 2])
def test_draw_of_a_missing_part(part: int) -> None:
    with pytest.raises(ShapeError, match=r"steps: part: must lie in 0\.\.1"):
        make(steps=other(STEPS, 5, 1, part))


@pytest.mark.parametrize("row", [2, 6], ids=["non-draw", "draw deferred"])
@pytest.mark.parametrize("number", [-1, 1])
def test_ids_that_are_not_in_the_table(row: int, number: int) -> None:
    with pytest.raises(ShapeError, match=r"steps: id: must lie in 0\.\.0"):
        make(steps=other(STEPS, row, 1, number))


@pytest.mark.parametrize("part", [-1, 2])
def test_table_of_missing_parts(part: int) -> None:
    with pytest.raises(ShapeError, match=r"table: must lie in 0\.\.1"):
        make(table=[part])


@pytest.mark.parametrize("column", range(6))
@pytest.mark.parametrize("value", [-1, 1 << 30])
def test_numbers_of_parts(column: int, value: int) -> None:
    with pytest.raises(ShapeError, match=r"parts: must lie in 0\.\."):
        make(parts=other(PARTS, 0, column, value))


def test_areas_that_are_not_in_the_buffer() -> None:
    with pytest.raises(ShapeError, match="parts: area: leads outside of 12"):
        make(parts=other(PARTS, 1, 3, 4))


def test_order_of_other_length() -> None:
    with pytest.raises(ShapeError, match="order: 11 rows, parts name others"):
        make(order=ORDER[:-1])


def test_faces_of_other_length() -> None:
    with pytest.raises(ShapeError, match="faces: 2 rows, parts name others"):
        make(faces=FACES[:-1])


@pytest.mark.parametrize("vertex", [-1, 1 << 30])
def test_vertices_of_the_primitive(vertex: int) -> None:
    with pytest.raises(ShapeError, match=r"order: must lie in 0\.\."):
        make(order=[vertex, *ORDER[1:]])


@pytest.mark.parametrize(
    ("row", "vertex"), [(0, -1), (0, 3), (1, 2), (1, 12), (2, 12), (2, 0)]
)
@pytest.mark.parametrize("column", range(3))
def test_faces_stay_in_the_area_of_their_part(
    row: int, vertex: int, column: int
) -> None:
    with pytest.raises(ShapeError, match="faces: a vertex ID is not of the face's"):
        make(faces=other(FACES, row, column, vertex))


@pytest.mark.parametrize(("row", "vertex"), [(0, 3), (1, 2), (2, 12), (2, 0)])
def test_faces_stay_in_the_ids_of_their_part(row: int, vertex: int) -> None:
    """With addresses IDs run on from part to part, wherever the areas are."""
    with pytest.raises(ShapeError, match="faces: a vertex ID is not of the face's"):
        with_ids(faces=other(FACES, row, 0, vertex))


@pytest.mark.parametrize("place", [-1, 12])
def test_addresses_that_are_not_in_the_buffer(place: int) -> None:
    with pytest.raises(ShapeError, match=r"addresses: must lie in 0\.\.11"):
        with_ids(addresses=[0, 1, place, *range(9)])


@pytest.mark.parametrize("column", range(5))
def test_numbers_of_morphs(column: int) -> None:
    with pytest.raises(ShapeError, match=r"morphs: must lie in 0\.\."):
        make(morphs=other(MORPHS, 0, column, -1))


@pytest.mark.parametrize(("column", "value"), [(2, 161), (3, 160)])
def test_morphs_of_numbers_that_are_not_there(column: int, value: int) -> None:
    with pytest.raises(ShapeError, match="morphs: data: leads outside of 256"):
        make(morphs=other(MORPHS, 1, column, value))


def test_morphs_by_numbers_that_are_not_there() -> None:
    with pytest.raises(ShapeError, match="morphs: deltas: leads outside of 106"):
        make(morphs=other(MORPHS, 1, 4, 11))


def test_arrays_become_read_only() -> None:
    envelope = with_ids()
    for name in ("steps", "table", "data", "parts", "order", "faces", "addresses"):
        assert not getattr(envelope, name).flags.writeable, name


def test_models_are_those_that_pull() -> None:
    """Numbers of commands are no models."""
    assert make(steps=other(STEPS, 5, 1, 1)).models.tolist() == [0, 4]
    assert make().models.dtype == np.uint32


def test_vertices_of_a_part() -> None:
    assert make().part_order(0).tolist() == [2, 0, 1]
    assert make().part_order(1).tolist() == list(range(9))


@pytest.mark.parametrize("envelope", [make(), with_ids()], ids=["places", "ids"])
def test_faces_of_a_part(envelope: Envelope) -> None:
    assert envelope.part_faces(0).tolist() == [[0, 1, 2]]
    assert envelope.part_faces(1).tolist() == [[0, 1, 2], [8, 1, 6]]


def test_counts_of_groups() -> None:
    counts = {"native": 10, "start": 2, "middle": 0, "end": 2}
    assert make().group_counts() == counts


def test_bytes() -> None:
    words = 7 * 5 + 1 + 256 + 2 * 6 + 12 + 3 * 3 + 2 * 5 + 106
    assert make().nbytes == 4 * words
    assert with_ids().nbytes == 4 * (words + 12)


@pytest.mark.parametrize("count", [1, 55, 60])
def test_morphs_of_parts_of_blocks(count: int) -> None:
    """Kernels add eight numbers at a time."""
    with pytest.raises(ShapeError, match="morphs: count must be a multiple of 8"):
        make(morphs=other(MORPHS, 0, 3, count))
