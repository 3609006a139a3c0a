"""BVH: what comes out, every refusal with its line, hostile bytes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flexor.errors import AssetError
from flexor.files.bvh import MAX_DEPTH, MAX_NODES, read_bvh
from flexor.maths import quaternions
from tests.files.bvh_text import (
    SMALL,
    Read,
    attempt,
    codes,
    one_joint,
    refusal,
    same,
    track,
)

# What comes out


def test_small_file_as_scene(read: Read) -> None:
    scene = read(SMALL)
    assert scene.skeleton.names == ("Hips", "Left Leg", "Left Leg end")
    assert scene.skeleton.parents.tolist() == [-1, 0, 1]
    wanted = np.array([[0, 0.9, 0], [0.1, -0.1, 0], [0, -0.8, 0]], np.float32)
    np.testing.assert_array_equal(scene.skeleton.translations, wanted)
    np.testing.assert_array_equal(scene.skeleton.rotations, [[0, 0, 0, 1]] * 3)
    np.testing.assert_array_equal(scene.skeleton.scales, np.ones((3, 3)))
    assert not scene.meshes
    assert not scene.skins
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


def test_many_turns_and_the_first_key(read: Read) -> None:
    half = math.sqrt(0.5)
    for angle, wanted in (
        ("360000000000090", half),
        ("450", half),
        ("350", -0.0871557),
    ):
        values = track(read(one_joint("Yrotation", angle)), 0, "rotation").values
        w = math.sqrt(1 - wanted * wanted)
        np.testing.assert_allclose(values[0], [0, wanted, 0, w], atol=1e-6)


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


@pytest.mark.parametrize(
    ("place", "moved", "found"),
    [
        ("0.1 -0.125 0.0", [0.1, -0.125, 0], []),
        ("0 0 0.01", [0.1, -0.1, 0.01], ["bvh-positions"]),
    ],
)
def test_positions_below_a_root_replace_or_add(
    read: Read, place: str, moved: list[float], found: list[str]
) -> None:
    text = SMALL.replace("3 Z", "6 Xposition Yposition Zposition Z")
    frames = text.replace(" 10.0", f" {place} 10.0")
    scene = read(frames.replace(" 15.0", f" {place} 15.0"))
    assert codes(scene) == found
    values = track(scene, 1, "translation").values[0]
    np.testing.assert_allclose(values, moved, atol=1e-7)


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
    assert error.text == f"more than {MAX_NODES} joints"


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


def test_long_blanks_and_lines_do_not_hang(read: Read) -> None:
    for filler in (" ", "\n", "x", "}", "{", "1 ", "-"):
        for place in ("ROOT ", "OFFSET ", "Frames:", "Frame Time:", "10.0 "):
            at = SMALL.index(place) + len(place)
            text = SMALL[:at] + filler * 200_000 + SMALL[at:]
            result = attempt(read, text)
            assert not isinstance(result, AssetError) or len(result.text) < 300
