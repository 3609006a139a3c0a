"""Cuts are exact, seams are where they should be, backwards twice is forwards."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.convert.motion.reduce import reduce_clip
from flexor.errors import SettingError
from flexor.maths import quaternions
from flexor.pose.clips.cut import change_speed, concatenate, resample, reverse, trim
from flexor.pose.clips.mirror import mirror_clip
from flexor.pose.clips.retarget.retarget import retarget
from flexor.pose.clips.track_values import angles_between
from flexor.scene.character.clip import Clip, Path, Track
from flexor.scene.runtime.packed_clip import PackedClip
from tests.oracle import pose as oracle
from tests.scenes import (
    INTERPOLATIONS,
    random_clip,
    random_skeleton,
    random_times,
    random_track,
)

Rng = np.random.Generator
FEW = settings(max_examples=60)
SEEDS = st.integers(0, 2**32 - 1)


def check_track(track: Track, expected: Any, time: float, atol: float = 2e-5) -> None:
    """The track at a time is `expected` (C,); of rotations the turn counts."""
    got = oracle.sample_track(track, time)
    if track.path == "rotation":
        one, two = quaternions.normalise(got), quaternions.normalise(expected)
        assert float(angles_between(one, two)) < 10 * atol
    else:
        size = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(got, expected, atol=atol * size)


def by_place(clip: Clip) -> dict[tuple[int, str], Track]:
    return {(track.node, track.path): track for track in clip.tracks}


@FEW
@given(SEEDS, st.sampled_from([*INTERPOLATIONS, None]), st.data())
def test_a_piece_is_the_clip_at_shifted_times(seed: int, kind: Any, data: Any) -> None:
    clip = random_clip(np.random.default_rng(seed), "c", 4, interpolation=kind)
    if not clip.tracks:
        return
    last = clip.duration
    start = data.draw(st.floats(0, 0.9)) * last
    end = start + data.draw(st.floats(0.05, 1)) * (last - start)
    piece = trim(clip, start, end)
    assert piece.duration == pytest.approx(end - start, abs=1e-6)
    for track, whole in zip(piece.tracks, clip.tracks, strict=True):
        assert track.times[0] == 0
        assert track.interpolation == whole.interpolation
        assert len(whole.times) == 1 or track.times[-1] == np.float32(end - start)
        for u in np.linspace(0, 1, 23):
            moment = float(u * (end - start))
            keys = whole.times.astype(float) - start
            if kind != "LINEAR" and np.abs(keys - moment).min() < 1e-5:
                continue  # steps, on one side or the other
            # Times and slopes are rounded to float32; slopes may be steep.
            check_track(track, oracle.sample_track(whole, start + moment), moment, 2e-4)


def test_rotations_at_cuts_are_of_unit_length(rng: Rng) -> None:
    times = np.array([0.2, 0.9, 1.7], np.float32)
    track = random_track(rng, 0, "rotation", "CUBICSPLINE", times)
    for start, end in ((0.3, 1.5), (0.3, 0.6), (0.2, 1.1), (0, 1.7), (1.0, 1.7)):
        piece = trim(Clip("c", (track,)), start, end).tracks[0]
        lengths = np.linalg.norm(piece.values[:, 1], axis=1)
        np.testing.assert_allclose(lengths, 1, atol=1e-6)
        for moment in np.linspace(0, end - start, 40).tolist():
            check_track(piece, oracle.sample_track(track, start + moment), moment, 1e-5)


def test_cuts_on_keys_and_between() -> None:
    times = np.array([0.5, 1.0, 2.0], np.float32)
    values = np.array([[0, 0, 0], [1, 0, 0], [3, 0, 0]], np.float32)
    clip = Clip("c", (Track(0, "translation", times, values),))
    piece = trim(clip, 1.0, 1.5).tracks[0]
    assert piece.times.tolist() == [0, 0.5]
    assert piece.values[:, 0].tolist() == [1, 2]
    early = trim(clip, 0.25, 0.75).tracks[0]
    assert early.times.tolist() == [0, 0.25, 0.5]
    assert early.values[:, 0].tolist() == [0, 0, 0.5]
    assert trim(clip, 0.5).duration == 1.5


@pytest.mark.parametrize("times", [[1.0], [0.5, 1.5]])
def test_a_curve_is_flat_where_its_track_holds_still(times: list[float]) -> None:
    rng = np.random.default_rng(3)
    lasting = Track(1, "scale", np.array([0, 2], "f4"), np.ones((2, 3), "f4"))
    own = np.array(times, np.float32)
    track = random_track(rng, 0, "translation", "CUBICSPLINE", own)
    clip = Clip("c", (track, lasting))
    piece = trim(clip, 0.1, 1.9).tracks[0]
    for moment in np.linspace(0, 1.8, 31):
        expected = oracle.sample_track(track, 0.1 + float(moment))
        check_track(piece, expected, float(moment))


def test_a_clip_of_single_keys_lasts() -> None:
    still = Track(0, "translation", np.array([2.0], "f4"), np.ones((1, 3), "f4"))
    piece = trim(Clip("c", (still,)), 0.5, 1.5)
    assert piece.duration == 1
    assert piece.tracks[0].values.tolist() == [[1, 1, 1]] * 2


@pytest.mark.parametrize(
    ("start", "end"),
    [(-0.1, 1), (1, 1), (1, 0.5), (0, 9), (np.nan, 1), (0, np.inf), ("a", 1)],
)
def test_cuts_outside_are_refused(start: Any, end: Any) -> None:
    times = np.array([0, 2], np.float32)
    clip = Clip("wave", (Track(0, "translation", times, np.ones((2, 3), "f4")),))
    with pytest.raises(SettingError):
        trim(clip, start, end)


@FEW
@given(SEEDS, st.sampled_from([*INTERPOLATIONS, None]), st.floats(0.1, 0.9))
def test_two_halves_are_the_clip(seed: int, kind: Any, part: float) -> None:
    clip = random_clip(np.random.default_rng(seed), "c", 3, interpolation=kind)
    if not clip.tracks:
        return
    cut = part * clip.duration
    whole = concatenate([trim(clip, 0, cut), trim(clip, cut)])
    assert whole.duration == pytest.approx(clip.duration, abs=1e-5)
    for track, original in zip(whole.tracks, clip.tracks, strict=True):
        assert track.interpolation == original.interpolation
        assert (np.diff(track.times) > 0).all()
        for moment in np.linspace(0, clip.duration, 29).tolist():
            if np.abs(original.times - moment).min() < 1e-5:
                continue
            check_track(track, oracle.sample_track(original, moment), moment, 2e-4)


@FEW
@given(SEEDS, SEEDS, st.sampled_from([*INTERPOLATIONS, None]))
def test_one_after_another(seed: int, other: int, kind: Any) -> None:
    first = random_clip(np.random.default_rng(seed), "a", 3, interpolation=kind)
    second = random_clip(np.random.default_rng(other), "b", 3, interpolation=kind)
    skeleton = random_skeleton(np.random.default_rng(1), 3)
    both = concatenate([first, second], skeleton=skeleton, onward=False, name="both")
    assert both.name == "both"
    seam = first.duration
    one, two = by_place(first), by_place(second)
    rests = {
        "translation": skeleton.translations,
        "rotation": skeleton.rotations,
        "scale": skeleton.scales,
    }
    for place, track in by_place(both).items():
        rest = rests[place[1]][place[0]].astype(float)
        assert (np.diff(track.times) > 0).all()
        for clip, tracks, start in ((first, one, 0.0), (second, two, seam)):
            for u in (0.013, 0.37, 0.71, 0.987):
                moment = u * clip.duration
                expected = rest
                if place in tracks:
                    expected = oracle.sample_track(tracks[place], moment)
                    if np.abs(tracks[place].times - moment).min() < 1e-3:
                        continue
                # Where interpolations are mixed, curves became many straight lines.
                check_track(track, expected, start + moment, 2e-4 if kind else 5e-3)


def test_a_seam_jumps_only_where_motions_differ() -> None:
    times = np.array([0, 1], np.float32)

    def line(node: int, a: float, b: float) -> Track:
        return Track(
            node, "translation", times, np.outer([a, b], np.ones(3)).astype("f4")
        )

    both = concatenate(
        [
            Clip("a", (line(0, 0, 1), line(1, 0, 1))),
            Clip("b", (line(0, 1, 0), line(1, 5, 6))),
        ]
    )
    smooth, jumping = both.tracks
    assert smooth.times.tolist() == [0, 1, 2]
    assert smooth.values[:, 0].tolist() == [0, 1, 0]
    assert jumping.times.tolist() == [0, float(np.nextafter(np.float32(1), 0)), 1, 2]
    assert jumping.values[:, 0].tolist() == [0, 1, 5, 6]


def test_what_a_clip_lacks_holds_its_last_value() -> None:
    times = np.array([0, 1], np.float32)
    a = Track(0, "translation", times, np.outer([0, 1], np.ones(3)).astype("f4"))
    b = Track(1, "translation", times, np.outer([7, 8], np.ones(3)).astype("f4"))
    first, second = concatenate([Clip("a", (a,)), Clip("b", (b,))]).tracks
    assert [oracle.sample_track(first, t)[0] for t in (0.5, 1.5)] == [0.5, 1]
    assert [oracle.sample_track(second, t)[0] for t in (0.5, 1.5)] == [7, 7.5]
    skeleton = random_skeleton(np.random.default_rng(4), 2)
    held = concatenate(
        [Clip("a", (a,)), Clip("b", (b,))], skeleton=skeleton, onward=False
    )
    late = oracle.sample_track(held.tracks[0], 1.5)
    np.testing.assert_allclose(late, skeleton.translations[0], atol=1e-6)
    small = random_skeleton(np.random.default_rng(4), 1, roots=1)
    with pytest.raises(SettingError, match="no node 1"):
        concatenate([Clip("a", (a,)), Clip("b", (b,))], skeleton=small)


def test_fades(rng: Rng) -> None:
    first = random_clip(rng, "a", 3, interpolation="LINEAR")
    second = random_clip(rng, "b", 3, interpolation="LINEAR")
    width = 0.3
    both = concatenate([first, second], fades=width)
    start = first.duration - width
    assert both.duration == pytest.approx(start + second.duration, abs=1e-5)
    for place, track in by_place(both).items():
        if place not in by_place(first) or place not in by_place(second):
            continue
        one, two = by_place(first)[place], by_place(second)[place]
        for moment in np.linspace(0, start, 7):
            check_track(track, oracle.sample_track(one, float(moment)), float(moment))
        for moment in np.linspace(width, second.duration, 7):
            expected = oracle.sample_track(two, float(moment))
            check_track(track, expected, start + float(moment), 1e-4)
        middle = oracle.sample_track(track, start + width / 2)
        ends = [oracle.sample_track(one, start + width / 2)]
        ends.append(oracle.sample_track(two, width / 2))
        if track.path != "rotation":
            np.testing.assert_allclose(middle, (ends[0] + ends[1]) / 2, atol=0.02)


@FEW
@given(SEEDS, st.integers(3, 6))
def test_many_fades(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.arange(31, dtype=np.float32) / np.float32(30)
    clip = Clip("c", (random_track(rng, 0, "translation", "LINEAR", times),))
    both = concatenate([clip] * count, fades=0.2)
    assert both.duration == pytest.approx(count - 0.2 * (count - 1), abs=1e-5)
    for part in range(count):
        moment = 0.8 * part + 0.5
        expected = oracle.sample_track(clip.tracks[0], 0.5)
        check_track(both.tracks[0], expected, moment, 1e-3)


def test_a_clip_fades_into_itself_unchanged(rng: Rng) -> None:
    track = random_track(rng, 0, "rotation", "LINEAR", np.linspace(0, 1, 5))
    still = Clip(
        "s", (Track(0, "rotation", track.times, np.tile(track.values[:1], (5, 1))),)
    )
    both = concatenate([still, still], fades=0.4)
    for moment in np.linspace(0, 1.6, 17):
        check_track(both.tracks[0], track.values[0].astype(float), float(moment))


@pytest.mark.parametrize(
    "fades", [-0.1, 1.5, [0.1], [0.1, 0.1, 0.1], [0.6, 0.6], np.nan]
)
def test_bad_fades_are_refused(fades: Any) -> None:
    times = np.array([0, 1], np.float32)
    clip = Clip("c", (Track(0, "translation", times, np.ones((2, 3), "f4")),))
    with pytest.raises(SettingError, match="fades"):
        concatenate([clip, clip, clip], fades=fades)


def test_nothing_to_join_is_refused() -> None:
    with pytest.raises(SettingError, match="at least one"):
        concatenate([])


def test_steps_change_in_the_middle_of_a_fade() -> None:
    times = np.array([0, 1], np.float32)
    a = Track(0, "translation", times, np.zeros((2, 3), "f4"), "STEP")
    b = Track(0, "translation", times, np.ones((2, 3), "f4"), "STEP")
    both = concatenate([Clip("a", (a,)), Clip("b", (b,))], fades=0.5).tracks[0]
    assert both.interpolation == "STEP"
    assert oracle.sample_track(both, 0.74)[0] == 0
    assert oracle.sample_track(both, 0.76)[0] == 1


@FEW
@given(SEEDS, st.sampled_from(INTERPOLATIONS), st.floats(0.2, 5))
def test_speed(seed: int, kind: Any, factor: float) -> None:
    clip = random_clip(np.random.default_rng(seed), "c", 3, interpolation=kind)
    quick = change_speed(clip, factor)
    assert quick.duration == pytest.approx(clip.duration / factor, rel=1e-5)
    for track, original in zip(quick.tracks, clip.tracks, strict=True):
        for moment in np.linspace(0, clip.duration, 13).tolist():
            if np.abs(original.times - moment).min() > 1e-4:
                expected = oracle.sample_track(original, moment)
                check_track(track, expected, moment / factor, 1e-4)


@pytest.mark.parametrize("factor", [0, -1, np.nan, "fast"])
def test_bad_speeds_are_refused(factor: Any) -> None:
    with pytest.raises(SettingError, match="factor"):
        change_speed(Clip("c", ()), factor)


@FEW
@given(SEEDS, st.sampled_from([*INTERPOLATIONS, None]))
def test_backwards(seed: int, kind: Any) -> None:
    clip = random_clip(np.random.default_rng(seed), "c", 3, interpolation=kind)
    back = reverse(clip)
    assert back.duration == pytest.approx(clip.duration, abs=1e-5)
    for track, original in zip(back.tracks, clip.tracks, strict=True):
        for moment in np.linspace(0, clip.duration, 13).tolist():
            if np.abs(original.times - moment).min() > 1e-4:
                expected = oracle.sample_track(original, moment)
                check_track(track, expected, clip.duration - moment, 1e-4)


def test_resampled_is_the_clip_at_its_keys(rng: Rng) -> None:
    clip = random_clip(rng, "c", 4)
    even = resample(clip, 25)
    for track, original in zip(even.tracks, clip.tracks, strict=True):
        if original.interpolation == "STEP":
            assert track is original
            continue
        assert track.interpolation == "LINEAR"
        assert track.times[0] == 0
        np.testing.assert_allclose(np.diff(track.times)[:-1], 1 / 25, atol=1e-5)
        assert track.times[-1] == np.float32(clip.duration)
        for moment in track.times.tolist():
            check_track(track, oracle.sample_track(original, moment), moment)
    with pytest.raises(SettingError, match="rate"):
        resample(clip, 0)
    with pytest.raises(SettingError, match="rate"):
        resample(clip, 1e12)


@pytest.mark.slow
def test_packed_clips_are_taken_too() -> None:
    hero = flexor.samples.mannequin()
    packed, _ = reduce_clip(hero.layout, hero.clips["walk"])
    assert isinstance(packed, PackedClip)
    plain = Clip("walk", packed.tracks)
    skeleton = hero.skeleton
    for change in (
        lambda clip: trim(clip, 0.1, 0.5),
        lambda clip: change_speed(clip, 2),
        reverse,
        lambda clip: resample(clip, 10),
        lambda clip: concatenate([clip, clip], fades=0.1),
        lambda clip: mirror_clip(clip, skeleton),
        lambda clip: retarget(clip, skeleton, skeleton),
    ):
        made, wanted = change(packed), change(plain)
        for one, two in zip(made.tracks, wanted.tracks, strict=True):
            np.testing.assert_array_equal(one.values, two.values)


@FEW
@given(SEEDS, st.sampled_from(INTERPOLATIONS))
def test_tracks_go_on_sharing_their_times(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    times = random_times(rng, 6)
    pairs: list[tuple[int, Path]] = [
        (n, path) for n in range(4) for path in get_args(Path)[:3:2]
    ]
    clip = Clip("c", tuple(random_track(rng, *p, kind, times) for p in pairs))
    skeleton = random_skeleton(rng, 4)
    begin, end = clip.duration * 0.3, clip.duration * 0.8
    for done in (
        trim(clip, begin, end),
        change_speed(clip, 3),
        reverse(clip),
        resample(clip, 20),
        concatenate([clip, clip], fades=0.1, skeleton=skeleton, onward=False),
    ):
        wanted = {track.times.tobytes() for track in done.tracks}
        assert len({id(track.times) for track in done.tracks}) == len(wanted)
    assert len({id(track.times) for track in trim(clip, begin, end).tracks}) == 1


@pytest.mark.parametrize("rate", [1e-6, 0.005, 0.5])
def test_the_start_stays_at_the_lowest_rates(rate: float) -> None:
    times = np.array([0, 0.5, 1], np.float32)
    values = np.array([[0, 0, 0], [1, 0, 0], [4, 0, 0]], np.float32)
    clip = Clip("go", (Track(0, "translation", times, values),))
    new = resample(clip, rate).tracks[0]
    np.testing.assert_array_equal(new.times, [0, 1])
    np.testing.assert_array_equal(new.values[:, 0], [0, 4])
