"""BVH: what comes out, every refusal with its line, hostile bytes, real files."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import AssetError
from flexor.files.bvh_read import MAX_DEPTH, MAX_NODES, read_bvh
from flexor.maths import quaternions
from flexor.scene.scene import Scene
from tests.conftest import find_assets

SMALL = """HIERARCHY
ROOT Hips
{
  OFFSET 0.0 0.9 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Left Leg
  {
    OFFSET 0.1 -0.1 0.0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.0 -0.8 0.0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.25
0.0 1.0 0.5 0.0 0.0 90.0 10.0 20.0 30.0
0.5 1.5 0.0 0.0 0.0 45.0 15.0 25.0 35.0
"""
AXES = "XYZ"
CHANNELS = [f"{axis}{kind}" for kind in ("position", "rotation") for axis in AXES]

Read = Callable[[str | bytes], Scene]
Matrix = list[list[float]]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    path = tmp_path_factory.mktemp("bvh") / "walk.bvh"

    def read_text(text: str | bytes) -> Scene:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_bvh(path)

    return read_text


def refusal(read: Read, text: str | bytes) -> AssetError:
    with pytest.raises(AssetError) as caught:
        read(text)
    assert caught.value.path.name == "walk.bvh"
    return caught.value


def attempt(read: Read, text: str | bytes) -> Scene | AssetError:
    try:
        return read(text)
    except AssetError as error:
        return error


def one_joint(channels: str, *frames: str, offset: str = "1 2 3") -> str:
    count = len(channels.split())
    head = f"HIERARCHY\nROOT a\n{{\nOFFSET {offset}\nCHANNELS {count} {channels}\n}}\n"
    motion = f"MOTION\nFrames: {len(frames)}\nFrame Time: 0.5\n"
    return head + motion + "".join(f"{line}\n" for line in frames)


def codes(scene: Scene) -> list[str]:
    return [finding.code for finding in scene.findings]


def track(scene: Scene, node: int, path: str) -> Any:
    (clip,) = scene.clips.values()
    found = [t for t in clip.tracks if (t.node, t.path) == (node, path)]
    assert len(found) == 1
    return found[0]


def same(first: Scene, second: Scene) -> bool:
    a, b = first.skeleton, second.skeleton
    if a.names != b.names or first.clips.keys() != second.clips.keys():
        return False
    pairs = [(a.parents, b.parents), (a.translations, b.translations)]
    for name, clip in first.clips.items():
        other = second.clips[name]
        if [(t.node, t.path) for t in clip.tracks] != [
            (t.node, t.path) for t in other.tracks
        ]:
            return False
        for t, u in zip(clip.tracks, other.tracks, strict=True):
            pairs += [(t.times, u.times), (t.values, u.values)]
    return all(np.array_equal(x, y) for x, y in pairs)


# The slow truth: plain matrices


def turn(axis: str, degrees: float) -> Matrix:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    turns: dict[str, Matrix] = {
        "X": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }
    return turns[axis]


def times(a: Matrix, b: Matrix) -> Matrix:
    return [
        [sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)
    ]


def local_of(
    offset: list[float], channels: list[str], values: list[float]
) -> tuple[list[float], Matrix]:
    """Translation and rotation of a joint at a frame."""
    moved, turned = list(offset), turn("X", 0)
    for name, value in zip(channels, values, strict=True):
        if name.endswith("position"):
            moved[AXES.index(name[0])] = value
        else:
            turned = times(turned, turn(name[0], value))
    return moved, turned


# What comes out


def test_small_file_as_scene(read: Read) -> None:
    scene = read(SMALL)
    assert scene.skeleton.names == ("Hips", "Left Leg", "Left Leg end")
    assert scene.skeleton.parents.tolist() == [-1, 0, 1]
    wanted = np.array([[0, 0.9, 0], [0.1, -0.1, 0], [0, -0.8, 0]], np.float32)
    np.testing.assert_array_equal(scene.skeleton.translations, wanted)
    np.testing.assert_array_equal(scene.skeleton.rotations, [[0, 0, 0, 1]] * 3)
    np.testing.assert_array_equal(scene.skeleton.scales, np.ones((3, 3)))
    assert scene.meshes == scene.skins == ()
    assert scene.node_mesh.tolist() == scene.node_skin.tolist() == [-1, -1, -1]
    assert scene.root_sets[0].nodes == (0,)
    assert scene.default_set == 0
    assert [(name, clip.name) for name, clip in scene.clips.items()] == [("walk",) * 2]
    tracks = scene.clips["walk"].tracks
    kinds = [(t.node, t.path, t.interpolation) for t in tracks]
    assert kinds == [
        (0, "translation", "LINEAR"),
        (0, "rotation", "LINEAR"),
        (1, "rotation", "LINEAR"),
    ]
    assert all(t.times.tolist() == [0, 0.25] for t in tracks)
    assert tracks[0].values.tolist() == [[0, 1, 0.5], [0.5, 1.5, 0]]
    half = math.sqrt(0.5)
    np.testing.assert_allclose(tracks[1].values[0], [0, half, 0, half], atol=1e-7)
    assert codes(scene) == []


def test_first_channel_is_outermost(read: Read) -> None:
    # By hand: a quarter about X, seen from within a quarter about Z, takes y to z, and
    # Z leaves z where it is. The other way round Z takes y to -x, and X leaves -x.
    for order, wanted in (("Z X", (0, 0, 1)), ("X Z", (-1, 0, 0))):
        channels = " ".join(f"{axis}rotation" for axis in order.split())
        q = track(read(one_joint(channels, "90 90")), 0, "rotation").values[0]
        y_axis = quaternions.to_matrix(q.astype(np.float64))[:, 1]
        np.testing.assert_allclose(y_axis, wanted, atol=1e-7)


def test_quaternions_by_hand(read: Read) -> None:
    q = track(read(one_joint("Zrotation Xrotation", "90 90")), 0, "rotation").values
    np.testing.assert_allclose(q[0], [0.5, 0.5, 0.5, 0.5], atol=1e-7)
    q = track(read(one_joint("Xrotation Zrotation", "90 90")), 0, "rotation").values
    np.testing.assert_allclose(q[0], [0.5, -0.5, 0.5, 0.5], atol=1e-7)


def test_missing_positions_take_the_offset(read: Read) -> None:
    scene = read(one_joint("Zposition Xposition", "7 8", "9 10"))
    assert track(scene, 0, "translation").values.tolist() == [[8, 2, 7], [10, 2, 9]]
    assert len(scene.clips["walk"].tracks) == 1


def test_neighbours_are_in_the_same_hemisphere(read: Read) -> None:
    angles = [str(170 * step) for step in range(40)] + ["-1e20", "3600", "719.5"]
    values = track(read(one_joint("Yrotation", *angles)), 0, "rotation").values
    assert values.dtype == np.float32
    wide = values.astype(np.float64)
    assert ((wide[1:] * wide[:-1]).sum(1) >= 0).all()
    assert wide[0, 3] > 0
    np.testing.assert_allclose(np.linalg.norm(wide, axis=1), 1, atol=2e-7)
    np.testing.assert_allclose(np.abs(wide[-2]), [0, 0, 0, 1], atol=1e-12)


def test_several_roots_and_end_sites(read: Read) -> None:
    end = "End Site { OFFSET 0 1 0 }"
    text = f"""HIERARCHY ROOT a {{ OFFSET 0 0 0 CHANNELS 1 Xrotation {end} {end} }}
        ROOT b {{ CHANNELS 0 OFFSET 1 0 0 }} ROOT c{{OFFSET 2 0 0}}
        MOTION Frames: 1 Frame Time: 0
        5
    """
    scene = read(text)
    assert scene.skeleton.names == ("a", "a end", "a end", "b", "c")
    assert scene.root_sets[0].nodes == (0, 3, 4)
    assert scene.clips["walk"].duration == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("\n", "\n \t\n\n"),
        lambda text: text.replace(" ", "\t").replace("Left\tLeg", "Left Leg"),
        lambda text: text.replace("Frames: 2", "Frames:2").replace("Time: ", "Time:"),
        lambda text: text.replace("\n  {", " {").replace("\n    {", "{"),
        lambda text: "\ufeff\n" + text,
        lambda text: text.rstrip("\n"),
        lambda text: (
            text.lower().replace("hips", "Hips").replace("left leg", "Left Leg")
        ),
    ],
)
def test_ways_of_writing_the_same(read: Read, change: Callable[[str], str]) -> None:
    changed = change(SMALL)
    assert changed != SMALL
    assert same(read(SMALL), read(changed))


def test_names_in_latin_1_and_utf_8(read: Read) -> None:
    for encoding in ("latin-1", "utf-8"):
        scene = read(SMALL.replace("Hips", "Hüfte").encode(encoding))
        assert scene.skeleton.names[0] == "Hüfte"


# Findings


def test_units_are_remarked_on(read: Read) -> None:
    large = read(SMALL.replace("-0.8", "-80"))
    assert codes(large) == ["bvh-units"]
    assert large.findings[0].level == "info"
    assert large.skeleton.translations[2].tolist() == [0, -80, 0]
    small = SMALL.replace("-0.8", "-0.01").replace("-0.1", "0")
    assert codes(read(small)) == ["bvh-units"]


def test_no_frames_no_clip(read: Read) -> None:
    text = SMALL[: SMALL.index("Frames")] + "Frames: 0\nFrame Time: 0.1\n"
    scene = read(text)
    assert dict(scene.clips) == {}
    assert codes(scene) == ["bvh-no-frames"]
    assert scene.findings[0].where == "line 17"
    assert refusal(read, text + "1 2 3\n").pointer == "line 19"


def test_no_channels_no_clip(read: Read) -> None:
    scene = read(one_joint("", "", ""))
    assert dict(scene.clips) == {}
    assert codes(scene) == ["bvh-no-channels"]


def test_positions_that_shrink_bones_are_remarked_on(read: Read) -> None:
    text = SMALL.replace("3 Z", "6 Xposition Yposition Zposition Z")
    for place, wanted in (("0.1 -0.1 0.0", []), ("0 0 0.01", ["bvh-positions"])):
        frames = text.replace(" 10.0", f" {place} 10.0")
        scene = read(frames.replace(" 15.0", f" {place} 15.0"))
        assert codes(scene) == wanted
        moved = np.array(place.split(), np.float32)
        np.testing.assert_array_equal(track(scene, 1, "translation").values[0], moved)


# Refusals


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("HIERARCHY", "glTF", 1, "not a BVH file: 'glTF', expected HIERARCHY"),
        ("ROOT", "JOINT", 2, "'JOINT', expected ROOT"),
        ("ROOT Hips", "ROOT", 2, "a name is missing"),
        ("ROOT Hips\n{", "ROOT Hips\n", 4, "'OFFSET', expected {"),
        ("  OFFSET 0.0 0.9", "  OFSET 0.0 0.9", 4, "'OFSET', expected OFFSET or"),
        ("0.9 0.0", "0.9", 5, "'CHANNELS' is not a finite number"),
        ("0.9", "0,9", 4, "'0,9' is not a finite number"),
        ("0.9", "nan", 4, "'nan' is not"),
        ("0.9", "1e39", 4, "'1e39' is not"),
        ("0.9", "1_0", 4, "'1_0' is not"),
        ("  OFFSET 0.0 0.9 0.0\n", "", 14, "'Hips' has no OFFSET"),
        ("  OFFSET 0.0 0.9", "OFFSET 1 1 1 OFFSET 0.0 0.9", 4, "a second OFFSET"),
        ("    End", "    CHANNELS 0 End", 10, "a second CHANNELS"),
        ("CHANNELS 6", "CHANNELS 7", 5, "7 channels, at most 6"),
        ("CHANNELS 6", "CHANNELS -6", 5, "expected the number of channels"),
        ("CHANNELS 6", "CHANNELS " + "9" * 5000, 5, "expected the number of channels"),
        ("CHANNELS 6", "CHANNELS 5", 5, "'Yrotation', expected"),
        ("CHANNELS 3", "CHANNELS 4", 10, "unknown channel 'End'"),
        ("Xposition", "Xscale", 5, "unknown channel 'Xscale', expected one of Xpos"),
        ("Xposition", "Yposition", 5, "'Yposition' comes twice"),
        ("Site", "Sight", 10, "'Sight', expected SITE"),
        ("OFFSET 0.0 -0.8", "CHANNELS 0 OFFSET 0.0 -0.8", 12, "'CHANNELS', expected"),
        ("  }\n}\n", "  }\n", 15, "'MOTION', expected"),
        ("MOTION", "}", 16, "'}', expected ROOT or MOTION"),
        ("Frames: 2", "Frame: 2", 17, "'Frame:', expected 'Frames:'"),
        ("Frames: 2", "Frames: two", 17, "'two', expected the number of frames"),
        ("Frames: 2", "Frames: 2.5", 17, "'2.5', expected the number of frames"),
        ("Frames: 2", "Frames: " + "9" * 5000, 17, "expected the number of frames"),
        ("Frames: 2", "Frames: 3", 20, "ends after 2 of 3 frames"),
        ("Frames: 2", "Frames: 999999999999999999", 20, "ends after 2 of 9999"),
        ("Frames: 2", "Frames: 1", 20, "'0.5' follows, after all of 1 frames"),
        ("Frame Time", "Time", 18, "'Time:', expected 'Frame Time:'"),
        ("0.25", "0", 18, "the frame time is 0"),
        ("0.25", "-1", 18, "the frame time is -1"),
        ("0.25", "inf", 18, "'inf' is not"),
        ("0.25", "1e-60", 18, "too short"),
        ("0.25", "0.25 1 2 3", 18, "'1 2 3' after the frame time"),
        (" 30.0\n", "\n", 19, "8 numbers in frame 0, expected 9"),
        (" 35.0\n", " 35.0 1 2\n", 20, "more than 9 numbers in frame 1, expected 9"),
        (" 25.0", " 25.0.0", 20, "'25.0.0' is not"),
        (" 25.0", " nan", 20, "'nan' is not"),
        (" 25.0", " -inf", 20, "'-inf' is not"),
        (" 25.0", " 1e39", 20, "'1e39' is not"),
        (" 25.0", " 1e999", 20, "'1e999' is not"),
        (" 25.0", " 2_5", 20, "'2_5' is not"),
        (" 25.0", " \uff12", 20, "'\uff12' is not"),
        (" 25.0", " \0", 20, r"'\x00' is not"),
        (" 25.0", " " + "x" * 100, 20, "xxx...' is not"),
        (" 35.0\n", " 35", 20, "'35' may be cut short; if it is whole, add a line"),
    ],
)
def test_refusals(read: Read, old: str, new: str, line: int, text: str) -> None:
    assert old in SMALL
    error = refusal(read, SMALL.replace(old, new, 1))
    assert error.pointer == f"line {line}"
    assert text in error.text


def test_frames_that_last_too_long(read: Read) -> None:
    text = one_joint("Xrotation", "1", "2", "3").replace("0.5", "3e38")
    assert "too long" in refusal(read, text).text


@pytest.mark.parametrize("data", [b"", b" \r\n\t\n", b"\xef\xbb\xbf", b"\0" * 50])
def test_empty_files(read: Read, data: bytes) -> None:
    error = refusal(read, data)
    assert error.pointer == "line 1"
    assert "not a BVH file" in error.text


def test_utf_16_is_no_bvh(read: Read) -> None:
    assert "not a BVH file" in refusal(read, SMALL.encode("utf-16")).text


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="No such file"):
        read_bvh(tmp_path / "none.bvh")
    with pytest.raises(AssetError, match="cannot be read"):
        read_bvh(tmp_path)
    with pytest.raises(AssetError, match="null"):
        read_bvh(tmp_path / "a\0b.bvh")


def nested(depth: int) -> str:
    inner = "JOINT a { OFFSET 0 0 0\n" * (depth - 1)
    head = f"HIERARCHY\nROOT a {{ OFFSET 0 0 0\n{inner}{'}' * depth}\n"
    return f"{head}MOTION\nFrames: 0\nFrame Time: 1\n"


def test_nesting_has_a_limit(read: Read) -> None:
    assert len(read(nested(MAX_DEPTH)).skeleton) == MAX_DEPTH
    error = refusal(read, nested(MAX_DEPTH + 1))
    assert error.pointer == f"line {MAX_DEPTH + 2}"
    assert "in one another" in error.text
    assert "in one another" in refusal(read, nested(10**5)).text


def test_joints_have_a_limit(read: Read) -> None:
    text = "HIERARCHY\n" + "ROOT a { OFFSET 0 0 0 }\n" * (MAX_NODES + 1)
    error = refusal(read, text)
    assert error.pointer == f"line {MAX_NODES + 2}"


def test_changed_bytes_raise_one_type_only(read: Read) -> None:
    source = random.Random(11)
    for _ in range(1500):
        changed = bytearray(SMALL.encode())
        for _ in range(source.choice([1, 2, 8])):
            at = source.randrange(len(changed))
            match source.randrange(3):
                case 0:
                    changed[at] = source.randrange(256)
                case 1:
                    del changed[at : at + source.randrange(1, 9)]
                case 2:
                    changed[at:at] = source.choice(SMALL.split()).encode()
        result = attempt(read, bytes(changed))
        if isinstance(result, AssetError):
            assert result.pointer.startswith("line ")
        else:
            assert np.isfinite(result.skeleton.translations).all()


def test_long_blanks_and_lines_take_no_time(read: Read) -> None:
    start = time.perf_counter()
    for filler in (" ", "\n", "x", "}", "{", "1 ", "-"):
        for place in ("ROOT ", "OFFSET ", "Frames:", "Frame Time:", "10.0 "):
            at = SMALL.index(place) + len(place)
            text = SMALL[:at] + filler * 200_000 + SMALL[at:]
            result = attempt(read, text)
            assert not isinstance(result, AssetError) or len(result.text) < 300
    assert time.perf_counter() - start < 20


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
            names = draw(st.permutations(CHANNELS))
            node.channels = names[: draw(st.integers(0, 6))]
            above.append(row)
        nodes.append(node)
    width = sum(len(node.channels) for node in nodes)
    frame = st.lists(NUMBERS, min_size=width, max_size=width)
    frames = draw(st.lists(frame, max_size=4)) if width else []
    newline, indent = draw(st.sampled_from([("\n", "\t"), ("\r\n", "  "), ("\n", "")]))
    return Written(nodes, frames, newline, indent)


@settings(deadline=None, max_examples=150, database=None)
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
    """
    whole = read(data)
    for cut in cuts:
        result = attempt(read, data[:cut])
        if isinstance(result, AssetError):
            assert result.pointer.startswith("line ")
        else:
            assert same(result, whole)
            assert not data[cut:].strip() or not whole.clips


@settings(deadline=None, max_examples=25, database=None)
@given(file=written(most=4))
def test_cut_anywhere(read: Read, file: Written) -> None:
    data = file.data()
    check_cuts(read, data, range(len(data)))


def test_last_number_without_line_break(read: Read) -> None:
    fixed = one_joint("Xrotation Yrotation", "1.50 2.25", "3.75 4.00").rstrip("\n")
    assert same(read(fixed), read(fixed + "\n"))
    for end in ("3.75 4.0", "3.75 4.", "3.75 4", "3.75 -"):
        refusal(read, fixed.replace("3.75 4.00", end))
    for frames in (("1 2", "3 45"), ("1.5 2.25", "3.75 4.125")):
        text = one_joint("Xrotation Yrotation", *frames)
        read(text)
        assert "cut short" in refusal(read, text.rstrip("\n")).text


# Real files


def bvh_files() -> list[Path]:
    folder = find_assets()
    return sorted((folder / "bvh").glob("*.bvh")) if folder else []


def walk_frame(text: str, frame: int) -> tuple[list[Matrix], list[list[float]]]:
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
            place, rotation = local_of(offset, names, values)
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
    from flexor.app.character import Character

    scene = read_bvh(path)
    character = Character(scene)
    text = path.read_text()
    keys = scene.clips[path.stem].tracks[0].times
    rest = character.pose().world[:, :, 3]
    height = float(np.ptp(rest, axis=0).max())
    for frame in sorted({0, len(keys) // 2, len(keys) - 1}):
        turned, moved = walk_frame(text, frame)
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


def test_real_file_is_read_quickly(assets: Path) -> None:
    path = assets / "bvh" / "cmu_49_06.bvh"
    best = math.inf
    for _ in range(5):
        start = time.perf_counter()
        read_bvh(path)
        best = min(best, time.perf_counter() - start)
    assert best < 0.1
