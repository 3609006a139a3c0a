"""BVH: what was written is read, cuts are noticed, real files stand right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import AssetError
from flexor.files.bvh import read_bvh
from flexor.maths import quaternions
from tests.conftest import find_assets
from tests.files.bvh_text import (
    CHANNELS,
    Matrix,
    Read,
    attempt,
    codes,
    local_of,
    one_joint,
    refusal,
    same,
    times,
)

# Properties


@dataclass
class Node:
    name: str
    parent: int
    is_end: bool
    offset: list[str]
    channels: list[str] = field(default_factory=list)


@dataclass
class Written:
    """A skeleton with motion, every number as text with three decimals."""

    nodes: list[Node]
    frames: list[list[str]]
    newline: str
    indent: str

    def lines(self) -> Iterator[str]:
        yield "HIERARCHY"
        yield from self.below(-1, "")
        yield from ("MOTION", f"Frames: {len(self.frames)}", "Frame Time: 0.125")
        yield from (" ".join(frame) for frame in self.frames)

    def below(self, parent: int, indent: str) -> Iterator[str]:
        for row, node in enumerate(self.nodes):
            if node.parent != parent:
                continue
            kind = "ROOT" if parent < 0 else "JOINT"
            yield indent + ("End Site" if node.is_end else f"{kind} {node.name}")
            inner = indent + self.indent
            yield indent + "{"
            yield f"{inner}OFFSET {' '.join(node.offset)}"
            if not node.is_end:
                names = " ".join(node.channels)
                yield f"{inner}CHANNELS {len(node.channels)} {names}"
            yield from self.below(row, inner)
            yield indent + "}"

    def data(self) -> bytes:
        return "".join(line + self.newline for line in self.lines()).encode()


NUMBERS = st.integers(-400_000, 400_000).map(lambda n: f"{n / 1000:.3f}")


@st.composite
def written(draw: st.DrawFn, most: int = 7) -> Written:
    nodes: list[Node] = []
    above: list[int] = []  # the joints that the next node can hang on
    for row in range(draw(st.integers(1, most))):
        keep = draw(st.integers(0, len(above)))
        above = above[:keep]
        parent = above[-1] if above else -1
        is_end = parent >= 0 and draw(st.booleans())
        name = f"{nodes[parent].name} end" if is_end else f"joint {row}"
        offset = draw(st.lists(NUMBERS, min_size=3, max_size=3))
        node = Node(name, parent, is_end, offset)
        if not is_end:
            # Positions below a root can mean two things; they have a test of their own.
            kinds = CHANNELS if parent < 0 else CHANNELS[3:]
            names = draw(st.permutations(kinds))
            node.channels = names[: draw(st.integers(0, len(kinds)))]
            above.append(row)
        nodes.append(node)
    width = sum(len(node.channels) for node in nodes)
    frame = st.lists(NUMBERS, min_size=width, max_size=width)
    frames = draw(st.lists(frame, max_size=4)) if width else []
    newline, indent = draw(st.sampled_from([("\n", "\t"), ("\r\n", "  "), ("\n", "")]))
    return Written(nodes, frames, newline, indent)


@settings(max_examples=150, database=None)
@given(file=written())
def test_what_was_written_is_read(read: Read, file: Written) -> None:
    scene = read(file.data())
    skeleton = scene.skeleton
    assert skeleton.names == tuple(node.name for node in file.nodes)
    assert skeleton.parents.tolist() == [node.parent for node in file.nodes]
    offsets = np.array([[float(x) for x in node.offset] for node in file.nodes])
    np.testing.assert_array_equal(skeleton.translations, offsets.astype(np.float32))
    assert list(scene.clips) == (["walk"] if file.frames else [])
    if not file.frames:
        return
    found = {(t.node, t.path): t for t in scene.clips["walk"].tracks}
    expected = {
        (row, "translation" if name.endswith("position") else "rotation")
        for row, node in enumerate(file.nodes)
        for name in node.channels
    }
    assert set(found) == expected
    for frame, numbers in enumerate(file.frames):
        left = [float(number) for number in numbers]
        for row, node in enumerate(file.nodes):
            own, left = left[: len(node.channels)], left[len(node.channels) :]
            moved, turned = local_of(list(offsets[row]), node.channels, own)
            if (row, "translation") in found:
                have = found[row, "translation"].values[frame]
                np.testing.assert_array_equal(have, np.array(moved, np.float32))
            if (row, "rotation") in found:
                q = found[row, "rotation"].values[frame].astype(np.float64)
                np.testing.assert_allclose(quaternions.to_matrix(q), turned, atol=1e-6)
    for key in found.values():
        np.testing.assert_array_equal(key.times, np.arange(len(file.frames)) * 0.125)
        if key.path == "rotation":
            wide = key.values.astype(np.float64)
            np.testing.assert_allclose(np.linalg.norm(wide, axis=1), 1, atol=2e-7)
            assert ((wide[1:] * wide[:-1]).sum(1) >= 0).all()


def check_cuts(read: Read, data: bytes, cuts: range) -> None:
    """A file cut short is refused, or nothing but blanks is lost and it reads the same.

    Without a clip the frame time is of no use, so losing a part of it changes nothing.
    That the last number of all lost some digits cannot be seen.
    """
    whole = read(data)
    last = len(data.rstrip()) - len(data.split()[-1])
    for cut in cuts:
        result = attempt(read, data[:cut])
        if isinstance(result, AssetError):
            assert result.pointer.startswith("line ")
        elif cut <= last or cut >= len(data.rstrip()):
            assert same(result, whole)
            assert not data[cut:].strip() or not whole.clips


@settings(max_examples=8, database=None)
@given(file=written(most=4))
def test_cut_anywhere(read: Read, file: Written) -> None:
    data = file.data()
    check_cuts(read, data, range(len(data)))


def test_last_line_needs_no_break(read: Read) -> None:
    text = one_joint("Xrotation Yrotation", "1.5 2.25", "3.75 4.125")
    assert same(read(text.rstrip("\n")), read(text))
    refusal(read, text.rstrip("\n").removesuffix("4.125") + "-")


# Real files


def bvh_files() -> list[Path]:
    folder = find_assets()
    return sorted((folder / "bvh").glob("*.bvh")) if folder else []


def walk_frame(
    text: str, frame: int, adds: bool
) -> tuple[list[Matrix], list[list[float]]]:
    """World rotations and positions of every node, straight from the file's words."""
    head, motion = text.split("MOTION")
    lines = [line.split() for line in motion.splitlines() if line.strip()]
    numbers = [float(word) for word in lines[2 + frame]]
    words = head.split()
    turned: list[Matrix] = []
    moved: list[list[float]] = []
    above: list[int] = []
    for at, word in enumerate(words):
        if word == "OFFSET":
            offset = [float(x) for x in words[at + 1 : at + 4]]
            has_channels = words[at + 4] == "CHANNELS"
            count = int(words[at + 5]) if has_channels else 0
            names = words[at + 6 : at + 6 + count]
            values, numbers = numbers[: len(names)], numbers[len(names) :]
            place, rotation = local_of(offset, names, values, adds and bool(above))
            if above:
                parent = turned[above[-1]], moved[above[-1]]
                place = [
                    parent[1][i] + sum(parent[0][i][k] * place[k] for k in range(3))
                    for i in range(3)
                ]
                rotation = times(parent[0], rotation)
            above.append(len(turned))
            turned.append(rotation)
            moved.append(place)
        elif word == "}":
            above.pop()
    assert not numbers
    return turned, moved


@pytest.mark.jit
@pytest.mark.parametrize("path", bvh_files(), ids=lambda path: path.stem)
def test_real_files_stand_where_their_text_says(path: Path) -> None:
    from flexor.api.character import Character

    scene = read_bvh(path)
    character = Character(scene)
    text = path.read_text()
    keys = scene.clips[path.stem].tracks[0].times
    rest = character.pose().world[:, :, 3]
    height = float(np.ptp(rest, axis=0).max())
    for frame in sorted({0, len(keys) // 2, len(keys) - 1}):
        turned, moved = walk_frame(text, frame, "tpose" in path.stem)
        world = character.pose(path.stem, float(keys[frame])).world
        np.testing.assert_allclose(world[:, :, 3], moved, atol=1e-4 * height, rtol=0)
        np.testing.assert_allclose(world[:, :, :3], turned, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("name", "nodes", "frames", "duration"),
    [
        ("cmu_02_01", 38, 344, 343 * 0.0083333),
        ("cmu_09_01", 38, 149, 148 * 0.0083333),
        ("cmu_16_05", 38, 296, 295 * 0.0083333),
        ("cmu_49_06", 38, 482, 481 * 0.0083333),
        ("makehuman_tpose", 222, 1, 0),
        ("makehuman_walk1", 91, 14, 13 * 0.041667),
        ("momentum_simple", 6, 3, 2 * 0.033333),
    ],
)
def test_real_files(
    assets: Path, name: str, nodes: int, frames: int, duration: float
) -> None:
    path = assets / "bvh" / f"{name}.bvh"
    scene = read_bvh(path)
    text = path.read_text()
    assert len(scene.skeleton) == nodes == text.count("OFFSET")
    clip = scene.clips[name]
    assert all(len(t.times) == frames for t in clip.tracks)
    assert clip.duration == pytest.approx(duration, rel=1e-6)
    assert "bvh-units" in codes(scene)
    assert ("bvh-positions" in codes(scene)) == (name == "makehuman_tpose")


def test_real_file_cut_anywhere(assets: Path, read: Read) -> None:
    data = (assets / "bvh" / "momentum_simple.bvh").read_bytes()
    check_cuts(read, data, range(len(data)))
    data = (assets / "bvh" / "cmu_09_01.bvh").read_bytes()
    check_cuts(read, data, range(len(data) - 12, len(data)))
