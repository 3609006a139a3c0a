from __future__ import annotations

import numpy as np
import pytest

from flexor.scene.character.clip import Track
from tests.files.gltf.reading import put, read, refuse
from tests.gltf_builder import Builder, mini, with_values

SAMPLER = "/animations/0/samplers/0"
CHANNEL = "/animations/0/channels/0"
TIMES, ROTATION = 9, 10


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_interpolations(tmp_path, interpolation):
    scene = read(tmp_path, *mini(interpolation=interpolation))
    clip = scene.clips["bend"]
    assert clip.name == "bend"
    assert clip.duration == 1
    turn, move, smile = clip.tracks
    assert {track.interpolation for track in clip.tracks} == {interpolation}
    assert [(t.node, t.path) for t in clip.tracks] == [
        (2, "rotation"),
        (2, "translation"),
        (0, "weights"),
    ]
    middle = (3,) if interpolation == "CUBICSPLINE" else ()
    assert turn.values.shape == (2, *middle, 4)
    assert smile.values.shape == (2, *middle, 2)
    key = (1, 1) if middle else 1
    np.testing.assert_allclose(turn.values[key], [0, 0, 0.5**0.5, 0.5**0.5], rtol=1e-6)
    np.testing.assert_array_equal(move.values[key], [0, -1, 0])
    np.testing.assert_array_equal(smile.values[key], [1, 0])


def test_tracks_are_what_their_own_checks_let_through(tmp_path):
    """The reader checks whole clips and skips the checks of each track."""
    for kind in ("LINEAR", "CUBICSPLINE"):
        for track in read(tmp_path, *mini(interpolation=kind)).clips["bend"].tracks:
            again = Track(
                track.node, track.path, track.times, track.values, track.interpolation
            )
            assert again.times is track.times
            assert again.values is track.values
            assert not track.times.flags.writeable
            assert not track.values.flags.writeable


def test_missing_interpolation_is_linear(tmp_path):
    gltf, data = mini()
    del gltf["animations"][0]["samplers"][0]["interpolation"]
    track = read(tmp_path, gltf, data).clips["bend"].tracks[0]
    assert track.interpolation == "LINEAR"


@pytest.mark.parametrize("kind", ["i1", "i2"])
def test_normalised_rotations(tmp_path, kind):
    gltf, data = mini()
    b = Builder()
    b.json, b.data = gltf, data
    top = np.iinfo(kind).max
    row = b.add([[0, 0, 0, top], [0, 0, -top, 0]], kind, normalized=True)
    put(gltf, SAMPLER + "/output", row)
    track = read(tmp_path, *b.done()).clips["bend"].tracks[0]
    np.testing.assert_array_equal(track.values, [[0, 0, 0, 1], [0, 0, -1, 0]])


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        ("/animations", {}, "expected an array"),
        ("/animations/0", 3, "expected an object"),
        ("/animations/0/name", 3, "expected a text"),
        ("/animations/0/samplers", {}, "expected an array"),
        ("/animations/0/channels", "x", "expected an array"),
        (CHANNEL, None, "expected an object"),
        (CHANNEL + "/target", None, "expected an object"),
        (CHANNEL + "/target/path", 1, "expected a text"),
        (CHANNEL + "/target/node", 3, "node 3 does not exist; the last is 2"),
        (CHANNEL + "/target/node", "2", "expected a whole number"),
        (CHANNEL + "/sampler", 3, "sampler 3 does not exist"),
        (CHANNEL + "/sampler", True, "expected a whole number"),
        (SAMPLER, [], "expected an object"),
        (SAMPLER + "/interpolation", "SMOOTH", "expected one of LINEAR, STEP"),
        (SAMPLER + "/input", 99, "accessor 99 does not exist"),
        (SAMPLER + "/input", 1.5, "expected a whole number"),
        (SAMPLER + "/output", 99, "accessor 99 does not exist"),
        (SAMPLER + "/output", None, "expected a whole number"),
        ("/animations/0/extensions", [], "expected an object"),
    ],
)
def test_clip_is_refused(tmp_path, pointer, value, words):
    gltf, data = mini()
    put(gltf, pointer, value)
    where = f"{CHANNEL}/target" if pointer == CHANNEL + "/target" else pointer
    refuse(tmp_path, gltf, data, where, words)


@pytest.mark.parametrize("key", ["target", "sampler"])
def test_channel_lacks(tmp_path, key):
    gltf, data = mini()
    del gltf["animations"][0]["channels"][0][key]
    refuse(tmp_path, gltf, data, CHANNEL, f"{key!r} is missing")


@pytest.mark.parametrize("key", ["input", "output"])
def test_sampler_lacks(tmp_path, key):
    gltf, data = mini()
    del gltf["animations"][0]["samplers"][0][key]
    refuse(tmp_path, gltf, data, SAMPLER, f"{key!r} is missing")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite(tmp_path, value):
    gltf, data = mini()
    broken = with_values(gltf, data, TIMES, 1, value)
    refuse(tmp_path, gltf, broken, SAMPLER + "/input", "element 1 is not finite")
    broken = with_values(gltf, data, ROTATION, (1, 2), value)
    refuse(tmp_path, gltf, broken, SAMPLER + "/output", "element 1 is not finite")


def test_times_that_fall(tmp_path):
    gltf, data = mini()
    broken = with_values(gltf, data, TIMES, slice(None), [[1], [0.5]])
    refuse(tmp_path, gltf, broken, SAMPLER + "/input", "key 1 is earlier")


def test_times_that_repeat_are_mended(tmp_path):
    gltf, data = mini()
    same = with_values(gltf, data, TIMES, slice(None), 1)
    scene = read(tmp_path, gltf, same)
    times = scene.clips["bend"].tracks[0].times
    np.testing.assert_array_equal(
        times, [1, np.nextafter(np.float32(1), np.float32(2))]
    )
    assert [(f.code, f.where) for f in scene.findings] == [
        ("times-repeated", f"/accessors/{TIMES}")
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"interpolation": "CUBICSPLINE"},
            "8 numbers for 2 keys of rotation, expected 24",
        ),
        ({"input": 2}, "2 components, expected 1"),
        ({"output": 11}, "3 components, expected 4"),
    ],
)
def test_keys_that_do_not_fit(tmp_path, change, words):
    gltf, data = mini()
    gltf["animations"][0]["samplers"][0] |= change
    where = SAMPLER + "/output"
    if "components" in words:
        where = f"/accessors/{next(iter(change.values()))}/type"
    refuse(tmp_path, gltf, data, where, words)


@pytest.mark.parametrize(
    ("change", "code", "tracks"),
    [
        ({"path": "pointer"}, "channel-unknown", 2),
        ({"node": None}, "channel-unknown", 2),
        ({"path": "translation"}, "channel-twice", 2),
        ({"path": "weights"}, "channel-unused", 2),
    ],
)
def test_channels_that_are_left_out(tmp_path, change, code, tracks):
    gltf, data = mini()
    channels = gltf["animations"][0]["channels"]
    target = channels[0]["target"]
    target |= change
    if target["node"] is None:
        del target["node"]
    channels.append(channels.pop(0))
    scene = read(tmp_path, gltf, data)
    assert [f.code for f in scene.findings] == [code]
    assert len(scene.clips["bend"].tracks) == tracks


def test_node_with_a_matrix_is_animated_with_a_finding(tmp_path):
    gltf, data = mini()
    knee = gltf["nodes"][2]
    del knee["translation"]
    knee["matrix"] = np.eye(4).ravel().tolist()
    scene = read(tmp_path, gltf, data)
    assert [f.code for f in scene.findings] == ["channel-matrix"] * 2
    assert len(scene.clips["bend"].tracks) == 3


def test_names(tmp_path):
    gltf, data = mini()
    clip = gltf["animations"][0]
    names = ["walk", None, "walk", "walk.1", "walk", "", "clip1"]
    gltf["animations"] = [{**clip, "name": name} for name in names]
    del gltf["animations"][1]["name"]
    scene = read(tmp_path, gltf, data)
    expected = ["walk", "clip1", "walk.1", "walk.1.1", "walk.2", "clip5", "clip1.1"]
    assert list(scene.clips) == expected
    assert [clip.name for clip in scene.clips.values()] == expected
    assert {f.code for f in scene.findings} == {"clip-name"}
    assert [f.where for f in scene.findings] == [
        f"/animations/{n}" for n in (2, 3, 4, 6)
    ]


def test_clip_without_channels(tmp_path):
    gltf, data = mini()
    gltf["animations"] = [{"name": "still", "extras": {"a": 1}}]
    clip = read(tmp_path, gltf, data).clips["still"]
    assert (clip.tracks, clip.duration) == ((), 0)
    assert clip.carried == {"extras": {"a": 1}}
