"""The lists of an envelope, to be read: the worked example, as data and as printed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.cli.tables.lists import print_lists, say_rows
from flexor.convert.envelope.build import Ids, build_envelope
from flexor.convert.envelope.lists import EnvelopeLists, list_envelope
from flexor.convert.envelope.make import convert_scene
from flexor.convert.envelope.plan import plan_envelope
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import GROUPS
from tests.convert.envelope.worked_example import (
    M1_VERTICES,
    M5_VERTICES,
    MODELS,
    NAMES,
    PARENTS,
    part_of,
    rows,
    vertices,
)
from tests.scenes import random_scene

LISTS = """
M1 native 0 V101 V107
M2 start  0 V102 V103 V104 V105 V108 V109 V110 V111 V112
M3 native 0 V106
M3 middle 0 V102 V103
M3 end    0 V104 V105 V108 V109 V110 V111 V112
M5 native 13 V501 V502 V503 V504 V505 V506
M4 native 0 V113
M4 end    0 V102 V103
"""


def example(ids: Ids = "places", more: int = 0) -> EnvelopeLists:
    """The worked example; more: vertices of a further model, which comes last."""
    parents, models = list(PARENTS), list(MODELS)
    if more:
        parents, models = [*parents, 0], [*models, "M6"]
    parts = [part_of("M1", M1_VERTICES, models), part_of("M5", M5_VERTICES, models)]
    if more:
        parts.append(part_of("M6", vertices("M6", more), models))
    envelope = build_envelope(parts, plan_envelope(parents, parts), ids=ids)
    return list_envelope(envelope, models)


def test_common_buffer() -> None:
    lists = example()
    assert [(a.owner, a.offset, len(a), a.counter) for a in lists.areas] == [
        ("M1", 0, 13, 24),
        ("M5", 13, 6, 6),
    ]
    expected = (
        "V101 V107 V106 V113 V102 V103 V104 V105 V108 V109 V110 V111 V112 "
        "V501 V502 V503 V504 V505 V506"
    )
    found = [
        NAMES[row][vertex]
        for row, area in enumerate(lists.areas)
        for vertex in area.vertices
    ]
    assert found == expected.split()
    assert [number for area in lists.areas for number in area.ids] == list(range(19))
    assert lists.peak == 19


def test_vertex_lists_and_weights() -> None:
    lists = example()
    found = [
        [visit.joint, c.group, str(c.offset), *(NAMES[c.area][v] for v in c.vertices)]
        for visit in lists.visits
        for c in visit.chunks
    ]
    assert found == rows(LISTS)
    for visit in lists.visits:
        for c in visit.chunks:
            assert c.continues == (c.group in ("start", "middle"))
            assert [lists.areas[c.area].vertices[e] for e in c.entries] == c.vertices
            wide = 6 if c.group == "native" else 7
            blocks = -(-len(c.vertices) // 8)
            assert c.bytes == blocks * wide * 32
    middle = next(c for c in lists.visits[2].chunks if c.group == "middle")
    assert middle.weights == pytest.approx([0.3, 0.3])
    assert lists.visits[0].chunks[0].weights == []


def test_commands_and_lives() -> None:
    lists = example()
    assert {visit.joint: visit.commands for visit in lists.visits} == {
        "M1": ["DRAWCP 0"],
        "M2": [],
        "M3": [],
        "M5": ["DRAW"],
        "M4": ["DRAWDP 0"],
    }
    assert [visit.polygons for visit in lists.visits] == [4, 0, 0, 2, 0]
    assert [lists.areas[area].owner for area in lists.not_drawn] == ["M1"]
    lives = [(area.allocated, area.released) for area in lists.areas]
    assert lives == [("M1", "M4"), ("M5", "M5")]


def test_an_area_after_the_others_takes_their_room() -> None:
    area = example(more=5).areas[2]
    assert (area.owner, area.offset, len(area)) == ("M6", 0, 5)
    assert (area.allocated, area.released) == ("M6", "M6")


def test_consistent_ids_are_said() -> None:
    lists = example("consistent", more=5)
    assert [area.ids[0] for area in lists.areas] == [0, 13, 19]


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_lists("example", example())
    areas, buffer, written, polygons, not_drawn = (
        [" ".join(line.split()) for line in text.splitlines()]
        for text in capsys.readouterr().out.strip().split("\n\n")
    )
    assert areas[0] == "example: areas of the common vertex buffer, peak 19"
    assert areas[2:] == ["0 M1 M1/0 0 13 24 M1 M4", "1 M5 M5/0 13 6 6 M5 M5"]
    assert buffer[2:] == [
        "0 vx0-vx1 native M1 0 6",
        "0 vx2 native M3 5",
        "0 vx3 native M4 12",
        "0 vx4-vx12 start M2 1-4 7-11",
        "1 vx13-vx18 native M5 0-5",
    ]
    assert written[2:6] == [
        "M1 native 0 0 2 192 0 1 0 6",
        "M2 start 0 0 9 448 4-12 1-4 7-11",
        "M3 native 0 0 1 192 2 5",
        "middle 0 0 2 224 4 5 1 2",
    ]
    assert polygons[2:] == [
        "M1 4 DRAWCP 0 0",
        "M2 0 - -",
        "M3 0 - -",
        "M5 2 DRAW 1",
        "M4 0 DRAWDP 0 0",
    ]
    assert not_drawn == ["non-drawing table", "id joint area", "0 M1 0"]


def replayed(lists: EnvelopeLists, envelope: Envelope) -> list[list[Any]]:
    """What the steps of an envelope say, from its lists: group, model, entry, count."""
    found: list[list[Any]] = []
    for visit in lists.visits:
        for chunk in visit.chunks:
            first = 0
            cuts = np.flatnonzero(np.diff(chunk.entries) != 1) + 1
            for end in [*cuts.tolist(), len(chunk.entries)]:
                entry = chunk.offset + chunk.entries[first]
                found.append([chunk.group, visit.joint, entry, end - first])
                first = end
        found += [[command] for command in visit.commands]
    return found


@pytest.mark.parametrize("kind", ["multi", "one"])
def test_lists_say_what_the_steps_do(rng: np.random.Generator, kind: str) -> None:
    scene = random_scene(rng, vertices=60)
    envelope: Envelope = getattr(convert_scene(scene)[0], kind)
    names = [f"node {row}" for row in range(len(scene.skeleton))]
    lists = list_envelope(envelope, names)
    expected: list[list[Any]] = []
    for op, row, entry, count, _ in envelope.steps.tolist():
        if op < len(GROUPS):
            expected.append([GROUPS[op], names[row], entry, count])
        else:
            word = ("DRAWCP", "DRAW", "DRAWDP")[op - len(GROUPS)]
            expected.append([word if word == "DRAW" else f"{word} {row}"])
    assert replayed(lists, envelope) == expected
    for area in lists.areas:
        stored = [
            entry
            for visit in lists.visits
            for chunk in visit.chunks
            if lists.areas[chunk.area] is area and chunk.group in ("native", "start")
            for entry in chunk.entries
        ]
        assert sorted(stored) == list(range(len(area)))


def test_nodes_of_one_name_are_told_apart(rng: np.random.Generator) -> None:
    scene = random_scene(rng)
    envelope = convert_scene(scene)[0].multi
    names = ["bone", "bone", "", *("x" * row for row in range(1, len(scene.skeleton)))]
    joints = {visit.joint for visit in list_envelope(envelope, names).visits}
    assert joints & {"bone (0)", "bone (1)", "node (2)"}
    assert "bone" not in joints


def test_rows_are_said_as_runs() -> None:
    assert say_rows([]) == ""
    assert say_rows([4]) == "4"
    assert say_rows([0, 6, 12, 13, 14, 15, 3, 4]) == "0 6 12-15 3 4"
    assert say_rows(list(range(0, 4000, 2)), 3) == "0 2 4 and 1,997 more"
