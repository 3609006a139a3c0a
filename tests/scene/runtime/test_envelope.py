"""Envelopes as data: each refusal, and what can be asked of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import (
    DRAW,
    DRAW_DEFERRED,
    END,
    MIDDLE,
    NATIVE,
    NO_DRAW,
    START,
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
MORPHS = [[7, 0, 48, 56, 0], [7, 1, 104, 96, 56]]
# The same if part 1 has the places 0 to 8: it is drawn before part 0 is begun.
SHARED_STEPS = [
    [NATIVE, 4, 0, 9, 0],
    [DRAW, 1, 0, 0, 0],
    [NATIVE, 0, 0, 1, 96],
    [START, 0, 1, 2, 144],
    [NO_DRAW, 0, 0, 0, 0],
    [END, 4, 1, 2, 200],
    [DRAW_DEFERRED, 0, 0, 0, 0],
]


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
            "deltas": np.zeros(152),
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
    own = {
        "steps": SHARED_STEPS,
        "parts": other(PARTS, 1, 3, 0),
        "addresses": [0, 1, 2, *range(9)],
    }
    return make(**{**own, **changes})


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
        ({"deltas": np.zeros((1, 152))}, "deltas: shape"),
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


@pytest.mark.parametrize(
    ("row", "at"), [(0, -1), (0, 8), (1, 0), (1, 47), (3, 48), (3, 112), (4, 201)]
)
def test_numbers_of_steps_follow_each_other(row: int, at: int) -> None:
    """None are used twice, none are left out."""
    with pytest.raises(ShapeError, match="steps: data: spans must follow each other"):
        make(steps=other(STEPS, row, 4, at))


@pytest.mark.parametrize("size", [0, 255, 257])
def test_steps_use_all_numbers(size: int) -> None:
    """Blocks have six times eight numbers, seven with weights; nine need two."""
    text = f"steps: data: {size} numbers, the spans have 256"
    with pytest.raises(ShapeError, match=text):
        make(data=np.zeros(size))


def test_numbers_of_a_step_that_is_done_again() -> None:
    """Each has new places and a part to draw, but not numbers of its own."""
    steps = [[NATIVE, 4, 0, 8, 0], [DRAW, 0, 0, 0, 0]]
    steps += [[NATIVE, 4, 0, 8, 0], [DRAW, 1, 0, 0, 0]]
    own = {
        "parts": [[7, 0, 4, 0, 8, 0], [7, 1, 4, 0, 8, 0]],
        "order": [*range(8), *range(8)],
        "faces": np.zeros((0, 3)),
        "table": [],
        "morphs": np.zeros((0, 5)),
        "deltas": [],
    }
    assert make(steps=other(steps, 2, 4, 48), data=np.zeros(96), **own).peak == 12
    with pytest.raises(ShapeError, match="steps: data: spans must follow each other"):
        make(steps=steps, data=np.zeros(48), **own)


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


@pytest.mark.parametrize(
    ("vertex", "place"), [(0, -1), (0, 3), (2, 11), (3, 2), (3, 12), (11, 0)]
)
def test_addresses_stay_in_the_area_of_their_part(vertex: int, place: int) -> None:
    addresses = list(range(12))
    make(addresses=addresses)
    addresses[vertex] = place
    with pytest.raises(ShapeError, match="addresses: a place is not of the vertex's"):
        make(addresses=addresses)


@pytest.mark.parametrize(("vertex", "place"), [(0, 3), (3, 9), (11, -1)])
def test_addresses_stay_in_an_area_that_is_used_again(vertex: int, place: int) -> None:
    addresses = [0, 1, 2, *range(9)]
    addresses[vertex] = place
    with pytest.raises(ShapeError, match="addresses: a place is not of the vertex's"):
        with_ids(addresses=addresses)


# The plan


def picked(*rows: int) -> Any:
    """The steps in another order, or some of them."""
    return np.array(STEPS)[list(rows)]


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        (other(STEPS, 1, 2, 0), 1),
        (other(STEPS, 3, 2, 2), 3),
        (other(STEPS, 4, 0, START), 4),
    ],
    ids=["start on native", "native on start", "end made start"],
)
def test_places_are_stored_where_nothing_is_alive(steps: Any, number: int) -> None:
    with pytest.raises(ShapeError, match=f"steps: {number} stores what is still need"):
        make(steps=steps)


def test_places_are_stored_again_once_their_part_is_drawn() -> None:
    late = np.array(SHARED_STEPS)[[0, 2, 3, 4, 5, 1, 6]]
    with pytest.raises(ShapeError, match="steps: 1 stores what is still needed"):
        with_ids(steps=late)


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        (other(STEPS, 1, 0, END), 1),
        (other(STEPS, 1, 0, MIDDLE), 1),
        (other(STEPS, 4, 2, 11), 4),
        (picked(0, 1, 2, 3, 6, 4, 5), 5),
    ],
    ids=["start made end", "start made middle", "half beyond", "drawn before"],
)
def test_places_are_added_to_once_they_are_stored(steps: Any, number: int) -> None:
    with pytest.raises(ShapeError, match=f"steps: {number} adds to what was not"):
        make(steps=steps, peak=13)


@pytest.mark.parametrize(
    ("steps", "number", "part"),
    [
        (picked(5, 0, 1, 2, 3, 4, 6), 0, 1),
        (picked(0, 1, 2, 5, 3, 4, 6), 3, 1),
        (picked(0, 6, 1, 2, 3, 4, 5), 1, 0),
        (picked(0, 1, 2, 3, 4, 5, 6, 5), 7, 1),
        (picked(0, 1, 2, 3, 4, 5, 6, 6), 7, 0),
        (other(STEPS, 5, 1, 0), 6, 0),
    ],
    ids=["first", "nothing there", "one of three there", "twice", "by id", "both"],
)
def test_parts_are_drawn_once_they_are_there(
    steps: Any, number: int, part: int
) -> None:
    text = f"steps: {number} draws part {part} out of turn"
    with pytest.raises(ShapeError, match=text):
        make(steps=steps)


def test_a_part_of_nothing_is_drawn_once() -> None:
    parts = [*PARTS, [7, 2, 4, 0, 0, 0]]
    assert len(make(parts=parts, steps=[*STEPS, [DRAW, 2, 0, 0, 0]]).parts) == 3
    with pytest.raises(ShapeError, match="steps: 8 draws part 2 out of turn"):
        make(parts=parts, steps=[*STEPS, *[[DRAW, 2, 0, 0, 0]] * 2])
    with pytest.raises(ShapeError, match="steps: part 2 is never drawn"):
        make(parts=parts)


def test_a_part_that_is_stored_and_drawn_again() -> None:
    again = [[NATIVE, 4, 3, 9, 256], [DRAW, 1, 0, 0, 0]]
    with pytest.raises(ShapeError, match="steps: 8 draws part 1 out of turn"):
        make(steps=[*STEPS, *again], data=np.zeros(352))


@pytest.mark.parametrize(
    ("steps", "part"),
    [
        (picked(0, 1, 2, 3, 4, 6), 1),
        (picked(0, 1, 2, 3, 4, 5), 0),
        (picked(0, 1, 2, 3, 4), 0),
        (other(STEPS, 6, 0, NO_DRAW), 0),
    ],
    ids=["not part 1", "not part 0", "neither", "only ever put off"],
)
def test_every_part_is_drawn(steps: Any, part: int) -> None:
    with pytest.raises(ShapeError, match=f"steps: part {part} is never drawn"):
        make(steps=steps)


def test_ids_of_parts_are_looked_up() -> None:
    by_id = other(other(STEPS, 2, 1, 1), 6, 1, 1)
    assert make(steps=by_id, table=[1, 0]).table.tolist() == [1, 0]
    with pytest.raises(ShapeError, match="steps: 6 draws part 1 out of turn"):
        make(steps=by_id, table=[0, 1])


def test_a_drawn_part_leaves_others_alone() -> None:
    """Part 0 has vertices in the buffer that are not finished when part 1 is drawn."""
    assert len(make(steps=picked(0, 1, 2, 3, 5, 4, 6)).steps) == 7


# Morphs


@pytest.mark.parametrize("column", range(5))
def test_numbers_of_morphs(column: int) -> None:
    with pytest.raises(ShapeError, match=r"morphs: must lie in 0\.\."):
        make(morphs=other(MORPHS, 0, column, -1))


@pytest.mark.parametrize(("column", "value"), [(2, 161), (3, 160)])
def test_morphs_of_numbers_that_are_not_there(column: int, value: int) -> None:
    with pytest.raises(ShapeError, match="morphs: data: leads outside of 256"):
        make(morphs=other(MORPHS, 1, column, value))


@pytest.mark.parametrize(("row", "at"), [(0, 8), (1, 0), (1, 48), (1, 64), (1, 57)])
def test_numbers_of_morphs_follow_each_other(row: int, at: int) -> None:
    with pytest.raises(ShapeError, match="morphs: deltas: spans must follow each oth"):
        make(morphs=other(MORPHS, row, 4, at))


@pytest.mark.parametrize("size", [0, 151, 153])
def test_morphs_use_all_numbers(size: int) -> None:
    text = f"morphs: deltas: {size} numbers, the spans have 152"
    with pytest.raises(ShapeError, match=text):
        make(deltas=np.zeros(size))


def test_several_morphs_of_the_same_vertices() -> None:
    """Data may be moved more than once; what moves them is not shared."""
    assert len(make(morphs=other(other(MORPHS, 1, 2, 48), 1, 1, 1)).morphs) == 2


@pytest.mark.parametrize("count", [1, 55, 60])
def test_morphs_of_parts_of_blocks(count: int) -> None:
    """Kernels add eight numbers at a time."""
    with pytest.raises(ShapeError, match="morphs: count must be a multiple of 8"):
        make(morphs=other(MORPHS, 0, 3, count))


# What can be asked


def test_arrays_become_read_only() -> None:
    envelope = with_ids()
    for name in ("steps", "table", "data", "parts", "order", "faces", "addresses"):
        assert not getattr(envelope, name).flags.writeable, name


def test_models_are_those_that_pull() -> None:
    """Numbers of commands are no models."""
    assert make().models.tolist() == [0, 4]
    assert make().models.dtype == np.uint32


def test_vertices_of_a_part() -> None:
    assert make().part_order(0).tolist() == [2, 0, 1]
    assert make().part_order(1).tolist() == list(range(9))


@pytest.mark.parametrize("envelope", [make(), with_ids()], ids=["places", "ids"])
def test_faces_of_a_part(envelope: Envelope) -> None:
    assert envelope.part_faces(0).tolist() == [[0, 1, 2]]
    assert envelope.part_faces(1).tolist() == [[0, 1, 2], [8, 1, 6]]


def test_faces_of_a_part_go_through_the_addresses() -> None:
    mixed = with_ids(addresses=[2, 0, 1, *reversed(range(9))])
    assert mixed.part_faces(0).tolist() == [[2, 0, 1]]
    assert mixed.part_faces(1).tolist() == [[8, 7, 6], [0, 7, 2]]
    apart = make(addresses=[2, 0, 1, *reversed(range(3, 12))])
    assert apart.part_faces(0).tolist() == [[2, 0, 1]]
    assert apart.part_faces(1).tolist() == [[8, 7, 6], [0, 7, 2]]


def test_counts_of_groups() -> None:
    counts = {"native": 10, "start": 2, "middle": 0, "end": 2}
    assert make().group_counts() == counts


def test_bytes() -> None:
    words = 7 * 5 + 1 + 256 + 2 * 6 + 12 + 3 * 3 + 2 * 5 + 152
    assert make().nbytes == 4 * words
    assert with_ids().nbytes == 4 * (words + 12)


def test_places_for_nothing() -> None:
    """Each vertex may have a block to itself, and each part one more."""
    with pytest.raises(ShapeError, match="peak: 1000000 places for 12"):
        make(peak=1_000_000)


def test_blocks_are_filled_up_with_zeros() -> None:
    """They are added whole: what stands there would move the vertices of others."""
    envelope = make()
    is_open = (envelope.steps[:, 0] < 4) & (envelope.steps[:, 3] % 8 > 0)
    for op, _, _, count, at in envelope.steps[is_open].tolist():
        width = 6 if op == 0 else 7
        for row in range(width):
            last = at + count // 8 * 8 * width + 8 * row
            for lane in range(8):
                data = np.array(envelope.data)
                data[last + lane] = 1
                if lane < count % 8:
                    make(data=data)
                    continue
                with pytest.raises(ShapeError, match="filled up with zeros"):
                    make(data=data)
