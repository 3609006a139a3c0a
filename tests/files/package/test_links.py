"""Links in packages: there and back, and links that someone made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.errors import AssetError
from flexor.files.package import tensors
from flexor.files.package.read import read_package
from flexor.files.package.write import write_package
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.scene import Scene
from tests.conftest import ROOT
from tests.files.package.packages import forge, plain_package, small_scene, unlike

KEPT = ROOT / "tests" / "data" / "packages" / "v3.flexor"
LINKS = {3: Link(1, 0.25), 2: Link(1, 1 / 3), 5: Link(0, 1 - 1e-12)}


def linked_scene() -> Scene:
    """Two roots, one with four children."""
    parents = np.array([-1, 0, 0, 0, 0, -1])
    skeleton = Skeleton(
        tuple("abcdef"),
        parents,
        np.zeros((6, 3)),
        np.tile([0.0, 0, 0, 1], (6, 1)),
        np.ones((6, 3)),
        links=LINKS,
    )
    none = np.full(6, -1)
    return Scene(skeleton, none, none.copy())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "linked.flexor"
    write_package(plain_package(linked_scene()), place)
    return place


def test_links_come_back(path: Path) -> None:
    scene = read_package(path).scene
    assert list(unlike(linked_scene(), scene)) == []
    assert dict(scene.skeleton.links) == LINKS
    with pytest.raises(TypeError):
        scene.skeleton.links[1] = Link(4, 0.5)  # type: ignore[index]


def twisted_scene() -> Scene:
    """The same with two twist links."""
    scene = linked_scene()
    links = {**LINKS, 2: Link(1, 0.0, (0, 0.6, 0.8)), 4: Link(1, 0.5, (0, 0, -1))}
    return replace(scene, skeleton=replace(scene.skeleton, links=links))


def test_twist_links_come_back(tmp_path: Path) -> None:
    """In a version that older releases refuse: they would take them for others."""
    place = tmp_path / "twisted.flexor"
    write_package(plain_package(twisted_scene()), place)
    scene = read_package(place).scene
    assert list(unlike(twisted_scene(), scene)) == []
    assert dict(scene.skeleton.links) == dict(twisted_scene().skeleton.links)
    assert tensors.open_tensors(place).metadata["version"] == "3"


def test_a_swing_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    scene = twisted_scene()
    links = {**scene.skeleton.links, 5: Link(0, 0.25, (0, 1, 0), is_swing=True)}
    scene = replace(scene, skeleton=replace(scene.skeleton, links=links))
    place = tmp_path / "swung.flexor"
    write_package(plain_package(scene), place)
    for rows, words in (([5, 5], "twice"), ([1], "no link")):
        wrong = np.array(rows, np.int32)
        forge(
            place, arrays=lambda arrays, wrong=wrong: arrays.update(link_swings=wrong)
        )  # type: ignore[misc]
        with pytest.raises(AssetError, match=words):
            _ = read_package(place).scene


def test_a_file_that_was_kept(tmp_path: Path) -> None:
    """Version 3, as it was first written: still the same bytes, still read."""
    place = tmp_path / "twisted.flexor"
    write_package(plain_package(twisted_scene()), place)
    assert place.read_bytes() == KEPT.read_bytes()
    assert list(unlike(twisted_scene(), read_package(KEPT).scene)) == []


def test_without_twist_links_older_releases_read_it(path: Path) -> None:
    file = tensors.open_tensors(path)
    assert file.metadata["version"] == "1"
    assert "link_axes" not in file.entries


def test_swing_links_come_back(tmp_path: Path) -> None:
    scene = twisted_scene()
    links = {**scene.skeleton.links, 5: Link(0, 0.25, (0, 1, 0), is_swing=True)}
    scene = replace(scene, skeleton=replace(scene.skeleton, links=links))
    place = tmp_path / "swung.flexor"
    write_package(plain_package(scene), place)
    assert dict(read_package(place).scene.skeleton.links) == links
    assert tensors.open_tensors(place).metadata["version"] == "3"


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ([[0, 0, 1]], "1 for 3 links"),
        ([[0, 0, 1]] * 4, "4 for 3 links"),
        ([[0, 0, 2]] * 3, "of length 1"),
        ([[0, 0, float("nan")]] * 3, "of length 1"),
    ],
)
def test_hostile_axes(path: Path, axes: Any, words: str) -> None:
    wrong = np.array(axes, np.float64)
    forge(path, arrays=lambda arrays: arrays.update({"link_axes": wrong}))
    with pytest.raises(AssetError, match=words):
        _ = read_package(path).scene


def test_without_links_nothing_is_written(tmp_path: Path) -> None:
    """Then the file is the same as before there were links."""
    write_package(plain_package(small_scene()), tmp_path / "a.flexor")
    names = tensors.open_tensors(tmp_path / "a.flexor").entries
    assert not {"links", "link_fractions"} & set(names)


def test_they_are_arrays_that_others_pass_over(path: Path) -> None:
    """A reader that does not know them finds the same nodes, and no links."""

    def rename(arrays: dict[str, Any]) -> None:
        for name in ("links", "link_fractions"):
            arrays[f"unknown_{name}"] = arrays.pop(name)

    forge(path, arrays=rename)
    plain = linked_scene()
    plain = replace(plain, skeleton=replace(plain.skeleton, links={}))
    assert list(unlike(plain, read_package(path).scene)) == []


@pytest.mark.parametrize(
    ("rows", "fractions", "words"),
    [
        ([[3, 1], [2, 1]], [0.5], "1 for 2 links"),
        ([], [0.5], "1 for 0 links"),
        ([[3, 1], [3, 1]], [0.5, 0.25], "twice"),
        ([[6, 1]], [0.5], "no such node"),
        ([[-1, 1]], [0.5], "no such node"),
        ([[3, 6]], [0.5], "must lie in 0..5"),
        ([[3, -1]], [0.5], "must lie in 0..5"),
        ([[3, -(2**31)]], [0.5], "must lie in 0..5"),
        ([[3, 3]], [0.5], "cannot follow itself"),
        ([[3, 0]], [0.5], "another parent"),
        ([[3, 1], [2, 3]], [0.5, 0.5], "a link itself"),
        ([[3, 1]], [0.0], "must be more than 0"),
        ([[3, 1]], [1.0], "less than 1"),
        ([[3, 1]], [float("nan")], "must be more than 0"),
        ([[3, 1]], [float("inf")], "less than 1"),
    ],
)
def test_hostile_links(path: Path, rows: Any, fractions: Any, words: str) -> None:
    def change(arrays: dict[str, Any]) -> None:
        arrays["links"] = np.array(rows, np.int32).reshape(-1, 2)
        arrays["link_fractions"] = np.array(fractions, np.float64)

    forge(path, arrays=change)
    with pytest.raises(AssetError, match=words) as caught:
        _ = read_package(path).scene
    assert caught.value.path == path
    assert "link" in caught.value.pointer


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("links", np.zeros((3, 3), np.int32)),
        ("links", np.zeros((3, 2), np.int64)),
        ("link_fractions", np.full(3, 0.5, np.float32)),
        ("link_fractions", np.full((3, 1), 0.5)),
        ("link_axes", np.zeros((3, 3), np.float32)),
        ("link_axes", np.zeros(9)),
    ],
)
def test_arrays_of_another_kind(path: Path, name: str, value: Any) -> None:
    forge(path, arrays=lambda arrays: arrays.update({name: value}))
    with pytest.raises(AssetError, match="expected"):
        _ = read_package(path).scene
