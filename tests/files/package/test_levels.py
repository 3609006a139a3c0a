"""Levels of detail in packages: they come back bit for bit, and lies are refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.errors import AssetError
from flexor.files.package import tensors
from flexor.files.package.levels import pack_levels
from flexor.files.package.read import read_package
from flexor.files.package.write import write_package
from flexor.scene.runtime.levels import Levels
from flexor.scene.runtime.node_table import NodeTable
from flexor.scene.runtime.package import Package
from tests.conftest import ROOT
from tests.files.package.packages import (
    forge,
    plain_package,
    small_levels,
    small_package,
    small_scene,
    unlike,
)

PACKAGES = ROOT / "tests" / "data" / "packages"
Change = Callable[[Any], None]


def package_with(levels: Levels) -> Package:
    first = small_package()
    return Package(first.scene, first.envelopes, levels)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "levels.flexor"
    write_package(package_with(small_levels()), place)
    return place


def test_they_come_back(path: Path) -> None:
    package = read_package(path)
    assert package.levels is not None
    assert list(unlike(small_levels(), package.levels)) == []
    assert package.levels is package.levels
    assert list(unlike(small_scene(), package.scene)) == []
    assert list(unlike(small_package().envelopes, package.envelopes)) == []


def test_the_same_levels_are_the_same_file(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.flexor"
    write_package(read_package(path), again)
    assert again.read_bytes() == path.read_bytes()


def test_no_surface_and_one_level(tmp_path: Path) -> None:
    none = np.zeros(0, np.int32)
    bare = Levels(
        NodeTable((), none, none.copy(), np.zeros(0, np.float32)),
        np.zeros((1, 0), bool),
        none.copy(),
        np.zeros((0, 3, 4), np.float32),
        np.zeros((1, 2), np.float32),
        0.0,
        (),
    )
    path = tmp_path / "bare.flexor"
    write_package(package_with(bare), path)
    found = read_package(path).levels
    assert found is not None
    assert list(unlike(bare, found)) == []


@pytest.mark.parametrize("seed", range(5))
def test_names_of_any_length_keep_arrays_in_place(seed: int, tmp_path: Path) -> None:
    """Texts of 64 bytes go where containers go: what follows stays aligned."""
    levels = small_levels()
    table = levels.table
    names = ("a" * (20 + seed), "b", "c" * (64 - 20 - seed - 1 - 12))
    table = NodeTable(names, table.nodes, table.parents, table.lengths)
    other = replace(levels, table=table)
    path = tmp_path / "names.flexor"
    write_package(package_with(other), path)
    found = read_package(path).levels
    assert found is not None
    assert list(unlike(other, found)) == []


def test_arrays_are_views_of_the_file(path: Path) -> None:
    levels = read_package(path).levels
    assert levels is not None
    quad = levels.surfaces[0]
    for array in (levels.binds, quad.sources, quad.faces[1], quad.weights[2]):
        assert not array.flags.owndata
        assert array.flags.aligned
        with pytest.raises(ValueError):
            array.flags.writeable = True


def test_all_fields_are_stored() -> None:
    """One that is added must be added here."""
    table = ["names", "nodes", "parents", "lengths"]
    own = ["table", "masks", "slots", "binds", "errors", "height", "surfaces"]
    surface = ["material", "sources", "counts", "faces", "joints", "weights", "shapes"]
    levels = small_levels()
    for value, names in (
        (levels.table, table),
        (levels, own),
        (levels.surfaces[0], surface),
    ):
        assert [field.name for field in fields(value)] == names


# Files without levels


@pytest.mark.parametrize(
    "file", sorted(PACKAGES.glob("*.flexor")), ids=lambda f: f.stem
)
def test_older_files_have_none(file: Path) -> None:
    package = read_package(file)
    assert package.levels is None
    assert len(package.scene.skeleton)


def test_a_package_without_levels_is_as_before(tmp_path: Path) -> None:
    path = tmp_path / "small.flexor"
    write_package(small_package(), path)
    assert "levels" not in tensors.open_tensors(path).entries
    assert path.read_bytes() == (PACKAGES / "v1.flexor").read_bytes()


def test_levels_need_no_new_version(path: Path) -> None:
    assert tensors.open_tensors(path).metadata["version"] == "1"


# Made and looked at on demand


def test_they_are_looked_at_when_asked_for(path: Path) -> None:
    forge(path, levels=put("binds", (0, 0, 0), NAN))
    package = read_package(path)
    assert package.envelopes.multi.peak == 4
    for _ in range(2):
        with pytest.raises(AssetError, match="binds: must be finite"):
            _ = package.levels


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    """Levels of another scene: what was written is read before it gets its name."""
    path = tmp_path / "old.flexor"
    write_package(small_package(), path)
    before = path.read_bytes()
    other = replace(small_scene(), default_set=1)  # nothing is shown
    wrong = Package(other, plain_package(other).envelopes, small_levels())
    with pytest.raises(AssetError, match=r"old.flexor at levels: cannot be written"):
        write_package(wrong, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["old.flexor"]


# Damaged and hostile


def test_damage_is_seen_at_once(path: Path) -> None:
    data = path.read_bytes()
    begin, end = tensors.open_tensors(path).span("levels")
    for at in (begin + 9, (begin + end) // 2, end - 1):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(AssetError, match="at checksum: wrong"):
            read_package(path)
    path.write_bytes(data[: (begin + end) // 2])
    with pytest.raises(AssetError):
        read_package(path)


def put(name: str, at: Any, value: Any) -> Change:
    """Change numbers of an array."""

    def change(arrays: dict[str, Any]) -> None:
        arrays[name][at] = value

    return change


def set_array(name: str, value: Any) -> Change:
    return lambda arrays: arrays.update({name: value})


def cut(name: str, last: int) -> Change:
    return lambda arrays: arrays.update({name: arrays[name][:last].copy()})


def drop(name: str) -> Change:
    def change(arrays: dict[str, Any]) -> None:
        del arrays[name]

    return change


def text(words: bytes) -> Change:
    return set_array("names", np.frombuffer(words, np.uint8))


def no_level(arrays: dict[str, Any]) -> None:
    for name in ("errors", "masks", "counts", "materials", "sources", "faces"):
        del arrays[name]
    for name in ("joints", "weights", "shapes", "shaped"):
        arrays.pop(name, None)


def without_surfaces(arrays: dict[str, Any]) -> None:
    for name in ("counts", "sources", "faces", "joints", "weights"):
        del arrays[name]


NAN, INF = float("nan"), float("inf")
FIRST = "levels: tensor "
# Rows of `counts`: vertices, faces, influences; three levels of the quad, then three
# of the triangle.
WRONG: list[tuple[Change, str]] = [
    (text(b""), "shape"),
    (text(b"{}"), f"{FIRST}'names'.*list of texts"),
    (text(b'["a",1,"b"]'), "list of texts"),
    (text(b'["a"]'), "shape"),
    (text(b'["a"'), "not JSON"),
    (text(b"\xff"), "not JSON"),
    (text(b"[" * 100_000), "not JSON"),
    (set_array("names", np.zeros(3, np.float32)), "expected U8"),
    (put("nodes", 0, -1), "nodes: must be rows of the skeleton"),
    (put("nodes", 0, 1), "each once"),
    (put("nodes", 0, 3), "node that is not in the table"),
    (put("parents", 0, 0), "parents: must come before"),
    (put("parents", 1, -2), "parents: must be -1"),
    (put("lengths", 1, NAN), "lengths: must be finite"),
    (put("lengths", 1, -1), "lengths: must be finite and not negative"),
    (cut("lengths", 2), "lengths: shape"),
    (put("masks", 4, 2), f"{FIRST}'masks'.* 0 or 1"),
    (put("shaped", 1, 2), f"{FIRST}'shaped'.* 0 or 1"),
    (put("shaped", 1, 0), f"{FIRST}'shapes'.*counts say 3"),
    (put("shaped", 0, 1), f"{FIRST}'shapes'.*counts say 10"),
    (cut("shaped", 4), f"{FIRST}'shaped'.* 0 or 1 for each of 6"),
    (put("shapes", (1, 2), NAN), "must be finite"),
    (cut("masks", 8), "3 levels of 3 nodes"),
    (put("masks", 0, 0), "masks: level 0 needs node 'root'"),
    (put("slots", 0, 5), "slots: a node that is not in the table"),
    (cut("slots", 2), "binds: shape"),
    (put("binds", (1, 2, 3), INF), "binds: must be finite"),
    (put("errors", (1, 0), NAN), "errors: must be finite"),
    (put("errors", (1, 0), -1), "errors: must be finite, not negative"),
    (put("errors", (0, 1), 1), "0 at level 0"),
    (cut("errors", 2), "2 levels of 3 nodes"),
    (cut("errors", 0), "0 levels of 3 nodes"),
    (no_level, "masks: at least one level"),
    (put("height", 0, NAN), "height: nan"),
    (put("height", 0, INF), "height: inf"),
    (put("height", 0, -1), "height: -1"),
    (drop("height"), f"{FIRST}'height'.*0 numbers, expected 1"),
    (put("materials", 0, 2), "material: 2 is not in the scene"),
    (put("materials", 0, -2), "material: -2 is not in the scene"),
    (cut("materials", 1), "6 rows for 1 surfaces of 3 levels"),
    (cut("counts", 5), "5 rows for 2 surfaces of 3 levels"),
    (without_surfaces, "0 rows for 2 surfaces"),
    (put("counts", (0, 0), -1), f"{FIRST}'counts'.*0 or above"),
    (put("counts", (0, 0), 3), "7 of them, counts say 6"),
    (put("counts", (0, 0), 2**31 - 1), "7 of them, counts say 21474836"),
    (put("counts", (0, 1), 2**31 - 1), "'faces'.*counts say 21474836"),
    (put("counts", (0, 2), 2**31 - 1), "'joints'.*counts say 8589934609"),
    (put("counts", (slice(3), 0), [4, 3, 4]), "'joints'"),
    (put("counts", (slice(None), slice(0, 3, 2)), [[0, 9]] * 6), "'sources'.*say 0"),
    (put("sources", (0, 0), -1), "sources: must be 0 or above"),
    (put("sources", (0, 0), 0), "no vertex 1 in primitive 0 at node 0"),
    (put("sources", (0, 1), 1), "no vertex 1 in primitive 1 at node 1"),
    (put("sources", (0, 2), 4), "no vertex 4 in primitive 0 at node 1"),
    (put("sources", (0, 0), 2**31 - 1), "no vertex 1 in primitive 0"),
    (cut("sources", 6), "6 of them, counts say 7"),
    (set_array("sources", np.zeros((7, 2), np.int32)), "expected I32"),
    (put("faces", (0, 0), 4), r"faces\[0\]: must lie in 0\.\.3"),
    (put("faces", (2, 0), 3), r"faces\[1\]: must lie in 0\.\.2"),
    (put("faces", (3, 0), -1), r"faces\[2\]: must lie in 0\.\.2"),
    (cut("faces", 5), "5 of them, counts say 6"),
    (put("joints", 0, 3), r"joints\[0\]: must lie in 0\.\.2"),
    (put("joints", 0, 65535), r"joints\[0\]: must lie in 0\.\.2"),
    (put("joints", 17, 1), "masks: level 2 needs node .tip"),
    (cut("joints", 4), "4 of them, counts say"),
    (cut("weights", 4), "'weights'.*4 of them, counts say"),
    (put("weights", 0, NAN), r"weights\[0\]: must be finite"),
    (put("weights", 0, -1), r"weights\[0\]: must be finite, not negative"),
    (put("weights", 0, 3e38), r"weights\[0\]: rows must sum to 1"),
    (put("weights", 0, 0), r"weights\[0\]: rows must sum to 1"),
]


@pytest.mark.parametrize(("change", "match"), WRONG)
def test_levels_that_are_wrong(path: Path, change: Change, match: str) -> None:
    forge(path, levels=change)
    package = read_package(path)
    with pytest.raises(AssetError, match=match) as caught:
        _ = package.levels
    assert caught.value.path == path
    assert caught.value.pointer.startswith("levels")
    assert len(str(caught.value)) < 600


def test_a_forger_that_changes_nothing_is_not_noticed(path: Path) -> None:
    before = path.read_bytes()
    forge(path, levels=lambda arrays: None)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "data", [b"", b"x", b"\xff" * 64, (2).to_bytes(8, "little") + b"[]", b"\0" * 128]
)
def test_no_container(path: Path, data: bytes) -> None:
    made = np.frombuffer(data, np.uint8)
    forge(path, arrays=lambda arrays: arrays.update(levels=made))
    package = read_package(path)
    with pytest.raises(AssetError):
        _ = package.levels


def test_a_container_cut_short(path: Path) -> None:
    whole = pack_levels(small_levels())
    for size in (8, 64, len(whole) // 2 // 64 * 64, len(whole) - 64):
        short = whole[:size].copy()
        forge(path, arrays=lambda arrays, short=short: arrays.update(levels=short))
        with pytest.raises(AssetError):
            _ = read_package(path).levels


@pytest.mark.parametrize("seed", range(4))
def test_what_is_taken_passes_all_checks(path: Path, seed: int) -> None:
    """Numbers changed by chance: refused, or right as the constructors see it."""
    chance = random.Random(seed)
    good = path.read_bytes()
    odd = (0, 1, 2, 3, 4, 7, -1, -2, 100, (1 << 31) - 1, -(1 << 31))

    def numbers(arrays: dict[str, Any]) -> None:
        array = arrays[chance.choice(list(arrays))].reshape(-1)
        with np.errstate(all="ignore"):
            value = np.array([chance.choice(odd)]).astype(array.dtype)
        array[chance.randrange(len(array))] = value[0]

    taken = 0
    for _ in range(40):
        path.write_bytes(good)
        forge(path, levels=numbers)
        try:
            levels = read_package(path).levels
        except AssetError:
            continue
        assert levels is not None
        taken += 1
        again = replace(levels, surfaces=tuple(replace(one) for one in levels.surfaces))
        assert list(unlike(levels, again)) == []
    assert 0 < taken < 40
