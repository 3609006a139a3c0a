"""Packages that are made on purpose: what a few bytes could make large, meshes on
skins, and envelopes.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.errors import AssetError
from flexor.files.package.format import checksum
from flexor.files.package.read import read_package
from flexor.files.package.write import write_package
from flexor.scene.runtime.layout import DRAW, DRAW_DEFERRED, END, NO_DRAW, START
from tests.files.package.forged import at, drop, put, refuse, set_array
from tests.files.package.packages import (
    forge,
    small_package,
    small_scene,
    unlike,
)

Change = Callable[[Any], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "hostile.flexor"
    write_package(small_package(), place)
    return place


NAN, INF = float("nan"), float("inf")


# What a few bytes could make large


def test_morph_targets_without_number(path: Path) -> None:
    def many(arrays: dict[str, Any]) -> None:
        arrays["morph_weights"] = np.zeros(1 << 16, np.float32)
        arrays["primitives"] = np.tile(arrays["primitives"][1:], (1000, 1))
        arrays["primitives"][:, 8] = 1 << 16
        arrays["attributes"] = np.zeros((1000, 3), np.int32)

    def one_mesh(scene: dict[str, Any]) -> None:
        scene["meshes"] = [{"primitives": 1000}]
        scene.pop("primitives")

    forge(path, arrays=many, scene=one_mesh)
    refuse(path, "needs more memory than")


def test_vertices_shared_beyond_all_measure(path: Path) -> None:
    def many(arrays: dict[str, Any]) -> None:
        arrays["positions"] = np.zeros((20_000, 3), np.float32)
        row = [20_000, 1, 4, -1, -1, 0, -1, 0, 0]
        arrays["primitives"] = np.tile(np.array(row, np.int32), (10_000, 1))
        arrays["attributes"] = np.zeros((10_000, 3), np.int32)

    def one_mesh(scene: dict[str, Any]) -> None:
        scene["meshes"] = [{"primitives": 10_000}]
        scene.pop("primitives")

    forge(path, arrays=many, scene=one_mesh)
    refuse(path, "needs more memory than")


def test_keys_shared_by_tracks_without_values(path: Path) -> None:
    def many(arrays: dict[str, Any]) -> None:
        arrays["times"] = np.arange(1000, dtype=np.float32)
        columns = np.array([[0], [9], [0], [999]], np.int32)
        arrays["tracks"] = np.tile(columns, (1, 5000)).ravel()
        del arrays["values"]

    forge(path, arrays=many, scene=at("clips", to=[{"name": "a", "tracks": 5000}]))
    refuse(path, "more keys than the file can justify")


def test_one_mesh_on_a_multitude_of_skins(path: Path) -> None:
    count, vertices = 20_000, 100_000

    def many(arrays: dict[str, Any]) -> None:
        for name, wide in (("translations", 3), ("rotations", 4), ("scales", 3)):
            arrays[name] = np.ones((count, wide), np.float32)
        nodes = np.zeros((4, count), np.int32)
        nodes[0] = -1
        nodes[3] = np.arange(count)
        arrays["nodes"] = nodes.ravel()
        arrays["skin_joints"] = np.zeros(count, np.int32)
        arrays["inverse_binds"] = np.zeros((count, 3, 4), np.float32)
        arrays["joints"] = np.array([0, 1] * vertices, np.uint16)
        arrays["weights"] = np.array([1, 0] * vertices, np.float32)
        arrays["positions"] = np.zeros((vertices, 3), np.float32)
        row = [vertices, 1, 4, -1, -1, 0, 2, 0, 0]
        arrays["primitives"] = np.array([row], np.int32)
        arrays["attributes"] = np.zeros((1, 3), np.int32)
        for name in ("morph_weights", "node_weights", "weight_nodes", "tracks"):
            del arrays[name]
        for name in ("times", "values", "envelopes"):
            del arrays[name]

    def plain(scene: dict[str, Any]) -> None:
        scene.clear()
        scene["names"] = [""] * count
        scene["meshes"] = [{"primitives": 1}]
        scene["skins"] = [{"joints": 1}] * count

    forge(path, arrays=many, scene=plain)
    start = time.perf_counter()
    assert len(read_package(path).scene.skins) == count  # joint 1 has no weight
    assert time.perf_counter() - start < 5


# Meshes on skins


def two_skins(sizes: list[int], skins: list[int]) -> dict[str, Change]:
    """The quad at nodes 0 and 1, on two skins of so many joints each."""

    def arrays(own: dict[str, Any]) -> None:
        own["nodes"][[6, 7]] = 0
        own["nodes"][[9, 10]] = skins
        own["skin_joints"] = np.zeros(sum(sizes), np.int32)
        own["inverse_binds"] = np.zeros((sum(sizes), 3, 4), np.float32)

    def scene(tree: dict[str, Any]) -> None:
        tree["skins"] = [{"joints": size} for size in sizes]

    return {"arrays": arrays, "scene": scene}


@pytest.mark.parametrize("skins", [[0, 1], [1, 0]])
@pytest.mark.parametrize("sizes", [[2, 1], [1, 2], [9, 1], [1, 9]])
def test_the_smallest_skin_of_a_mesh_decides(
    path: Path, sizes: list[int], skins: list[int]
) -> None:
    forge(path, **two_skins(sizes, skins))
    with pytest.raises(AssetError, match="mesh 0 hangs on missing joint 1"):
        _ = read_package(path).scene


@pytest.mark.parametrize("skins", [[0, 1], [1, 0]])
def test_a_mesh_on_two_skins_that_are_large_enough(
    path: Path, skins: list[int]
) -> None:
    forge(path, **two_skins([2, 9], skins))
    assert read_package(path).scene.node_skin.tolist() == [*skins, -1]


@pytest.mark.parametrize("more", [1, 2, 3])
def test_weights_that_no_primitive_has(path: Path, more: int) -> None:
    """Two of a vertex: they may be no whole number of rows. Only rows of primitives
    must sum to 1, unless all can be looked at in one go.
    """

    def longer(first: float, rest: float) -> Change:
        def change(arrays: dict[str, Any]) -> None:
            for name in ("joints", "weights"):
                tail = np.full(more, 0, arrays[name].dtype)
                arrays[name] = np.concatenate([arrays[name], tail])
            arrays["weights"][0] = first
            arrays["weights"][8:] = rest

        return change

    before = path.read_bytes()
    forge(path, arrays=longer(0.5, 0.5))
    with pytest.raises(AssetError, match=r"off a sum of 1 by 0\.5"):
        _ = read_package(path).scene
    path.write_bytes(before)
    forge(path, arrays=longer(1, 0.5))
    assert list(unlike(small_scene(), read_package(path).scene)) == []


# Envelopes


def empty(title: str, peak_at: int) -> Change:
    """Nothing at all, as it is written: no arrays, no places."""

    def change(arrays: dict[str, Any]) -> None:
        for name in [name for name in arrays if name.startswith(f"{title}.")]:
            del arrays[name]
        arrays["peaks"][peak_at] = 0

    return change


def steps(pick: Callable[[Any], Any]) -> Change:
    """Other steps for the envelope with all weights."""

    def change(arrays: dict[str, Any]) -> None:
        arrays["multi.steps"] = np.ascontiguousarray(pick(arrays["multi.steps"]))

    return change


def whole_plan_again(arrays: dict[str, Any]) -> None:
    """Right but for one thing: the same numbers are worked a thousand times, for a
    thousand parts each.
    """
    once, count = arrays["multi.steps"], 1000
    again, turn = np.tile(once, (count, 1)), np.arange(count).repeat(len(once))
    again[:, 1] += np.where(again[:, 0] == DRAW, 2 * turn, 0)
    again[:, 1] += np.where(np.isin(again[:, 0], [NO_DRAW, DRAW_DEFERRED]), turn, 0)
    arrays["multi.steps"] = again
    arrays["multi.table"] = np.arange(0, 2 * count, 2, dtype=np.int32)
    for name in ("parts", "faces"):
        arrays[f"multi.{name}"] = np.tile(arrays[f"multi.{name}"], (count, 1))
    arrays["multi.order"] = np.tile(arrays["multi.order"], count)


# Steps of the envelope with all weights: native of node 2, draw of part 1; native of
# node 0, start of node 0, no draw, native of node 1, end of node 1, draw by id.
WRONG_ENVELOPES: list[tuple[Change, str]] = [
    (put("peaks", 0, -2), "peak: -2 places"),
    (put("peaks", 0, -1), "peaks.*-1 for 'multi', which has arrays"),
    (put("peaks", 0, 1 << 29), "peak: 536870912 places for 7"),
    (put("peaks", 1, 73), "peak: 73 places for 7"),
    (drop("peaks"), "0 numbers, expected 2"),
    (set_array("peaks", np.zeros(3, np.int32)), "3 numbers, expected 2"),
    (set_array("peaks", np.zeros(2, np.int64)), "expected I32"),
    (put("multi.steps", (0, 0), 7), "steps: op"),
    (put("multi.steps", (0, 1), 3), "steps: model"),
    (put("multi.steps", (0, 1), -1), "steps: model"),
    (put("one.steps", (0, 2), 2), "steps: entry"),
    (put("one.steps", (0, 3), 9), "steps: entry"),
    (put("one.steps", (0, 4), 1), "steps: data: spans must follow each other"),
    (put("one.steps", (2, 4), 0), "steps: data: spans must follow each other"),
    (set_array("one.data", np.zeros(152, "f4")), "152 numbers, the spans have 144"),
    (put("multi.steps", (1, 1), 2), "steps: part"),
    (put("multi.steps", (4, 1), 1), "steps: id"),
    (put("multi.steps", (7, 1), 1), "steps: id"),
    (put("multi.table", 0, 2), "table"),
    (put("multi.table", 0, 1), "steps: 7 draws part 1 out of turn"),
    (put("multi.parts", (0, 0), 3), "parts: node"),
    (put("multi.parts", (0, 0), 0), "primitive 0 at node 0"),
    (put("multi.parts", (0, 1), 1), "primitive 1 at node 1"),
    (put("multi.parts", (0, 2), 3), "owner"),
    (put("multi.parts", (0, 3), 1), "area"),
    (put("multi.parts", (0, 4), 3), "order: 7 rows, parts name others"),
    (put("multi.parts", (0, 5), 3), "faces: 3 rows, parts name others"),
    (put("multi.order", 0, 4), "order: a vertex that node 1 does not have"),
    (put("multi.order", 0, -1), "order: must lie"),
    (put("multi.order", ..., 0), "order: vertices of primitive 0 at node 1 lack"),
    (put("one.order", 6, 0), "order: vertices of primitive 0 at node 2 lack"),
    (put("multi.faces", (0, 0), 4), "faces: a vertex ID"),
    (put("multi.faces", (0, 0), -1), "faces: a vertex ID"),
    (put("one.addresses", 0, 4), "addresses: a place is not of"),
    (put("one.addresses", 6, 3), "addresses: a place is not of"),
    (set_array("one.addresses", np.zeros(3, np.int32)), "addresses: shape"),
    (put("multi.morphs", (0, 0), 3), "morphs: node"),
    (put("multi.morphs", (0, 0), 0), "node 0 has no target"),
    (put("multi.morphs", (0, 1), 2), "node 1 has no target 2"),
    (put("multi.morphs", (0, 2), 209), "morphs: data"),
    (put("multi.morphs", (0, 4), 8), "morphs: deltas: spans must follow each other"),
    (put("multi.morphs", (0, 3), 40), "morphs: deltas: 48 numbers, the spans have 40"),
    (put("multi.data", 0, NAN), "finite"),
    (put("one.deltas", 0, INF), "finite"),
    (set_array("multi.steps", np.zeros((1, 4), np.int32)), "expected I32"),
    (set_array("multi.data", np.zeros(48, np.int32)), "expected F32"),
    (empty("multi", 0), "'multi': order: vertices of the scene lack"),
    (empty("one", 1), "'one': order: vertices of the scene lack"),
    (steps(lambda rows: rows[rows[:, 0] < DRAW]), "steps: 1 stores what is still"),
    (steps(lambda rows: rows[:-1]), "steps: part 0 is never drawn"),
    (steps(lambda rows: rows[[1, 0, *range(2, 8)]]), "0 draws part 1 out of turn"),
    (put("multi.steps", (3, 0), END), "steps: 3 adds to what was not stored"),
    (put("multi.steps", (6, 0), START), "steps: 6 stores what is still needed"),
    (put("multi.steps", (3, 2), 0), "steps: 3 stores what is still needed"),
    (steps(lambda rows: np.tile(rows, (1000, 1))), "spans must follow each other"),
    (whole_plan_again, "steps: data: spans must follow each other"),
]


@pytest.mark.parametrize(("change", "match"), WRONG_ENVELOPES)
def test_envelopes_that_are_wrong(path: Path, change: Change, match: str) -> None:
    forge(path, envelopes=change)
    package = read_package(path)  # they are not looked at yet
    with pytest.raises(AssetError, match=match):
        _ = package.envelopes
    with pytest.raises(AssetError, match=match):  # and not remembered as good
        _ = package.envelopes


def test_a_part_that_is_not_shown(path: Path) -> None:
    forge(path, scene=at("default_set", to=1))
    refuse(path, "primitive 0 at node 1")


def most_memory(path: Path, match: str) -> int:
    """Bytes that are needed at most until the envelopes are refused."""
    package = read_package(path)
    _ = package.scene
    tracemalloc.start()
    try:
        with pytest.raises(AssetError, match=match):
            _ = package.envelopes
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_peak_needs_no_memory_before_it_is_refused(path: Path) -> None:
    forge(path, envelopes=put("peaks", 0, (1 << 30) - 1))
    assert most_memory(path, "peak: 1073741823 places for 7") < 10_000_000


def test_nothing_for_one_mesh_at_a_multitude_of_nodes(path: Path) -> None:
    count, vertices = 2000, 100_000

    def many(arrays: dict[str, Any]) -> None:
        kept = "translations", "rotations", "scales", "nodes", "positions", "envelopes"
        for name in set(arrays) - set(kept):
            del arrays[name]
        for name in kept[:3]:
            arrays[name] = np.ones((count, arrays[name].shape[1]), np.float32)
        nodes = np.array([[-1], [0], [0], [-1]], np.int32)
        arrays["nodes"] = np.tile(nodes, count).ravel()
        arrays["positions"] = np.zeros((vertices, 3), np.float32)
        row = [vertices, 1, 4, -1, -1, 0, -1, 0, 0]
        arrays["primitives"] = np.array([row], np.int32)
        arrays["attributes"] = np.zeros((1, 3), np.int32)

    def plain(scene: dict[str, Any]) -> None:
        scene.clear()
        scene.update(names=[""] * count, meshes=[{"primitives": 1}])

    def nothing(arrays: dict[str, Any]) -> None:
        for name in set(arrays) - {"peaks"}:
            del arrays[name]
        arrays["peaks"][:] = 0

    forge(path, arrays=many, scene=plain, envelopes=nothing)
    assert most_memory(path, "order: vertices") < 10_000_000


@pytest.mark.parametrize(
    "data", [b"", bytes(64), b"\xff" * 64, b"\x02" + bytes(7) + b"{}" + bytes(54)]
)
def test_envelopes_that_are_no_container(path: Path, data: bytes) -> None:
    forge(path, arrays=set_array("envelopes", np.frombuffer(data, np.uint8)))
    refuse(path, "envelopes|header")


def test_a_name_twice_in_the_inner_container(path: Path) -> None:
    """It has no texts beside its arrays, unlike the outer one."""

    def rename(arrays: dict[str, Any]) -> None:
        data = arrays["envelopes"].tobytes()
        assert data.count(b'"multi.order"') == 1
        changed = data.replace(b'"multi.order"', b'"one.order"  ')
        arrays["envelopes"] = np.frombuffer(changed, np.uint8)

    forge(path, arrays=rename)
    assert list(unlike(small_scene(), read_package(path).scene)) == []
    refuse(path, "at envelopes: header: a name stands there twice")


def test_a_checksum_is_of_everything() -> None:
    assert checksum([b"ab", b"c"]) == checksum([b"abc"])
    assert len(checksum([])) == 16
