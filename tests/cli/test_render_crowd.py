"""`flexor render --crowd`: what it writes, what it says, what it refuses."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api import crowd as crowds
from flexor.api.character import Character
from flexor.errors import BackendMissing
from flexor.pose.clips.root_motion import steady_motion
from flexor.scene.character.clip import Clip, Track
from tests.convert.levels.test_make import arm
from tests.files import bvh_text
from tests.output.moving import read_back

pytestmark = pytest.mark.usefixtures("made_once")

MANNEQUIN = Path(flexor.__file__).parent / "samples" / "mannequin.glb"
SMALL = ("--size", "96x54", "--samples", "1")


@pytest.fixture
def run(run: Any) -> Any:
    """Runs `flexor render`."""
    return lambda *words: run("render", *words)


@pytest.fixture(scope="module")
def hero_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mannequin with its levels, which are made once, and some of its clips: a
    crowd looks at all there are.
    """
    path = tmp_path_factory.mktemp("crowd") / "hero.flexor"
    hero = flexor.samples.mannequin()
    some = {name: hero.clips[name] for name in ("idle", "walk", "run", "kick")}
    flexor.save(hero.with_levels(hero.levels).with_clips(some, only=True), path)
    return path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[flexor.Crowd]:
    """The crowds that are made."""
    kept: list[flexor.Crowd] = []

    class Kept(crowds.Crowd):
        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            kept.append(self)

    monkeypatch.setattr(crowds, "Crowd", Kept)
    return kept


def levels_of(printed: str) -> tuple[int, int, list[int]]:
    """What the first line says: how many, how many in view, how many at each level."""
    first = printed.splitlines()[0]
    found = re.fullmatch(r"(\d+) characters?, (\d+) in the picture: (.*)", first)
    assert found is not None, first
    parts = found[3].split(", ")
    for level, part in enumerate(parts):
        assert part.endswith(f" at level {level}")
    return int(found[1]), int(found[2]), [int(part.split()[0]) for part in parts]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 30, 300])
def test_a_picture(
    run: Any, hero_file: Path, tmp_path: Path, made: Any, count: int
) -> None:
    out = tmp_path / "a.png"
    done = run(hero_file, "--clip", "walk", "--crowd", count, *SMALL, "-o", out)
    assert (done.code, done.err) == (0, "")
    many, seen, levels = levels_of(done.out)
    assert done.out.splitlines()[1:] == [f"{out}: 'walk', 96 x 54"]
    assert many == len(made[0]) == count
    assert seen == sum(levels) == np.count_nonzero(made[0].level >= 0)
    assert levels == np.bincount(made[0].level + 1, minlength=5)[1:].tolist()
    assert seen >= count // 3
    frames, _ = read_back(out)
    assert frames.shape == (1, 54, 96, 4)
    assert len(np.unique(frames.reshape(-1, 4), axis=0)) > 100
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.mp4", "a.webp", "a.gif", "a.npy", "frames/"])
def test_a_movie(run: Any, hero_file: Path, tmp_path: Path, name: str) -> None:
    out = f"{tmp_path}/{name}"
    words = ("--clip", "walk", "--crowd", 20, "--seconds", 0.5, "--fps", 10)
    done = run(hero_file, *words, *SMALL, "-o", out)
    assert (done.code, done.err) == (0, "")
    assert levels_of(done.out)[0] == 20
    last = done.out.splitlines()[1:]
    assert len(last) == 1
    assert last[0].startswith(f"{out}: 'walk', 5 frames of 96 x 54, 0.50 s at 10 fps")
    frames, _ = read_back(Path(out))
    assert frames.shape == (5, 54, 96, 4)
    assert (frames[0] != frames[4]).any()


@pytest.mark.slow
def test_whole_clips_of_some_seconds(run: Any, hero_file: Path, tmp_path: Path) -> None:
    words = ("--clip", "run", "--crowd", 3, "--fps", 3, *SMALL)
    done = run(hero_file, *words, "-o", tmp_path / "a.npy")
    length = flexor.samples.mannequin().clips["run"].duration
    seconds = np.ceil(4 / length) * length
    assert f"{round(seconds * 3)} frames" in done.out


@pytest.mark.slow
def test_they_differ_by_the_seed_alone(
    run: Any, hero_file: Path, tmp_path: Path, made: Any
) -> None:
    out = tmp_path / "a.png"
    seen = []
    for seed in ((), ("--seed", 0), ("--seed", 7)):
        run(hero_file, "--clip", "walk", "--crowd", 9, *seed, *SMALL, "-o", out)
        seen.append(out.read_bytes())
    assert seen[0] == seen[1] != seen[2]
    crowd = made[0]
    for values in (crowd.time, crowd.size, crowd.colour[:, 0], crowd.place[:, 0]):
        assert len(np.unique(values)) == 9
    ways = np.linalg.norm(crowd.place[:, None] - crowd.place, axis=-1)
    assert ways[~np.eye(9, dtype=bool)].min() > 0.6


@pytest.mark.slow
def test_what_walks_goes_on_without_sliding(
    run: Any, hero_file: Path, tmp_path: Path, made: Any
) -> None:
    """At the speed of the clip, all of them, and the camera with them."""
    words = ("--clip", "walk", "--crowd", 8, "--seconds", 1, "--fps", 4)
    run(hero_file, *words, *SMALL, "-o", tmp_path / "a.npy")
    run(hero_file, *words[:-3], 0.25, "--fps", 4, *SMALL, "-o", tmp_path / "b.npy")
    went = made[0].place - made[1].place
    walk = flexor.samples.mannequin().clips["walk"]
    speed = 0.75 * walk.carried["extras"]["speed"]
    np.testing.assert_allclose(went, np.tile([0, 0, speed], (8, 1)), atol=0.03)
    assert (made[0].heading == 0).all()
    assert (made[0].level >= 0).all()


@pytest.mark.slow
def test_what_stands_stays(
    run: Any, hero_file: Path, tmp_path: Path, made: Any
) -> None:
    words = ("--clip", "idle", "--crowd", 8, "--fps", 2, *SMALL)
    for seconds in (0.5, 2):
        run(hero_file, *words, "--seconds", seconds, "-o", tmp_path / "a.npy")
    np.testing.assert_array_equal(made[0].place, made[1].place)
    assert len(np.unique(made[0].heading)) == 8


def travelling(velocity: tuple[float, float, float], turn: float = 0.0) -> Character:
    """The mannequin with a walk that travels, as captures do."""
    hero = flexor.samples.mannequin()
    walk = hero.clips["walk"]
    way = steady_motion(walk.duration, velocity, turn)
    hips = hero.skeleton.index("hips")
    tracks = {(track.node, track.path): track for track in walk.tracks}
    times = np.linspace(0, walk.duration, 25, dtype=np.float32)
    local = hero.pose_many("walk", times)
    places = local.translations[:, hips] + way.at(times.astype(float))[:, :, 3]
    tracks[hips, "translation"] = Track(
        hips, "translation", times, places.astype(np.float32)
    )
    clip = Clip("go", tuple(tracks.values()))
    return hero.with_levels(hero.levels).with_clips({"go": clip}, only=True)


@pytest.mark.slow
def test_a_clip_that_travels(run: Any, tmp_path: Path, made: Any) -> None:
    """Carries them on, past its end, and what it took is not taken twice."""
    hero = travelling((0.5, 0.0, 1.2))
    path = tmp_path / "go.flexor"
    flexor.save(hero, path)
    words = ("--crowd", 6, "--fps", 2, *SMALL)
    for seconds in (0.5, 2.5):
        done = run(path, *words, "--seconds", seconds, "-o", tmp_path / "a.npy")
        assert (done.code, done.err) == (0, "")
    went = made[1].place - made[0].place
    np.testing.assert_allclose(went, np.tile([1.0, 0, 2.4], (6, 1)), atol=0.1)
    # They stand over their places.
    assert np.ptp(made[0].place[:, 0]) < 12


@pytest.mark.slow
def test_looks(run: Any, hero_file: Path, tmp_path: Path) -> None:
    """Every word changes the picture."""
    out = tmp_path / "a.png"
    pictures = {}
    for words in (
        (),
        ("--style", "cel"),
        ("--style", "lines"),
        ("--no-shadow",),
        ("--background", "#102030"),
        ("--background", "transparent"),
        ("--camera", "three-quarter"),
        ("--camera", "30,40"),
        ("--orthographic",),
        ("--rest",),
        ("--clip", "kick"),
        ("--samples", 4),
    ):
        done = run(hero_file, "--crowd", 12, *SMALL, *words, "-o", out)
        assert (done.code, done.err) == (0, ""), words
        pictures[words] = read_back(out)[0][0]
    assert len({picture.tobytes() for picture in pictures.values()}) == len(pictures)
    clear = pictures["--background", "transparent"]
    assert clear[0, :, 3].max() == 0
    assert clear[-1, :, 3].min() > 250


@pytest.mark.slow
def test_the_grid_is_the_field(run: Any, hero_file: Path, tmp_path: Path) -> None:
    """There is ground in any case, so that the word for it changes nothing."""
    for name, words in (("a.png", ()), ("b.png", ("--ground",))):
        run(hero_file, "--crowd", 2, *SMALL, *words, "-o", tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.slow
def test_the_size_if_not_said(run: Any, hero_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    assert "1280 x 720" in run(hero_file, "--crowd", 2, "-o", out).out
    assert read_back(out)[0].shape == (1, 720, 1280, 4)


@pytest.mark.slow
@pytest.mark.usefixtures("made_anew")
def test_without_what_makes_levels(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "meshoptimizer", None)
    with pytest.raises(BackendMissing):
        _ = flexor.samples.mannequin().levels
    out = tmp_path / "a.png"
    done = run(MANNEQUIN, "--crowd", 5, *SMALL, "-o", out)
    assert done.code == 0
    assert done.err.startswith("flexor: warning: ")
    assert done.err.count("\n") == 1
    assert "pip install 'flexor[codecs]'" in done.err
    assert levels_of(done.out) == (5, 5, [5])
    assert out.exists()


@pytest.mark.slow
def test_an_odd_character(run: Any, tmp_path: Path) -> None:
    """Flat, and of one moment: there is room between them all the same."""
    scene = dataclasses.replace(arm(2, 9), clips={"still": Clip("still", ())})
    path = tmp_path / "a.glb"  # its levels are made by the command
    flexor.save(Character(scene), path)
    done = run(path, "--crowd", 3, *SMALL, "-o", tmp_path / "a.png")
    assert done.code == 0
    assert levels_of(done.out)[0] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--crowd", 0), "--crowd: 0, expected 1 to 10000 characters"),
        (("--crowd", 10001), "--crowd: 10001, expected 1 to 10000"),
        (("--crowd", -3), "--crowd: -3, expected"),
        (("--seed", 3), "--seed: is for a crowd; give --crowd too"),
        (("--crowd", 3, "--sheet", 4), "--crowd and --sheet: "),
        (("--crowd", 3, "--heat", "head"), "--crowd and --heat: "),
        (("--crowd", 3, "--names"), "--crowd and --names: "),
        (("--crowd", 3, "--bones"), "--crowd and --bones: "),
        (("--crowd", 3, "--turntable"), "--crowd and --turntable: "),
        (("--crowd", 3, "--time", 0), "--crowd and --time: "),
        (("--crowd", 3, "--weights", "one"), "--crowd and --weights one: "),
        (("--crowd", 3, "--skinning", "dual"), "--crowd and --skinning dual: "),
        (("--crowd", 3, "--style", "heat"), "say which joint"),
        (("--crowd", 3, "--clip", "wlak"), "did you mean 'walk'"),
        (("--crowd", 3, "--rest"), "in the rest pose does not move; a picture"),
        (("--crowd", 3, "--fps", 0), "fps: 0, expected 0.01 to 1000"),
        (("--crowd", 3, "--seconds", 0), "--seconds: 0, expected above 0"),
    ],
)
def test_refusals_are_one_line(
    run: Any, tmp_path: Path, words: tuple[object, ...], said: str
) -> None:
    done = run(MANNEQUIN, *words, "-o", tmp_path / "a.webp")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("flexor: ")
    assert done.err.count("\n") == 1
    assert said in done.err
    assert not list(tmp_path.iterdir())


def test_bones_alone_are_refused(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text(bvh_text.SMALL)
    done = run(path, "--crowd", 2, *SMALL, "-o", tmp_path / "a.png")
    assert (done.code, done.out) == (2, "")
    assert "--crowd: there is no surface to be drawn" in done.err


def test_the_help_names_it(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    printed = run("--help").out
    assert "--crowd" in printed
    assert "--seed" in printed
    assert "1 to 10000" in printed
