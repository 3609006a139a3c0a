"""`flexor.Player`: a character that plays, as programs hold it."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api import playing
from flexor.api.character import Character
from flexor.errors import SettingError
from flexor.maths import transforms
from flexor.pose.clips.root_motion import extract_root_motion, steady_motion
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from tests.pose.play.players import smooth_scene
from tests.scenes import plain_scene, random_scene

Rng = np.random.Generator


@pytest.fixture
def hero(rng: Rng) -> Character:
    return Character(random_scene(rng))


def test_a_pose_of_one_or_of_many(hero: Character) -> None:
    for count in (1, 3):
        player = flexor.Player(hero, count)
        player.play("linear", start=0.5)
        pose, wanted = player.pose, hero.pose("linear", 0.5)
        assert pose.is_many == (count > 1)
        one = pose[2] if pose.is_many else pose
        for name in ("translations", "rotations", "scales", "world", "weights"):
            np.testing.assert_array_equal(getattr(one, name), getattr(wanted, name))
        for made, part in zip(hero.deform(one), hero.deform(wanted), strict=True):
            np.testing.assert_array_equal(made.positions, part.positions)


def test_poses_are_kept(hero: Character) -> None:
    """What was given out does not change with the next step."""
    player = flexor.Player(hero)
    player.play("mixed")
    pose = player.pose
    before = pose.world.copy(), pose.weights.copy()
    player.advance(0.5)
    np.testing.assert_array_equal(pose.world, before[0])
    np.testing.assert_array_equal(pose.weights, before[1])
    assert (player.pose.world != before[0]).any()


def test_what_was_begun_shows_at_once(hero: Character) -> None:
    """Without a step: after `play`, `set_weight` and `stop`."""
    player = flexor.Player(hero, layers=["a", flexor.Layer("b", mask="node1")])
    rest = player.pose.world
    np.testing.assert_array_equal(rest, hero.pose().world)
    player.play("linear", layer="b", start=1.0)
    assert (player.pose.world != rest).any()
    player.set_weight("b", 0)
    np.testing.assert_array_equal(player.local[0], hero.layout.rest)
    player.set_weight("b", 1)
    assert (player.local[0] != hero.layout.rest).any()
    player.stop("b")
    np.testing.assert_array_equal(player.world[0], rest)


def test_changes_to_local_show(hero: Character) -> None:
    """For inverse kinematics and the like: between the step and the picture."""
    player = flexor.Player(hero)
    player.play("linear")
    player.advance(0.3)
    before = player.pose
    player.local[:, hero.layout.lane_of_node[0]] += 1  # x of node 0
    after = player.pose
    np.testing.assert_allclose(after.translations[0, 0], before.translations[0, 0] + 1)
    assert (after.world[0] != before.world[0]).any()


def test_places(hero: Character) -> None:
    player = flexor.Player(hero, 2)
    player.play("linear")
    player.advance(0.4)
    player.places[1, :, 3] = 5, 0, 2
    world = player.world
    np.testing.assert_allclose(
        world[1, :, :, 3], world[0, :, :, 3] + [5, 0, 2], atol=1e-6
    )
    place = player.places[1]
    moved = player.pose[0].moved(place)
    np.testing.assert_allclose(player.pose[1].world, moved.world, atol=1e-5)


def test_links_follow(rng: Rng) -> None:
    """A link stands where `hero.pose` has it, whatever layers do."""
    scene = smooth_scene(rng)
    tree = scene.skeleton
    parents = np.array([-1, 0, 1, 1, 1])  # node 4 follows node 3
    parts = (tree.translations, tree.rotations, tree.scales)
    links = {4: Link(3, 0.5)}
    skeleton = Skeleton(tree.names, parents, *parts, links=links)
    hero = Character(plain_scene(skeleton, *scene.clips.values()))
    player = flexor.Player(hero)
    player.play("a")
    player.advance(0.4)
    np.testing.assert_array_equal(player.pose.world, hero.pose("a", 0.4).world)


def test_clips_of_ones_own(hero: Character) -> None:
    """Beside the character's, in place of one, and by another name than their own."""
    track = Track(0, "translation", np.array([0, 1.0]), np.ones((2, 3)))
    clip = Clip("other", (track,))
    player = flexor.Player(hero, clips={"mine": clip, "linear": clip})
    for name in ("mine", "linear"):
        player.play(name)
        np.testing.assert_array_equal(player.pose.translations[0], [1, 1, 1])
    player.play("step")


def test_what_cannot_be(hero: Character) -> None:
    there = "there are: 'linear', 'step', 'cubic', 'mixed'"
    with pytest.raises(SettingError, match=f"no clip 'walk'; {there}"):
        flexor.Player(hero).play("walk")
    with pytest.raises(SettingError, match=f"root_motion: no clip 'walk'; {there}"):
        flexor.Player(hero, root_motion=["walk"])
    for bad in ("linear", 3):
        with pytest.raises(SettingError, match="expected True or names"):
            flexor.Player(hero, root_motion=bad)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="hero: int, expected a Character"):
        flexor.Player(5)  # type: ignore[arg-type]
    way = steady_motion(1.0, (0, 0, 1))
    for other in (5, (hero.clips["linear"],), (5, way), (hero, way), "linear"):
        with pytest.raises(SettingError, match=r"root_motion\['linear'\]: .*expected"):
            flexor.Player(hero, root_motion={"linear": other})  # type: ignore
    with pytest.raises(SettingError, match="expected names of clips"):
        flexor.Player(hero, root_motion=[["linear"]])  # type: ignore[list-item]
    with pytest.raises(SettingError, match="root_motion: no clip 3"):
        flexor.Player(hero, root_motion={3: way})  # type: ignore[dict-item]
    for clips in ({"a": 5}, {3: hero.clips["linear"]}, 5, [1]):
        with pytest.raises(SettingError, match=r"clips.*expected"):
            flexor.Player(hero, clips=clips)  # type: ignore[arg-type]
    for layers in (5, [5], [None]):
        with pytest.raises(SettingError, match=r"layers: .*expected"):
            flexor.Player(hero, layers=layers)  # type: ignore
    with pytest.raises(SettingError, match="count: 10000000000000"):
        flexor.Player(hero, 10**13)
    with pytest.raises(SettingError, match="no node fits 'spine'"):
        flexor.Player(hero, layers=[flexor.Layer("a", mask="spine")])
    for count in (1.5, True, "many"):
        with pytest.raises(SettingError, match="count"):
            flexor.Player(hero, count)  # type: ignore[arg-type]


def test_points_of_nodes(hero: Character) -> None:
    """One for each character and node, in that order; those of `local` as it is."""
    player = flexor.Player(hero, 2)
    player.places[1, :, 3] = [1, 2, 3]
    player.play("linear", start=[0.1, 0.6])
    names = [hero.skeleton.names[node] for node in (4, 1)]
    points = player.points(names)
    assert points.shape == (2, 2, 3)
    for n in range(2):
        for m, node in enumerate((4, 1)):
            np.testing.assert_array_equal(points[n, m], player.world[n, node, :, 3])
    np.testing.assert_array_equal(player.points([4, 1]), points)
    assert player.points([]).shape == (2, 0, 3)
    kept = points.copy()
    player.local[:] = hero.layout.rest
    np.testing.assert_array_equal(points, kept)  # an array of its own
    rest = hero.pose().world[4, :, 3]
    np.testing.assert_allclose(player.points(names)[0, 0], rest, atol=1e-6)
    with pytest.raises(SettingError, match="no node 'hand'"):
        player.points(["hand"])
    with pytest.raises(SettingError, match="node -1, expected 0 to 10"):
        player.points([-1])
    nothing: Any
    for nothing in ("node1", 5, None):
        with pytest.raises(SettingError, match="expected a list of names"):
            player.points(nothing)
    for nothing in (None, 1.5, True):
        with pytest.raises(SettingError, match="expected a name or a row"):
            player.points([nothing])


def test_repr(hero: Character) -> None:
    text = repr(flexor.Player(hero, 3, layers=["legs", "arms"]))
    assert "3 of Character(11 nodes" in text
    assert "'legs', 'arms'" in text


@pytest.fixture(scope="module")
def mannequin() -> Character:
    return flexor.samples.mannequin()


@pytest.mark.slow
def test_docstrings_are_true() -> None:
    failed, tried = doctest.testmod(playing)
    assert tried
    assert not failed


@pytest.mark.slow
def test_the_mannequin_walks_on(mannequin: Character) -> None:
    """Its walk is made on the spot, so its feet must not slide at the speed it says."""
    clip = mannequin.clips["walk"]
    assert clip.carried is not None
    speed = clip.carried["extras"]["speed"]
    way = {"walk": steady_motion(clip.duration, (0, 0, speed))}
    player = flexor.Player(mannequin, root_motion=way)
    player.play("walk")
    feet = [mannequin.skeleton.index(name) for name in ("l-foot", "r-foot")]
    places = []
    for _ in range(240):
        player.advance(1 / 60)
        places.append(player.world[0, feet, :, 3].copy())
    assert player.places[0, 2, 3] == pytest.approx(4 * speed, rel=1e-6)
    # At every moment one foot stands: the slower one hardly moves.
    steps = np.linalg.norm(np.diff(np.array(places), axis=0)[..., [0, 2]], axis=-1)
    assert np.median(steps.min(1)) * 60 < 0.25 * speed


@pytest.mark.slow
def test_the_mannequin_in_place(mannequin: Character) -> None:
    """Sent ahead in its clip, then taken back out of it: the same walk."""
    clip = mannequin.clips["walk"]
    hips = mannequin.skeleton.index("hips")
    tracks = []
    for track in clip.tracks:
        values = track.values
        if track.node == hips and track.path == "translation":
            values = values + np.outer(track.times, [0, 0, 1.35]).astype(np.float32)
        tracks.append(Track(track.node, track.path, track.times, values))
    going = Clip("going", tuple(tracks))
    still, motion = extract_root_motion(going, mannequin.skeleton)
    went = motion.places[-1] - motion.places[0]
    assert went[2] == pytest.approx(1.35, abs=1e-3)
    player = flexor.Player(
        mannequin, clips={"going": going}, root_motion={"going": (still, motion)}
    )
    player.places[0] = motion.at(np.zeros(()))  # where the clip begins
    plain = flexor.Player(mannequin, clips={"going": going})
    for one in (player, plain):
        one.play("going")
    for frame in range(1, 180):
        player.advance(1 / 60)
        plain.advance(1 / 60)
        on = np.eye(3, 4)
        on[2, 3] = 1.35 * np.floor(frame / 60 + 1e-9)
        wanted = transforms.multiply(on, plain.world[0].astype(float))
        if frame % 60 == 0:  # the end of one round is the start of the next
            continue
        assert np.abs(player.world[0, :-1, :, 3] - wanted[:-1, :, 3]).max() < 2e-3


@pytest.mark.slow
def test_the_mannequin_runs_and_punches(mannequin: Character) -> None:
    """Two lines: run below, punch above; each joint does what its layer says."""
    above = flexor.Layer("above", mask="spine1")
    player = flexor.Player(mannequin, layers=["below", above])
    player.play("run")
    player.play("punch", layer="above", mode="once", fade=0.1, leave=0.15)
    shares = []
    for frame in range(1, 80):
        player.advance(1 / 60)
        run: Any = mannequin.pose("run", frame / 60 % mannequin.clips["run"].duration)
        pose = player.pose
        legs = mannequin.skeleton.index("l-knee"), mannequin.skeleton.index("hips")
        for joint in legs:
            np.testing.assert_array_equal(pose.rotations[joint], run.rotations[joint])
        arm = mannequin.skeleton.index("r-arm")
        shares.append(np.abs(pose.rotations[arm] - run.rotations[arm]).max())
    assert max(shares[10:40]) > 0.2
    assert max(shares[55:]) == 0
