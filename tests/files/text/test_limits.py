"""Limits in a text file: what they mean, where they are wrong, and back again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import AssetError, SettingError
from flexor.files.text.limits import limits_text, read_limits
from flexor.maths import quaternions
from flexor.pose.ik.human_limits import human_limits
from flexor.scene.character.bone_frames import node_axes
from flexor.scene.character.limits import Limits, free_limits
from flexor.scene.character.skeleton import Skeleton
from tests.bodies import make_body
from tests.scenes import random_rotations, random_skeleton

WHOLE = """
[joint."*UpperArm"]
z = [-90, 90]
y = [-45, 30.5]
x = [-180, 180]
rate = 720

[joint.leftLowerArm]
z = [-5, 150]
bend = [0, -1, 0]
tip = "leftHand"

[joint."left*Arm"]
rate = 900
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "limits.toml"
    file.write_text(text, "utf-8")
    return file


def axes_of(limits: Limits, skeleton: Skeleton, node: int) -> Any:
    """The bone's X, Y and Z in model space, as columns (3, 3)."""
    frame = quaternions.to_matrix(limits.frames[node].astype(float))
    axes = node_axes(skeleton)[node] @ frame
    return axes / np.linalg.norm(axes, axis=0)


def test_all_words(tmp_path: Path, rng: np.random.Generator) -> None:
    skeleton = make_body(rotations=lambda count: rng.normal(size=(count, 4)))
    limits = read_limits(write(tmp_path, WHOLE), skeleton)
    upper, lower = skeleton.index("leftUpperArm"), skeleton.index("leftLowerArm")
    other = skeleton.index("rightUpperArm")
    assert set(np.nonzero(limits.limited)[0]) == {upper, lower, other}
    for node in (upper, other):
        np.testing.assert_allclose(np.degrees(limits.low[node]), [-90, -45, -180])
        np.testing.assert_allclose(np.degrees(limits.high[node]), [90, 30.5, 180])
    np.testing.assert_allclose(np.degrees(limits.low[lower]), [-5, -90, -180], 1e-6)
    np.testing.assert_allclose(np.degrees(limits.high[lower]), [150, 90, 180], 1e-6)
    rates = np.degrees(limits.rates[[upper, lower, other]])
    np.testing.assert_allclose(rates, [900, 900, 720], rtol=1e-6)
    assert np.isinf(limits.rates[skeleton.index("head")])
    axes = axes_of(limits, skeleton, lower)
    along = np.array([0.25, 0, 0.005])
    np.testing.assert_allclose(axes[:, 0], along / np.linalg.norm(along), atol=1e-5)
    np.testing.assert_allclose(axes[:, 2], [0, -1, 0], atol=1e-5)


def test_turning_about_bend_is_turning_about_that_axis(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """Whatever the node's own axes, and in a mirrored space as well."""
    skeleton = random_skeleton(rng, 5, roots=1, scale="mirror")
    parents = np.arange(-1, 4)
    parts = (skeleton.translations, skeleton.rotations)
    even = np.tile([1.0, 1, 1], (5, 1))
    even[1] = (-1, 1, 1)
    chain = Skeleton(skeleton.names, parents, *parts, even)
    for node in range(5):
        bend = rng.normal(size=3)
        text = f'[joint."node{node}"]\nz = [-90, 90]\nbend = {bend.tolist()}'
        limits = read_limits(write(tmp_path, text), chain)
        turn = 0.3
        frame = limits.frames[node].astype(float)
        spin = np.array([0, 0, math.sin(turn / 2), math.cos(turn / 2)])
        back = frame * [-1, -1, -1, 1]
        local = quaternions.multiply(quaternions.multiply(frame, spin), back)
        linear = node_axes(chain)[node]
        world = linear @ quaternions.to_matrix(local) @ np.linalg.inv(linear)
        along = axes_of(limits, chain, node)[:, 0]
        across = bend - (bend @ along) * along
        across *= math.sin(turn / 2) / np.linalg.norm(across)
        made = quaternions.to_matrix(np.append(across, math.cos(turn / 2)))
        np.testing.assert_allclose(world, made, atol=1e-5)


def test_what_is_left_out_stays(tmp_path: Path) -> None:
    skeleton = make_body()
    base = human_limits(skeleton)
    text = '[joint.leftLowerArm]\nz = [0, 120]\n[joint."right*"]\nrate = 100\n'
    limits = read_limits(write(tmp_path, text), skeleton, base)
    node = skeleton.index("leftLowerArm")
    np.testing.assert_array_equal(limits.frames, base.frames)
    np.testing.assert_array_equal(limits.low[node, 1:], base.low[node, 1:])
    np.testing.assert_allclose(np.degrees(limits.high[node, 0]), 120, rtol=1e-6)
    rest = np.arange(len(skeleton)) != node
    np.testing.assert_array_equal(limits.low[rest], base.low[rest])
    right = skeleton.index("rightFoot")
    np.testing.assert_allclose(np.degrees(limits.rates[right]), 100, rtol=1e-6)


def test_a_new_axis_keeps_the_bone(tmp_path: Path) -> None:
    skeleton = make_body()
    base = human_limits(skeleton)
    text = "[joint.leftLowerArm]\nbend = [0, 1, 0]\n"
    limits = read_limits(write(tmp_path, text), skeleton, base)
    node = skeleton.index("leftLowerArm")
    before, after = (axes_of(one, skeleton, node) for one in (base, limits))
    np.testing.assert_allclose(after[:, 0], before[:, 0], atol=1e-5)
    np.testing.assert_allclose(after[:, 2], -before[:, 2], atol=0.05)


def test_an_empty_file_frees_everything(tmp_path: Path) -> None:
    limits = read_limits(write(tmp_path, ""), make_body())
    assert not limits.limited.any()


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("joints = 1", "line 1", "joints: not known; there are: joint"),
        ("joint = 1", "line 1", "joint: 1, expected a table"),
        ("[joint]\nhead = 3", "line 2", "joint.head: expected a table"),
        ("[joint.hed]", "line 1", "joint.hed: no such node; there are: 'head'"),
        ("[joint.'#900']", "line 1", "no such node; there are:"),
        ("[joint.'zzz*']", "line 1", "there are: 'hips', 'spine'"),
        ("[joint.head]\nw = [0, 1]", "line 2", "joint.head.w: not known; there are: z"),
        (
            "[joint.head]\nz = 3",
            "line 2",
            "joint.head.z: 3, expected a list of numbers",
        ),
        ("[joint.head]\n\nz = [1, 2]", "line 3", "expected two angles, -180 to 0"),
        ("[joint.head]\nz = [-2, -1]", "line 2", "the rest is in between"),
        ("[joint.head]\nz = [0, 1, 2]", "line 2", "expected two angles"),
        ("[joint.head]\nz = [nan, 2]", "line 2", "expected two angles"),
        ("[joint.head]\nz = [-1, 181]", "line 2", "0 to 180"),
        ("[joint.head]\ny = [-91, 0]", "line 2", "-90 to 0 and 0 to 90"),
        ("[joint.head]\ny = ['a', 0]", "line 2", "expected a list of numbers"),
        ("[joint.head]\nz = [true, 0]", "line 2", "expected a list of numbers"),
        ("[joint.head]\nrate = 0", "line 2", "expected degrees a second, above 0"),
        ("[joint.head]\nrate = nan", "line 2", "expected degrees a second"),
        ("[joint.head]\nrate = 'x'", "line 2", "expected a number"),
        ("[joint.head]\nbend = [0, 0, 0]", "line 2", "three numbers, not all 0"),
        ("[joint.head]\nbend = [0, inf, 0]", "line 2", "three numbers, not all 0"),
        ("[joint.head]\nbend = [0, 1]", "line 2", "three numbers"),
        (f"[joint.head]\nbend = [0, 1, 1{'0' * 400}]", "line 2", "three numbers"),
        ("[joint.head]\ntip = 'nose'", "line 2", "joint.head.tip: no node 'nose'; the"),
        ("[joint.head]\ntip = 'head'", "line 1", "tip: 'head' is the joint itself"),
        ("[joint.head]\ntip='jaw'\nalong=[1,0,0]", "line 1", "expected one of them"),
        (
            "[joint.leftMiddleProximal]\nbend = [1, 0, 0]",
            "line 2",
            "lies along the bone",
        ),
    ],
)
def test_faults_name_line_and_key(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    with pytest.raises(AssetError) as caught:
        read_limits(write(tmp_path, text), make_body())
    assert caught.value.pointer == place
    assert words in str(caught.value)
    assert "limits.toml" in str(caught.value)


@pytest.mark.parametrize("text", ["[joint", "[joint.a]\nz = [0, 1]\nz = [0, 1]", "\0"])
def test_no_toml(tmp_path: Path, text: str) -> None:
    with pytest.raises(AssetError, match="is no TOML"):
        read_limits(write(tmp_path, text), make_body())


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="directory"):
        read_limits(tmp_path, make_body())
    with pytest.raises(AssetError, match="No such file"):
        read_limits(tmp_path / "none.toml", make_body())


def test_huge_and_tiny_rates(tmp_path: Path) -> None:
    text = "[joint.head]\nrate = 1e300\n[joint.neck]\nrate = inf\n"
    limits = read_limits(write(tmp_path, text), make_body())
    assert np.isinf(limits.rates).all()


def assert_same(one: Limits, other: Limits) -> None:
    for name in ("low", "high", "rates", "limited"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    frames, others = (x.frames[x.limited].astype(float) for x in (one, other))
    dots = np.abs((frames * others).sum(axis=1))
    np.testing.assert_allclose(dots, 1, atol=1e-6)


def test_human_limits_come_back(tmp_path: Path, rng: np.random.Generator) -> None:
    skeleton = make_body(rotations=lambda count: rng.normal(size=(count, 4)), drop=40)
    limits = human_limits(skeleton)
    text = limits_text(limits, skeleton)
    assert '[joint."leftLowerArm"]\nz = [' in text
    assert_same(read_limits(write(tmp_path, text), skeleton), limits)


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.data())
def test_any_limits_come_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    count = 5
    skeleton = random_skeleton(rng, count, scale="even")
    letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    odd = st.one_of(letters, st.sampled_from("ab*?[]\"'#\\"))
    names = tuple(data.draw(odd) for _ in range(count))
    names = tuple(name.removeprefix("#") for name in names)
    parts = (skeleton.translations, skeleton.rotations, skeleton.scales)
    skeleton = Skeleton(names, skeleton.parents, *parts)
    most = np.array([math.pi, math.pi / 2, math.pi])
    low, high = rng.uniform(0, 1, (2, count, 3)) * most
    low = -low
    low[0], high[0] = -most, most
    rates = np.where(rng.random(count) < 0.5, np.inf, rng.uniform(0.1, 90, count))
    limits = Limits(random_rotations(rng, count), low, high, rates)
    file = tmp_path_factory.mktemp("limits") / "limits.toml"
    file.write_text(limits_text(limits, skeleton), "utf-8")
    assert_same(read_limits(file, skeleton), limits)


def test_nodes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    skeleton = Skeleton(
        ("a", "a", "", "b\ud800"),
        np.array([-1, 0, 1, 2]),
        np.tile([0.0, 1, 0], (4, 1)),
        np.tile([0.0, 0, 0, 1], (4, 1)),
        np.ones((4, 3)),
    )
    high = np.array([[1.0, 1, 1], [2, 1, 1], [0.5, 0, 0], [0.25, 0, 0]])
    limits = Limits(skeleton.rotations.copy(), -high, high, np.full(4, np.inf))
    text = limits_text(limits, skeleton)
    assert '[joint."#1"]  # a' in text
    assert_same(read_limits(write(tmp_path, text), skeleton), limits)


def test_other_skeletons_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="limits: of 2 joints"):
        limits_text(free_limits(2), make_body())
    with pytest.raises(SettingError, match="base: limits of 2 joints"):
        read_limits(write(tmp_path, ""), make_body(), free_limits(2))


def test_the_usual_directions(tmp_path: Path) -> None:
    """To the child that goes on longest; straight on at an end; up for one alone."""
    places = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 2], [0, 0, 1], [0, 0, 0.0]])
    skeleton = Skeleton(
        ("root", "short", "long", "end", "lone"),
        np.array([-1, 0, 0, 2, -1]),
        places,
        np.tile([0.0, 0, 0, 1], (5, 1)),
        np.ones((5, 3)),
    )
    text = "[joint.'*']\nz = [-10, 10]\n"
    limits = read_limits(write(tmp_path, text), skeleton)
    ways = [axes_of(limits, skeleton, node)[:, 0] for node in range(5)]
    wanted = [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 0]]
    np.testing.assert_allclose(ways, wanted, atol=1e-6)
    for node in range(4):
        assert abs(axes_of(limits, skeleton, node)[1, 2]) < 1e-6  # level
