"""The container, beside the library of the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from flexor.errors import AssetError
from flexor.files.package.tensors import (
    MOST_HEADER,
    TYPES,
    Wanted,
    join_tensors,
    layout_tensors,
    open_tensors,
    parse_json,
)


def arrays_of_all_types(rng: np.random.Generator) -> dict[str, Any]:
    """Odd sizes, in an order that is not that of the file."""
    made = {
        name: rng.integers(0, 2, (3, n + 1)).astype(kind)
        for n, (name, kind) in enumerate(reversed(TYPES.items()))
    }
    return {**made, "empty": np.zeros((0, 3), np.float32), "bytes": np.zeros(64, "u1")}


def save(path: Path, arrays: dict[str, Any], **texts: str) -> None:
    head, parts = layout_tensors(texts, arrays)
    path.write_bytes(b"".join([head, *parts]))


def test_both_read_what_each_writes(rng: np.random.Generator, tmp_path: Path) -> None:
    arrays = arrays_of_all_types(rng)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    save(ours, arrays, name="text")
    safetensors.numpy.save_file(arrays, theirs, {"name": "text"})
    read = safetensors.numpy.load_file(ours)
    assert set(read) == set(arrays)
    for path in (ours, theirs):
        file = open_tensors(path)
        assert file.metadata == {"name": "text"}
        assert set(file.entries) == set(arrays)
        for name, array in arrays.items():
            own = file.any_array(name)
            assert own.dtype == array.dtype == read[name].dtype
            assert own.shape == array.shape == read[name].shape
            assert np.array_equal(own, array)
            assert np.array_equal(read[name], array)
            assert own.flags.aligned
            assert not own.flags.writeable


def test_data_begin_at_a_multiple_of_64(tmp_path: Path) -> None:
    for size in range(1, 70):
        save(tmp_path / "a", {"x" * size: np.zeros(1, np.uint8)})
        assert open_tensors(tmp_path / "a").data_at % 64 == 0


def test_nothing_at_all(tmp_path: Path) -> None:
    save(tmp_path / "a", {})
    file = open_tensors(tmp_path / "a")
    assert (file.entries, file.metadata) == ({}, {})
    safetensors.numpy.load_file(tmp_path / "a")


def test_big_endian_and_strided_arrays(tmp_path: Path) -> None:
    array = np.arange(12, dtype=">f4").reshape(3, 4).T
    save(tmp_path / "a", {"x": array})
    assert np.array_equal(open_tensors(tmp_path / "a").any_array("x"), array)


def test_known_arrays(tmp_path: Path) -> None:
    save(tmp_path / "a", {"x": np.ones((2, 3), np.float32), "other": np.ones(1)})
    file = open_tensors(tmp_path / "a")
    found = file.arrays(Wanted({"x": ("F32", (3,)), "y": ("I32", (4, 2))}))
    assert found["x"].shape == (2, 3)
    assert found["y"].shape == (0, 4, 2)
    assert not found["y"].flags.writeable
    for kind, tail in (("F32", (2,)), ("F32", ()), ("I32", (3,)), ("F64", (3,))):
        with pytest.raises(AssetError, match=r"tensor 'x': F32 \(2, 3\)"):
            file.arrays(Wanted({"x": (kind, tail)}))


def test_a_container_in_a_container(tmp_path: Path) -> None:
    inner = join_tensors({"a": np.arange(5, dtype=np.int32), "b": np.ones(3)})
    assert len(inner) % 64 == 0
    more = {"one": np.ones(3, np.uint8), "inner": inner, "two": np.ones(3)}
    save(tmp_path / "a", more)
    file = open_tensors(tmp_path / "a")
    opened = file.inner("inner")
    assert opened.any_array("a").tolist() == [0, 1, 2, 3, 4]
    assert all(opened.any_array(name).flags.aligned for name in ("a", "b"))
    assert safetensors.numpy.load(inner.tobytes())["a"].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(AssetError, match="tensor 'none': is missing"):
        file.inner("none")
    with pytest.raises(AssetError, match="byte"):
        file.inner("one")
    with pytest.raises(AssetError, match="inner: tensor 'c'"):
        opened.any_array("c")


def test_an_array_that_is_not_aligned(tmp_path: Path) -> None:
    text = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
    text += b'"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}}'
    data = len(text).to_bytes(8, "little") + text + bytes(5)
    (tmp_path / "a").write_bytes(data)
    file = open_tensors(tmp_path / "a")
    with pytest.raises(AssetError, match="tensor 'b'"):
        file.any_array("b")
    with pytest.raises(AssetError, match="tensor 'b'"):
        file.arrays(Wanted({"b": ("F32", ())}))


def test_an_empty_array_of_a_shape_beyond_all_measure(tmp_path: Path) -> None:
    shape = f"[0,{1 << 47},{1 << 47},{1 << 47}]"
    text = f'{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":[0,0]}}}}'.encode()
    (tmp_path / "a").write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(AssetError, match="tensor 'a'"):
        open_tensors(tmp_path / "a").any_array("a")


def container(header: bytes, data: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + data


@pytest.mark.parametrize(
    "texts", [b"", b'"__metadata__":{},', b'"__metadata__":{"b":"c"},']
)
def test_a_name_that_stands_twice(texts: bytes, tmp_path: Path) -> None:
    one = b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    two = one.replace(b"[0,1]", b"[1,2]")
    path = tmp_path / "a"
    path.write_bytes(container(b"{%s%s,%s}" % (texts, one, two), b"12"))
    with pytest.raises(AssetError, match="header: a name stands there twice"):
        open_tensors(path)
    two = two.replace(b'"a"', b'"b"')
    path.write_bytes(container(b"{%s%s,%s}" % (texts, one, two), b"12"))
    assert open_tensors(path).any_array("b").tolist() == [ord("2")]


def test_texts_that_stand_twice(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(container(b'{"__metadata__":{},"__metadata__":{}}'))
    with pytest.raises(AssetError, match="header: a name stands there twice"):
        open_tensors(tmp_path / "a")


@pytest.mark.parametrize(("axes", "length"), [(17, 1), (50_000, 1 << 48)])
@pytest.mark.parametrize("kind", ["U8", "F4"])
def test_axes_have_a_limit(kind: str, axes: int, length: int, tmp_path: Path) -> None:
    """Seen before lengths are multiplied: that would take long."""
    shape = ",".join([str(length)] * axes)
    text = f'{{"a":{{"dtype":"{kind}","shape":[{shape}],"data_offsets":[0,1]}}}}'
    (tmp_path / "a").write_bytes(container(text.encode(), b"1"))
    with pytest.raises(AssetError, match=rf"tensor 'a': {axes} axes$"):
        open_tensors(tmp_path / "a")


def test_as_many_axes_as_are_taken(tmp_path: Path) -> None:
    save(tmp_path / "a", {"x": np.ones((1,) * 16, np.float32)})
    assert open_tensors(tmp_path / "a").any_array("x").ndim == 16


def test_headers_that_are_too_large_are_not_written() -> None:
    with pytest.raises(ValueError, match=r"a header of \d{8} bytes is too large"):
        layout_tensors({"a": "x" * MOST_HEADER}, {})
    head, _ = layout_tensors({"a": "x" * (MOST_HEADER - 200)}, {})
    assert len(head) <= MOST_HEADER + 8


def test_types_that_are_not_known(tmp_path: Path) -> None:
    text = b'{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}'
    (tmp_path / "a").write_bytes(len(text).to_bytes(8, "little") + text + bytes(2))
    file = open_tensors(tmp_path / "a")  # room for what comes later
    with pytest.raises(AssetError, match="tensor 'a': F4"):
        file.any_array("a")
    with pytest.raises(TypeError, match="complex64"):
        layout_tensors({}, {"a": np.zeros(1, np.complex64)})


def test_json_is_strict() -> None:
    assert parse_json('{"a": {"b": NaN}}')["a"]["b"] != 0
    for text in ('{"a":1,"a":1}', '[{"a":{"b":1,"b":2}}]', "[" * 9999, "{"):
        with pytest.raises(ValueError):
            parse_json(text)
