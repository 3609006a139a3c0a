"""Root motion: what is taken out of a clip and what is left make up the clip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.api.playing import Player
from flexor.errors import SettingError, ShapeError
from flexor.maths import quaternions, transforms
from flexor.pose.clips.root_motion import RootMotion, extract_root_motion, steady_motion
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton
from tests.scenes import plain_scene, random_rotations

Rng = np.random.Generator


def about_y(angles: Any) -> Any:
    angles = np.asarray(angles, float)
    zero = np.zeros_like(angles)
    return np.stack([zero, np.sin(angles / 2), zero, np.cos(angles / 2)], -1)


def make_walker(
    rng: Rng,
    *,
    seconds: float = 1.5,
    keys: int = 46,
    turn: float = 1.2,
    kind: Any = "LINEAR",
    has_moving_root: bool = False,
) -> Character:
    """Armature upright in Z and scaled to centimetres, hips, leg, and a prop outside.

    The hips walk along a curve of `turn` radians, sway, bob and lean; in the file they
    are in centimetres and have Z up.
    """
    upright = np.array([-np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    names = ("armature", "root", "hips", "leg", "prop")
    parents = np.array([-1, 0, 1, 2, -1])
    rest = np.array([[0.3, 0, -0.2], [0, 0, 0], [0, 0, 95], [0, 0, -40], [1, 1, 1]])
    turns = np.stack([upright, about_y(0.3), *random_rotations(rng, 3)])
    sizes = np.ones((5, 3))
    sizes[0], sizes[1] = 0.01, 2.0
    skeleton = Skeleton(names, parents, rest, turns, sizes)
    times = np.linspace(0, seconds, keys)
    heading = turn * times / seconds
    phase = 2 * np.pi * times / seconds
    world = np.stack(
        [
            np.sin(heading) + 0.03 * np.sin(phase),
            0.95 + 0.02 * np.cos(2 * phase),
            times,
        ],
        1,
    )
    above = transforms.multiply(
        *(transforms.compose(rest[i], turns[i], sizes[i]) for i in (0, 1))
    )
    local = transforms.apply(transforms.invert(above), world)
    lean = np.stack([0.1 * np.sin(phase), 0 * phase, 0.05 * np.cos(phase)], 1)
    leans = quaternions.normalise(np.concatenate([lean, np.ones((keys, 1))], 1))
    wanted = quaternions.multiply(about_y(heading), leans)
    above_turn = quaternions.multiply(turns[0], turns[1])
    local_turns = quaternions.multiply(above_turn * [-1, -1, -1, 1], wanted)
    values = [local, local_turns]
    if kind == "CUBICSPLINE":
        values = [
            np.stack(
                [np.gradient(v, times, axis=0), v, np.gradient(v, times, axis=0)], 1
            )
            for v in values
        ]
    swing = quaternions.normalise(
        np.stack([0.4 * np.sin(phase), *[0 * phase] * 2, 1 + 0 * phase], 1)
    )
    tracks = [
        Track(3, "rotation", times, swing),
        Track(2, "translation", times, values[0], kind),
        Track(2, "rotation", times, values[1], kind),
    ]
    if has_moving_root:
        tracks.append(
            Track(1, "rotation", times[::5].copy(), about_y(0.3 + 0.2 * times[::5]))
        )
    return Character(plain_scene(skeleton, Clip("walk", tuple(tracks))))


def check_parts(hero: Character, clip: Clip, motion: RootMotion, below: Any) -> None:
    """The way times the clip on the spot is the clip, at keys and between."""
    times = np.linspace(0, clip.duration, 181)  # keys, and three between
    still = Character(plain_scene(hero.skeleton, clip)).pose_many("walk", times)
    whole = hero.pose_many("walk", times)
    made = transforms.multiply(motion.at(times)[:, None], still.world.astype(float))
    size = np.abs(whole.world).max()
    np.testing.assert_allclose(made[:, below], whole.world[:, below], atol=4e-5 * size)


@pytest.mark.parametrize("turn", [True, False])
@pytest.mark.parametrize("height", [True, False])
@pytest.mark.parametrize("kind", ["LINEAR", "CUBICSPLINE"])
@pytest.mark.parametrize("has_moving_root", [True, False])
def test_the_parts_make_up_the_clip(
    turn: bool, height: bool, kind: str, has_moving_root: bool, rng: Rng
) -> None:
    hero = make_walker(rng, kind=kind, has_moving_root=has_moving_root)
    clip, motion = extract_root_motion(
        hero.clips["walk"], hero.skeleton, turn=turn, height=height
    )
    assert clip.name == "walk"
    assert clip.duration == hero.clips["walk"].duration
    check_parts(hero, clip, motion, [2, 3])
    times = np.linspace(0, clip.duration, 200)
    still = Character(plain_scene(hero.skeleton, clip)).pose_many("walk", times)
    hips = still.world[:, 2, :, 3]
    assert np.ptp(hips[:, [0, 2]], axis=0).max() < 1e-4
    assert (np.ptp(hips[:, 1]) < 1e-4) == height
    assert motion.headings.any() == turn
    assert motion.places[:, 1].any() == height
    last = motion.at(np.array(clip.duration))
    assert np.linalg.norm(last[:, 3]) > 0.5


@pytest.mark.parametrize("turn", [True, False])
@pytest.mark.parametrize("height", [True, False])
def test_the_clip_on_the_spot_is_where_the_joint_rests(
    turn: bool, height: bool, rng: Rng
) -> None:
    """Wherever the clip starts and looks, over the ground; unless it is to stay."""
    hero = make_walker(rng)
    rest = hero.pose().world[2].astype(float)
    away = transforms.compose(np.array([5.0, 0, -3]), about_y(2.4), np.ones(3))
    clip = moved_clip(hero, away)
    far = Character(plain_scene(hero.skeleton, clip))
    first = far.pose("walk", 0).world[2].astype(float)
    for centre in (True, False):
        still, motion = extract_root_motion(
            clip, hero.skeleton, turn=turn, height=height, centre=centre
        )
        check_parts(far, still, motion, [2, 3])
        made = Character(plain_scene(hero.skeleton, still)).pose("walk", 0).world[2]
        if not centre:
            assert not motion.places[0].any()
            assert not motion.headings[0]
            np.testing.assert_allclose(made, first, atol=1e-5)
            continue
        np.testing.assert_allclose(made[[0, 2], 3], rest[[0, 2], 3], atol=1e-5)
        assert made[1, 3] == pytest.approx(first[1, 3], abs=1e-5)
        # What is left of the turn from rest to the first frame is not about Y.
        left = made[:, :3].astype(float) @ np.linalg.inv(rest[:, :3])
        about = np.arctan2(left[0, 2] - left[2, 0], left[0, 0] + left[2, 2])
        assert (abs(about) < 1e-5) == turn


def moved_clip(hero: Character, away: Any) -> Clip:
    """The walk, its hips moved by an affine (3, 4) in the world."""
    above = hero.pose().world[1].astype(float)
    into = transforms.multiply(
        transforms.invert(above), transforms.multiply(away, above)
    )
    turned = quaternions.multiply(
        *(
            quaternions.normalise(hero.skeleton.rotations[i].astype(float))
            for i in (0, 1)
        )
    )
    spin = quaternions.multiply(about_y(2.4), turned)
    spin = quaternions.multiply(turned * [-1, -1, -1, 1], spin)
    tracks = []
    for track in hero.clips["walk"].tracks:
        values = track.values.astype(float)
        if track.node == 2 and track.path == "translation":
            values = transforms.apply(into, values)
        elif track.node == 2:
            values = quaternions.multiply(spin, values)
        tracks.append(Track(track.node, track.path, track.times, values))
    return Clip("walk", tuple(tracks))


def test_a_capture_stands_on_its_place(rng: Rng) -> None:
    """Wherever in its room: also in a fade to another, and when it is turned."""
    hero = make_walker(rng)
    away = transforms.compose(np.array([5.0, 0, -3]), about_y(2.4), np.ones(3))
    clips = {"walk": hero.clips["walk"], "far": moved_clip(hero, away)}
    player = Player(hero, 2, root_motion=["walk", "far"], clips=clips)
    player.places[1] = transforms.compose(
        np.array([1.0, 0, 2]), about_y(1.1), np.ones(3)
    )
    rest = hero.pose().world[2, :, 3].astype(float) * [1, 0, 1]
    player.play("walk")
    for frame in range(120):
        if frame == 30:
            player.play("far", fade=0.4)
        player.advance(1 / 30)
        wanted = player.places[..., :3] @ rest + player.places[..., 3]
        off = player.world[:, 2, :, 3] - wanted
        np.testing.assert_allclose(off[:, [0, 2]], 0, atol=1e-4)


def test_one_frame_is_put_on_the_spot(rng: Rng) -> None:
    hero = make_walker(rng)
    keys = [track for track in hero.clips["walk"].tracks if track.node == 2]
    tracks = [Track(2, k.path, k.times[:1], k.values[20:21]) for k in keys]
    still, motion = extract_root_motion(Clip("walk", tuple(tracks)), hero.skeleton)
    assert motion.times.tolist() == [0]
    assert np.abs(motion.places).max() > 0.1
    made = Character(plain_scene(hero.skeleton, still)).pose("walk", 0).world[2, :, 3]
    rest = hero.pose().world[2, :, 3]
    np.testing.assert_allclose(made[[0, 2]], rest[[0, 2]], atol=1e-5)


def test_an_arm_that_turns_does_not_turn_the_character() -> None:
    names = ("root", "hips", "leg", "foot", "arm", "hand", "hat")
    skeleton = Skeleton(
        names,
        [-1, 0, 1, 2, 1, 4, 0],
        np.ones((7, 3)),
        np.tile([0.0, 0, 0, 1], (7, 1)),
        np.ones((7, 3)),
    )
    turns = about_y(np.array([0.4, 0.9]))
    for node, is_taken in ((4, False), (2, False), (1, True), (0, True)):
        clip = Clip("turn", (Track(node, "rotation", np.array([0, 1.0]), turns),))
        still, motion = extract_root_motion(clip, skeleton)
        assert (still is not clip) == is_taken
        wanted = [0.4, 0.9] if is_taken else [0, 0]
        np.testing.assert_allclose(motion.headings[[0, -1]], wanted, atol=1e-6)


def test_few_keys_that_turn_far(rng: Rng) -> None:
    """Two keys a quarter turn apart: keys are added until it fits."""
    hero = make_walker(rng, keys=3, turn=2.5)
    clip, motion = extract_root_motion(hero.clips["walk"], hero.skeleton)
    check_parts(hero, clip, motion, [2, 3])
    assert len(motion.times) > 20
    plain = make_walker(rng, turn=0.0)
    _, straight = extract_root_motion(
        plain.clips["walk"], plain.skeleton, "hips", turn=False
    )
    np.testing.assert_array_equal(straight.times, plain.clips["walk"].tracks[1].times)


def test_the_joint_that_travels_is_found(rng: Rng) -> None:
    hero = make_walker(rng)
    clip = hero.clips["walk"]
    default = extract_root_motion(clip, hero.skeleton)[1]
    for node in (2, "hips"):
        named = extract_root_motion(clip, hero.skeleton, node)[1]
        np.testing.assert_array_equal(named.places, default.places)
    with pytest.raises(SettingError, match="no node 'hip'"):
        extract_root_motion(clip, hero.skeleton, "hip")
    for bad in (5, -1, 1.5, [0], True):
        with pytest.raises(SettingError, match="expected a name or 0 to 4"):
            extract_root_motion(clip, hero.skeleton, bad)


def test_of_several_the_widest(rng: Rng) -> None:
    """The prop beside the hips moves too, but not far; both hang as deep."""
    hero = make_walker(rng)
    tree = hero.skeleton
    parents = np.array([-1, 0, 1, 2, 1])
    skeleton = Skeleton(
        tree.names, parents, tree.translations, tree.rotations, tree.scales
    )
    near = Track(
        4, "translation", np.array([0, 1.5]), np.array([[0, 0, 0], [1.0, 0, 0]])
    )
    clip = Clip("walk", (near, *hero.clips["walk"].tracks))
    found = extract_root_motion(clip, skeleton)[1]
    wanted = extract_root_motion(clip, skeleton, "hips")[1]
    np.testing.assert_array_equal(found.places, wanted.places)


def test_nothing_to_take_out(rng: Rng) -> None:
    skeleton = make_walker(rng).skeleton
    for clip in (
        Clip("walk", ()),
        Clip("walk", (Track(3, "scale", [0.0, 1], np.ones((2, 3))),)),
    ):
        same, motion = extract_root_motion(clip, skeleton)
        assert same is clip
        assert not motion.places.any()
    hero = plain_scene(skeleton, Clip("walk", ()))
    player = Player(Character(hero), root_motion=True)
    player.play("walk")
    player.advance(1.0)
    np.testing.assert_array_equal(player.places[0], np.eye(3, 4))


def test_uneven_frames_above(rng: Rng) -> None:
    hero = make_walker(rng)
    tree = hero.skeleton
    for size, text in (
        ([1, 2, 1], "scaled unevenly.*turn=False"),
        ([0, 0, 0], "to nothing"),
    ):
        sizes = tree.scales.copy()
        sizes[1] = size
        skeleton = Skeleton(
            tree.names, tree.parents, tree.translations, tree.rotations, sizes
        )
        with pytest.raises(SettingError, match=text):
            extract_root_motion(hero.clips["walk"], skeleton)
        if sizes.all():
            clip, motion = extract_root_motion(hero.clips["walk"], skeleton, turn=False)
            other = Character(plain_scene(skeleton, hero.clips["walk"]))
            check_parts(other, clip, motion, [2, 3])


def test_played_it_is_the_clip_and_walks_on(rng: Rng) -> None:
    """World matrices over three rounds, in one crowd at several starts and speeds."""
    hero = make_walker(rng)
    _, motion = extract_root_motion(hero.clips["walk"], hero.skeleton)
    duration = hero.clips["walk"].duration
    player = Player(hero, 3, root_motion=True)
    starts, speeds = np.array([0, 0.4, 1.1]), np.array([1, 0.7, -1.3])
    player.play("walk", start=starts, speed=speeds)
    first = motion.at(starts)
    start, end = motion.at(np.array([0, duration]))
    total = transforms.multiply(end, transforms.invert(start))
    for frame in range(1, 130):
        player.advance(1 / 30)
        line = starts + speeds * frame / 30
        rounds, times = np.floor(line / duration), line % duration
        whole = hero.pose_many("walk", times).world.astype(float)
        world = player.world
        for n in range(3):
            way = transforms.invert(first[n])
            step = total if rounds[n] > 0 else transforms.invert(total)
            for _ in range(int(abs(rounds[n]))):
                way = transforms.multiply(way, step)
            wanted = transforms.multiply(way, whole[n])
            size = max(1, np.abs(wanted).max())
            np.testing.assert_allclose(world[n, 2:4], wanted[2:4], atol=1e-4 * size)
    assert np.linalg.norm(player.places[0, :, 3]) > 1.5


def test_long_steps_come_as_far_as_short_ones(rng: Rng) -> None:
    hero = make_walker(rng)
    for mode in ("loop", "ping-pong", "once"):
        made = []
        for count in (1, 7, 350):
            player = Player(hero, root_motion=True)
            player.play("walk", mode=mode)  # type: ignore[arg-type]
            for _ in range(count):
                player.advance(7 / count)
            made.append(player.places[0].copy())
        np.testing.assert_allclose(made[0], made[1], atol=1e-9)
        np.testing.assert_allclose(made[0], made[2], atol=1e-9)


def test_in_the_heading_of_the_place(rng: Rng) -> None:
    """Turned, moved and scaled places walk their own way."""
    hero = make_walker(rng)
    player = Player(hero, 2, root_motion=True)
    place = transforms.compose(np.array([3.0, 1, 2]), about_y(0.7), np.full(3, 2.0))
    player.places[1] = place
    player.play("walk")
    for _ in range(50):
        player.advance(0.06)
    wanted = transforms.multiply(place, player.places[0])
    np.testing.assert_allclose(player.places[1], wanted, atol=1e-12)


def test_blended_by_weights(rng: Rng) -> None:
    """Halfway from walking straight to standing: half the speed."""
    track = Track(0, "translation", np.array([0, 1.0]), np.zeros((2, 3)))
    skeleton = Skeleton(
        ("root",), [-1], np.zeros((1, 3)), [[0, 0, 0, 1]], np.ones((1, 3))
    )
    clips = [Clip(name, (track,)) for name in ("walk", "run", "stand")]
    hero = Character(plain_scene(skeleton, *clips))
    ways = {
        "walk": steady_motion(1.0, (0, 0, 1.0)),
        "run": steady_motion(1.0, (0, 0, 3.0), turn=0.5),
    }
    player = Player(hero, root_motion=ways)
    player.play("walk")
    player.advance(0.5)
    player.play("run", fade=1.0)
    speeds, turns = [], []
    for _ in range(20):
        player.advance(0.05)
        speeds.append(np.linalg.norm(player.state.travel[0, :3]) / 0.05)
        turns.append(player.state.travel[0, 3] / 0.05)
    part = (np.arange(20) + 0.5) / 20
    np.testing.assert_allclose(speeds, 1 + 2 * part, atol=2e-3)
    np.testing.assert_allclose(turns, 0.5 * part, atol=1e-9)
    player.play("stand", fade=0.5)
    for _ in range(10):
        player.advance(0.05)
    before = player.places.copy()
    player.advance(0.3)
    np.testing.assert_array_equal(player.places, before)


def test_layers_above_do_not_move_the_place(rng: Rng) -> None:
    hero = make_walker(rng)
    player = Player(hero, layers=["legs", "arms"], root_motion=["walk"])
    player.play("walk", layer="arms")
    player.advance(0.7)
    np.testing.assert_array_equal(player.places[0], np.eye(3, 4))


def test_steady_motion() -> None:
    """A turning way is an arc of a circle."""
    motion = steady_motion(2.0, (0, 0, 1.5), turn=np.pi / 4)
    end = motion.at(np.array(2.0))
    radius = 1.5 / (np.pi / 4)
    np.testing.assert_allclose(end[:, 3], [radius, 0, radius], rtol=1e-3)
    np.testing.assert_allclose(end[:, 2], [1, 0, 0], atol=1e-12)
    for bad in ((0.0, (0, 0, 1)), (np.nan, (0, 0, 1)), (1.0, (0, np.inf, 1))):
        with pytest.raises(SettingError, match="steady_motion"):
            steady_motion(*bad)  # type: ignore[arg-type]
    for other in ((1.0, 5), (1.0, None), ("x", (0, 0, 1)), (1, (0, 0, 10**400))):
        with pytest.raises(SettingError, match="steady_motion"):
            steady_motion(*other)  # type: ignore[arg-type]
    for velocity in ((0, 0), (0, 0, 0, 1), np.zeros((3, 0))):
        with pytest.raises((SettingError, ShapeError), match="steady_motion"):
            steady_motion(1.0, velocity)  # type: ignore[arg-type]


def test_bad_ways() -> None:
    line, zero = np.array([0, 1.0]), np.zeros((2, 3))
    for times, places, headings, text in (
        (line + 1, zero, line * 0, "from 0 on"),
        (line[::-1], zero, line * 0, "from 0 on"),
        (line, zero * np.nan, line * 0, "finite"),
        (line, zero[:1], line * 0, "shape"),
        (line[:0], zero[:0], line[:0], "from 0 on"),
    ):
        with pytest.raises(ShapeError, match=text):
            RootMotion(times.copy(), places.copy(), headings.copy())
