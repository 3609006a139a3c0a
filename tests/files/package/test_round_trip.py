"""Packages: what is written is read, bit for bit, and nothing else is."""

from __future__ import annotations

import copy
import gc
import pickle
import random
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy

import flexor
from flexor.errors import AssetError, VersionError
from flexor.files.gltf.read import read_gltf
from flexor.files.gltf.write import write_gltf
from flexor.files.package import envelopes as package_envelopes
from flexor.files.package import tensors
from flexor.files.package.read import read_package
from flexor.files.package.write import write_package
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.material import Material
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.package import Package
from flexor.scene.scene import Scene
from tests.conftest import ROOT, asset_files
from tests.files.package.packages import (
    forge,
    plain_package,
    small_package,
    small_scene,
    unlike,
)
from tests.scenes import random_scene

PACKAGES = ROOT / "tests" / "data" / "packages"


def written(scene: Scene, folder: Path) -> Package:
    path = folder / "scene.flexor"
    write_package(plain_package(scene), path)
    return read_package(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "small.flexor"
    write_package(small_package(), place)
    return place


def test_everything_comes_back(path: Path) -> None:
    package, first = read_package(path), small_package()
    assert list(unlike(first.scene, package.scene)) == []
    assert list(unlike(first.envelopes, package.envelopes)) == []


@pytest.mark.skipif(not asset_files(), reason="no assets: set FLEXOR_ASSETS")
@pytest.mark.parametrize("file", asset_files(), ids=lambda file: file.stem)
def test_characters_come_back(file: Path, tmp_path: Path) -> None:
    scene = read_gltf(file)
    assert list(unlike(scene, written(scene, tmp_path).scene)) == []


def test_the_mannequin_comes_back(tmp_path: Path) -> None:
    scene = flexor.samples.mannequin().scene
    assert list(unlike(scene, written(scene, tmp_path).scene)) == []


@pytest.mark.parametrize("seed", range(10))
def test_random_scenes_come_back(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, nodes=5 + seed, influences=1 + seed, targets=1 + seed % 3)
    assert list(unlike(scene, written(scene, tmp_path).scene)) == []


@pytest.mark.parametrize("count", [0, 1])
def test_a_scene_of_nothing(count: int, tmp_path: Path) -> None:
    none = np.full(count, -1)
    parts = np.zeros((count, 3)), np.zeros((count, 4)), np.zeros((count, 3))
    scene = Scene(Skeleton(("",) * count, none, *parts), none.copy(), none.copy())
    assert list(unlike(scene, written(scene, tmp_path).scene)) == []


def test_odd_but_right_meshes_come_back(tmp_path: Path) -> None:
    empty = Primitive(np.zeros((0, 3)), indices=np.zeros(0, np.uint32))
    meshes = Mesh("none", ()), Mesh("empty", (empty, empty)), Mesh("again", (empty,))
    scene = replace(small_scene(), meshes=(*small_scene().meshes, *meshes))
    assert list(unlike(scene, written(scene, tmp_path).scene)) == []


def test_the_file_of_version_1_is_still_read() -> None:
    package, first = read_package(PACKAGES / "v1.flexor"), small_package()
    assert list(unlike(first.scene, package.scene)) == []
    assert list(unlike(first.envelopes, package.envelopes)) == []
    assert package.scene.skeleton.names == ("root", "tip", "root")
    assert package.scene.clips["walk"].duration == 2
    skin = package.scene.meshes[0].primitives[0].skin
    assert skin is not None
    assert skin.weights[2].tolist() == [0.25, 0.75]
    assert package.scene.images[0].data[:4] == b"\x89PNG"


def test_the_same_package_is_the_same_file(path: Path) -> None:
    assert path.read_bytes() == (PACKAGES / "v1.flexor").read_bytes()
    assert path.stat().st_size < 30_000


# As a container


def test_the_library_of_the_format_reads_it(path: Path) -> None:
    arrays = safetensors.numpy.load_file(path)
    file = tensors.open_tensors(path)
    assert set(arrays) == set(file.entries)
    for name, array in arrays.items():
        own = file.any_array(name)
        assert own.dtype == array.dtype
        assert np.array_equal(own, array), name
    with safetensors.safe_open(path, "numpy") as opened:
        assert opened.metadata() == file.metadata
    inner = safetensors.numpy.load(arrays["envelopes"].tobytes())
    envelope = small_package().envelopes.multi
    assert np.array_equal(inner["multi.steps"], envelope.steps)
    assert np.array_equal(inner["multi.data"], envelope.data)


def test_arrays_are_views_that_cannot_be_written(path: Path) -> None:
    package = read_package(path)
    primitive = package.scene.meshes[0].primitives[0]
    assert primitive.skin is not None
    arrays = [
        package.scene.skeleton.translations,
        primitive.positions,
        primitive.skin.weights,
        package.scene.clips["walk"].tracks[1].values,
        package.envelopes.multi.data,
        primitive.custom["_X"],
    ]
    for array in arrays:
        assert array.flags.c_contiguous
        assert array.flags.aligned
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError):
            array.flags.writeable = True
    file = tensors.open_tensors(path)
    assert file.data_at % 64 == 0
    assert file.any_array("positions").base is not None


def test_arrays_outlive_the_file(path: Path) -> None:
    positions = read_package(path).scene.meshes[0].primitives[0].positions
    expected = positions.copy()
    write_package(plain_package(small_scene()), path)
    path.unlink()
    assert np.array_equal(positions, expected)


def test_shared_arrays_are_stored_once(tmp_path: Path) -> None:
    points = np.zeros((50_000, 3), np.float32)
    parts = [Primitive(points, indices=np.array([n, 1, 2])) for n in range(5)]
    rest = np.zeros((1, 3)), np.array([[0, 0, 0, 1]]), np.ones((1, 3))
    scene = Scene(
        Skeleton(("a",), np.array([-1]), *rest),
        np.array([0]),
        np.array([-1]),
        (Mesh("m", tuple(parts)),),
    )
    assert list(unlike(scene, written(scene, tmp_path).scene)) == []
    file = tensors.open_tensors(tmp_path / "scene.flexor")
    begin, end = file.span("envelopes")
    assert file.end - (end - begin) < 1.1 * points.nbytes


def test_what_is_not_known_is_ignored(path: Path) -> None:
    forge(
        path,
        texts=lambda texts: texts.update(later="more"),
        scene=lambda scene: scene["materials"][0].update(sheen=[1, 2]),
        arrays=lambda arrays: arrays.update({"levels.0": np.full(3, np.nan)}),
        envelopes=lambda arrays: arrays.update(more=np.zeros(2, np.float32)),
    )
    package = read_package(path)
    assert list(unlike(small_scene(), package.scene)) == []
    assert list(unlike(small_package().envelopes, package.envelopes)) == []


def test_fields_of_envelopes_are_all_stored() -> None:
    names = [field.name for field in fields(Envelope) if field.init]
    assert [*package_envelopes.ARRAYS, "peak"] == names


# What is made on demand


def test_clips_are_made_when_asked_for(path: Path) -> None:
    clips = read_package(path).scene.clips
    assert isinstance(clips, Mapping)
    assert not isinstance(clips, dict)
    assert list(clips) == ["walk", "stand"]
    assert len(clips) == 2
    assert "walk" in clips
    assert "run" not in clips
    assert clips._made == {}  # type: ignore[attr-defined]
    walk = clips["walk"]
    assert clips["walk"] is walk
    assert clips == dict(clips)
    assert dict(clips) == {"walk": walk, "stand": clips["stand"]}
    assert clips["stand"].name == "still"
    assert clips.get("run") is None
    assert "walk" in repr(clips)
    with pytest.raises(KeyError):
        clips["run"]
    one, two, _ = walk.tracks
    assert one.times is two.times
    again = pickle.loads(pickle.dumps(clips))
    assert list(unlike(dict(clips), again)) == []


def test_a_scene_of_a_package_is_a_scene_like_any_other(path: Path) -> None:
    scene, first = read_package(path).scene, small_scene()
    assert list(unlike(first, pickle.loads(pickle.dumps(scene)))) == []
    assert list(unlike(first, copy.deepcopy(scene))) == []
    assert list(unlike(first, replace(scene, findings=first.findings))) == []
    assert hash(scene.images[0]) == hash(first.images[0])
    assert scene.images[0] == first.images[0]
    write_package(Package(scene, read_package(path).envelopes), path)  # onto itself
    assert list(unlike(first, read_package(path).scene)) == []


def test_to_gltf_and_back(tmp_path: Path) -> None:
    first = flexor.samples.mannequin().scene
    scene = written(first, tmp_path).scene
    write_gltf(scene, tmp_path / "out.glb")
    write_gltf(first, tmp_path / "first.glb")
    assert (tmp_path / "out.glb").read_bytes() == (tmp_path / "first.glb").read_bytes()


def test_envelopes_are_looked_at_when_asked_for(path: Path) -> None:
    """What was written on purpose is refused then; damage is seen at once."""

    def spoil(arrays: dict[str, Any]) -> None:
        arrays["multi.steps"] = arrays["multi.steps"] + 99

    forge(path, envelopes=spoil)
    package = read_package(path)
    with pytest.raises(AssetError, match=r"small.flexor at envelopes: tensor 'multi'"):
        _ = package.envelopes


def test_the_scene_is_looked_at_when_asked_for(path: Path) -> None:
    def spoil(arrays: dict[str, Any]) -> None:
        arrays["times"] = arrays["times"] * 0

    forge(path, arrays=spoil)
    package = read_package(path)
    for _ in range(2):
        with pytest.raises(AssetError, match="must rise from key to key"):
            _ = package.scene
    with pytest.raises(AssetError, match="must rise from key to key"):
        _ = package.envelopes


def test_it_is_made_once(path: Path) -> None:
    package = read_package(path)
    assert package.scene is package.scene
    assert package.envelopes is package.envelopes


def test_the_file_is_let_go_with_the_last_array(path: Path) -> None:
    """At once, without the collector of garbage: files are many, and large."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("the system does not say what is mapped")
    gc.disable()
    try:
        for touch in ("scene", "envelopes", None):
            package = read_package(path)
            if touch:
                getattr(package, touch)
            array = package.scene.skeleton.translations
            del package
            assert str(path) in maps.read_text()
            del array
            assert str(path) not in maps.read_text()
    finally:
        gc.enable()


def test_damaged_envelopes(path: Path) -> None:
    begin, _ = tensors.open_tensors(path).span("envelopes")
    data = bytearray(path.read_bytes())
    data[begin + 700] ^= 1
    path.write_bytes(data)
    with pytest.raises(AssetError, match="at checksum: wrong: the file is damaged"):
        read_package(path)


# What cannot be written


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "old.flexor"
    write_package(small_package(), path)
    before = path.read_bytes()
    scene = small_scene()
    holes = np.full((3, 3), np.nan, np.float32)
    wrong = [
        replace(scene, materials=(Material(metallic=float("nan")), Material())),
        replace(scene, node_carried={9: {}}),
        replace(scene, carried={"extras": {1, 2}}),
        replace(scene, carried={"extensions": 3}),
        replace(scene, meshes=(scene.meshes[0], Mesh("", (Primitive(holes),)))),
        replace(scene, node_carried={0: {"extras": nested(900)}}),
    ]
    for one in wrong:
        with pytest.raises(AssetError, match=r"old.flexor.*cannot be written"):
            write_package(plain_package(one), path)
        assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["old.flexor"]


def nested(depth: int) -> list[object]:
    made: list[object] = []
    for _ in range(depth):
        made = [made]
    return made


def test_an_array_that_the_container_cannot_hold(tmp_path: Path) -> None:
    custom = {"_C": np.zeros((3, 1), np.complex64)}
    mesh = Mesh("", (Primitive(np.zeros((3, 3)), custom=custom),))
    scene = replace(small_scene(), meshes=(small_scene().meshes[0], mesh))
    with pytest.raises(AssetError, match="complex64 cannot be stored"):
        write_package(plain_package(scene), tmp_path / "a.flexor")


def test_weights_without_targets_share_no_times(tmp_path: Path) -> None:
    times = np.arange(40, dtype=np.float32)
    tracks = [Track(0, "weights", times, np.zeros((40, 0))) for _ in range(30)]
    scene = replace(small_scene(), clips={"a": Clip("a", tuple(tracks))})
    assert list(unlike(scene, written(scene, tmp_path).scene)) == []


def test_numbers_of_numpy_can_be_written(tmp_path: Path) -> None:
    material = Material(metallic=np.float32(0.5), double_sided=np.bool_(True))  # type: ignore[arg-type]
    scene = replace(small_scene(), materials=(material, Material()))
    read = written(scene, tmp_path).scene.materials[0]
    assert (read.metallic, read.double_sided) == (0.5, True)


# Damage


def is_refused(path: Path, data: bytes) -> bool:
    path.write_bytes(data)
    try:
        _ = read_package(path).envelopes
    except AssetError as error:
        return error.path == path
    return False


def places(path: Path) -> list[int]:
    """Every byte of the first 2 kB, and the ends and the middle of every array."""
    file = tensors.open_tensors(path)
    spans = [entry[2:] for entry in file.entries.values()]
    spans += [entry[2:] for entry in file.inner("envelopes").entries.values()]
    inside = {b + n for b, e in spans for n in (0, (e - b) // 2, e - b - 1) if e > b}
    return sorted({*range(2048), file.data_at - 1, *inside})


@pytest.mark.parametrize("mask", [0xFF, 0x01, 0x20, 0x80])
def test_a_changed_byte_is_found(path: Path, mask: int) -> None:
    whole = path.read_bytes()
    for at in places(path):
        data = bytearray(whole)
        data[at] ^= mask
        assert is_refused(path, data), at


def test_a_changed_run_is_found(path: Path) -> None:
    whole, chance = path.read_bytes(), random.Random(5)
    for _ in range(300):
        data = bytearray(whole)
        at = chance.randrange(len(data) - 64)
        size = chance.randrange(1, 64)
        data[at : at + size] = chance.randbytes(size)
        assert bytes(data) == whole or is_refused(path, data)


def test_a_cut_or_longer_file_is_found(path: Path) -> None:
    whole = path.read_bytes()
    for size in {*range(0, len(whole), 37), *range(64), len(whole) - 1}:
        assert is_refused(path, whole[:size]), size
    for more in (b"\0", b" " * 64, whole):
        assert is_refused(path, whole + more)


def test_two_exchanged_pieces_are_found(path: Path) -> None:
    whole = path.read_bytes()
    half = len(whole) // 2 // 8 * 8
    assert is_refused(path, whole[half:] + whole[:half])


# Other files


def test_a_newer_version_says_so(path: Path) -> None:
    forge(path, texts=lambda texts: texts.update(version="4"))
    match = r"version 4, .* reads up to version 3; a newer"
    with pytest.raises(VersionError, match=match):
        read_package(path)


@pytest.mark.parametrize(
    ("version", "kind"), [("0", VersionError), ("x", AssetError), ("²", AssetError)]
)
def test_versions_that_never_were(
    path: Path, version: str, kind: type[AssetError]
) -> None:
    forge(path, texts=lambda texts: texts.update(version=version))
    with pytest.raises(kind, match="version"):
        read_package(path)


def test_another_format(path: Path) -> None:
    forge(path, texts=lambda texts: texts.update(format="pt"))
    with pytest.raises(AssetError, match="not a package of flexor"):
        read_package(path)
    safetensors.numpy.save_file({"a": np.zeros(3)}, path)
    with pytest.raises(AssetError, match="not a package of flexor"):
        read_package(path)


def test_ours_but_without_a_checksum(path: Path) -> None:
    metadata = {"format": "flexor", "version": "1"}
    safetensors.numpy.save_file({"a": np.zeros(3)}, path, metadata)
    with pytest.raises(AssetError, match="begins with no checksum"):
        read_package(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"glTF",
        b"glTF\2\0\0\0" + bytes(100),
        b"\xff" * 40,
        b'{"asset": {"version": "2.0"}}',
        (2).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (1 << 63).to_bytes(8, "little") + b"{}",
        (8).to_bytes(8, "little") + b'{"a":1} ',
        (22).to_bytes(8, "little") + b'{"__metadata__":"text"}'[:22],
        (4000).to_bytes(8, "little") + b"[" * 4000,
        (200_000).to_bytes(8, "little") + b'{"a":' * 40_000,
        (6002).to_bytes(8, "little") + b'{"' + b"9" * 6000,
    ],
)
def test_not_a_package_at_all(data: bytes, tmp_path: Path) -> None:
    assert is_refused(tmp_path / "wrong.flexor", data)


def test_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="No such file"):
        read_package(tmp_path / "missing.flexor")
    with pytest.raises(AssetError, match="is not a plain file"):
        read_package(tmp_path)
    with pytest.raises(AssetError, match="cannot be read"):
        read_package(Path("a\0b"))
