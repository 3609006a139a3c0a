"""`flexor render`: what it writes, what it says, what it refuses, how it stops."""

from __future__ import annotations

import builtins
import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.pictures import drawing
from flexor.draw.scene.style import DrawStyle
from tests.files import bvh_text
from tests.output.moving import read_back
from tests.scenes import random_scene

MANNEQUIN = Path(flexor.__file__).parent / "samples" / "mannequin.glb"
SMALL = ("--size", "64x48", "--samples", "1")


@pytest.fixture
def run(run: Any) -> Any:
    """Runs `flexor render`."""
    return lambda *words: run("render", *words)


@pytest.fixture
def no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails where something is drawn before the words were looked at."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("too early to draw")

    monkeypatch.setattr(drawing, "Drawer", fail)
    monkeypatch.setattr(drawing, "contact_sheet", fail)


@pytest.fixture(scope="module")
def hero_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("render") / "hero.glb"
    flexor.save(Character(random_scene(np.random.default_rng(5))), path)
    return path


@pytest.mark.jit
@pytest.mark.parametrize(
    "name", ["a.mp4", "a.webp", "a.gif", "a.apng", "a.npy", "frames/"]
)
def test_a_clip_as_a_movie(run: Any, tmp_path: Path, name: str) -> None:
    out = f"{tmp_path}/{name}"
    done = run(MANNEQUIN, "--clip", "walk", "--fps", 10, *SMALL, "-o", out)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{out}: 'walk', 10 frames of 64 x 48, 1.00 s at 10 fps")
    assert done.out.count("\n") == 1
    frames, seconds = read_back(Path(out))
    assert frames.shape == (10, 48, 64, 4)
    assert all(second == pytest.approx(0.1) for second in seconds)
    assert (frames[0] != frames[5]).any()
    assert [path.name for path in tmp_path.iterdir()] == [name.rstrip("/")]


@pytest.mark.jit
def test_it_draws_what_the_library_draws(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "a.npy"
    run(MANNEQUIN, "--clip", "run", "--fps", 5, "--size", "40x60", "-o", out)
    hero = flexor.samples.mannequin()
    drawer = drawing.Drawer(hero, (40, 60))
    camera = drawer.fit("run")
    frames = np.load(out)
    assert len(frames) == round(hero.clips["run"].duration * 5)
    for i, frame in enumerate(frames):
        picture = drawer.draw(hero.pose("run", i / 5), camera)
        np.testing.assert_array_equal(frame, picture)


@pytest.mark.jit
@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp"])
def test_a_picture(run: Any, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    done = run(MANNEQUIN, "--clip", "kick", "--time", 0.4, *SMALL, "-o", out)
    assert done.out == f"{out}: 'kick' at 0.4 s, 64 x 48\n"
    frames, _ = read_back(out)
    assert frames.shape == (1, 48, 64, 4)
    hero = flexor.samples.mannequin()
    style = DrawStyle(samples=1)
    picture = flexor.draw(hero, hero.pose("kick", 0.4), size=(64, 48), style=style)
    assert np.abs(frames[0].astype(int) - picture).mean() < 4


@pytest.mark.jit
def test_the_first_clip_and_the_rest_pose(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    assert "'idle' at 0 s" in run(MANNEQUIN, *SMALL, "-o", out).out
    assert "rest pose, 64" in run(MANNEQUIN, "--rest", *SMALL, "-o", out).out


@pytest.mark.jit
def test_a_sheet(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    done = run(MANNEQUIN, "--clip", "run", "--sheet", 6, *SMALL, "-o", out)
    frames, _ = read_back(out)
    height, width = frames.shape[1:3]
    assert done.out == f"{out}: 6 poses of 'run', {width} x {height}\n"
    assert height * width > 6 * 64 * 48
    words = ("--clip", "run", "--sheet", 6, "--orthographic", *SMALL, "-o", out)
    assert run(MANNEQUIN, *words).code == 0
    assert (read_back(out)[0] != frames).any()


@pytest.mark.jit
@pytest.mark.parametrize(
    "words",
    [
        ("--time", 0.1, "-o", "a.png"),
        ("--sheet", 2, "-o", "a.png"),
        ("--seconds", 0.1, "-o", "a.npy"),
    ],
)
def test_a_missing_texture_is_said(run: Any, tmp_path: Path, words: Any) -> None:
    scene = flexor.samples.mannequin().scene
    images = tuple(dataclasses.replace(i, data=b"no picture") for i in scene.images)
    broken = tmp_path / "broken.glb"
    flexor.save(Character(dataclasses.replace(scene, images=images)), broken)
    done = run(broken, *SMALL, *words[:-1], tmp_path / words[-1])
    assert done.code == 0
    assert "missing-texture" in done.err


@pytest.mark.jit
def test_all_the_way_around(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "a.npy"
    words = ("--turntable", "--fps", 3, *SMALL, "-o", out)
    done = run(MANNEQUIN, "--clip", "walk", "--time", 0.2, *words)
    assert "12 frames" in done.out
    assert "4.00 s" in done.out
    frames = np.load(out)
    for i in range(12):
        assert (frames[i] != frames[i - 1]).any(), "the camera moves"
    assert "12 frames" in run(MANNEQUIN, "--clip", "walk", *words).out


@pytest.mark.jit
def test_without_a_clip_the_camera_moves(run: Any, tmp_path: Path) -> None:
    scene = flexor.samples.mannequin().scene
    still = tmp_path / "still.glb"
    flexor.save(Character(dataclasses.replace(scene, clips={})), still)
    out = tmp_path / "a.npy"
    assert "rest pose, 8 frames" in run(still, "--fps", 2, *SMALL, "-o", out).out
    frames = np.load(out)
    assert (frames[0] != frames[2]).any()
    assert run(still, "--sheet", 4, *SMALL, "-o", tmp_path / "a.png").code == 0


@pytest.mark.jit
def test_seconds_repeat_the_clip(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "a.npy"
    words = ("--clip", "walk", "--seconds", 2, "--fps", 5, *SMALL, "-o", out)
    assert "10 frames" in run(MANNEQUIN, *words).out
    frames = np.load(out)
    np.testing.assert_array_equal(frames[:5], frames[5:])


@pytest.mark.jit
def test_looks(run: Any, tmp_path: Path) -> None:
    """Every word changes the picture."""
    out = tmp_path / "a.png"
    pictures = []
    for words in (
        (),
        ("--style", "cel"),
        ("--bones",),
        ("--bones", "--names"),
        ("--heat", "head"),
        ("--ground",),
        ("--no-shadow",),
        ("--background", "#102030"),
        ("--background", "transparent"),
        ("--camera", "back"),
        ("--camera", "-30,20"),
        ("--camera", "top"),
        ("--orthographic",),
    ):
        done = run(MANNEQUIN, "--size", "120x160", *words, "-o", out)
        assert (done.code, done.err) == (0, ""), words
        pictures.append(read_back(out)[0].tobytes())
    assert len(set(pictures)) == len(pictures)
    assert read_back(out)[0].shape == (1, 160, 120, 4)


@pytest.mark.jit
def test_meshes_are_left_out(run: Any, hero_file: Path, tmp_path: Path) -> None:
    still = ("--rest", "--time", 0, *SMALL, "-o")
    hero = flexor.load(hero_file)
    seen = []
    for without in ((), ("rigid",), ("rig*", "pair")):
        words = [word for one in without for word in ("--without", one)]
        done = run(hero_file, *still, tmp_path / "a.png", *words)
        assert (done.code, done.err) == (0, "")
        seen.append((tmp_path / "a.png").read_bytes())
    assert len(set(seen)) == 3
    done = run(hero_file, *still, tmp_path / "b.png", "--without", "hat")
    assert done.code == 2
    assert done.err.startswith("flexor: --without: no mesh or node of one fits 'hat'")
    assert hero.meshes[0].name in done.err


@pytest.mark.jit
def test_the_end_of_a_clip(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    length = flexor.samples.mannequin().clips["walk"].duration
    words = (MANNEQUIN, "--clip", "walk", *SMALL, "-o", out, "--time")
    assert run(*words, length + 0.004).out == run(*words, length).out


@pytest.mark.jit
def test_names_left_out_are_counted(run: Any, tmp_path: Path) -> None:
    said = re.compile(r"; (up to )?(\d+) of (\d+) names left out for want of room\n$")
    done = run(MANNEQUIN, "--names", *SMALL, "-o", tmp_path / "a.png")
    found = said.search(done.out)
    assert found is not None
    assert found[1] is None
    assert 0 < int(found[2]) <= int(found[3])
    words = ("--names", "--seconds", 1, "--fps", 3, *SMALL)
    found = said.search(run(MANNEQUIN, *words, "-o", tmp_path / "a.npy").out)
    assert found is not None
    assert found[1] == "up to "


@pytest.mark.jit
def test_a_shadow_is_not_cut_while_turning(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "a.npy"
    words = ("--clip", "run", "--turntable", "--fps", 3, "--size", "160x120")
    run(MANNEQUIN, *words, "-o", out)
    frames = np.load(out).astype(int)
    paper = DrawStyle().paper
    for edge in (frames[:, 0], frames[:, -1], frames[:, :, 0], frames[:, :, -1]):
        assert np.abs(edge - paper).max() <= 4


@pytest.mark.jit
def test_a_skeleton_alone(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text(bvh_text.SMALL)
    for words in ((), ("--turntable",)):
        out = tmp_path / "a.npy"
        done = run(path, "--seconds", 1, "--fps", 4, *words, *SMALL, "-o", out)
        assert (done.code, done.err) == (0, "")
        assert len(np.unique(np.load(out).reshape(-1, 4), axis=0)) > 3


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("a.png", ("--time", 0.5)),
        ("a.webp", ("--seconds", 0.5, "--fps", 4)),
        ("a.png", ("--sheet", 2)),
    ],
)
def test_dual_quaternions(
    run: Any, tmp_path: Path, name: str, how: tuple[object, ...]
) -> None:
    """Another picture where limbs are bent; linear is what is usual."""
    seen = {}
    for word in ("linear", "dual", None):
        out = tmp_path / name
        words = ("--clip", "kick", *how, *SMALL, "-o", out)
        done = run(MANNEQUIN, *words, *(("--skinning", word) if word else ()))
        assert (done.code, done.err) == (0, "")
        seen[word] = out.read_bytes()
    assert seen["linear"] == seen[None]
    assert seen["linear"] != seen["dual"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--clip", "wlak"), "--clip: no clip 'wlak'; did you mean 'walk'"),
        (("--clip", "zzzz"), "no clip 'zzzz'; there are: 'idle', 'walk', 'run"),
        (
            ("--clip", "walk", "--time", "99"),
            "expected 0 to 1.00, the length of 'walk'",
        ),
        (("--clip", "walk", "--time", "-0.1"), "--time: -0.1, expected 0 to 1.00"),
        (("--clip", "walk", "--time", "nan"), "--time: nan, expected 0 to 1.00"),
        (("--heat", "head", "--style", "cel"), "--heat has a style of its own"),
        (("--clip", "walk", "--rest"), "only one of them"),
        (("--heat", "Heda"), "--heat: no joint 'Heda'; did you mean 'head'"),
        (("--heat", "zzzz"), "no joint 'zzzz'; there are: "),
        (("--style", "pretty"), "style: 'pretty', expected one of shaded"),
        (("--style", "heat"), "say which joint"),
        (("--size", "big"), "--size: 'big', expected such as 640x480"),
        (("--size", "0x480"), "size: "),
        (("--size", "99999x10"), "size: "),
        (("--camera", "below"), "--camera: 'below', expected one of three-quarter"),
        (("--camera", "1,2,3"), "--camera: '1,2,3', expected"),
        (("--camera", "10,120"), "above (up to 90)"),
        (("--background", "sky"), "--background: 'sky', expected one of"),
        (("--fps", "0"), "fps: 0, expected 0.01 to 1000"),
        (("--fps", "nan"), "expected 0.01 to 1000"),
        (("--seconds", "-1"), "--seconds: -1, expected above 0"),
        (("--samples", "3"), "samples: 3, expected 1 or 4"),
        (("--skinning", "cubic"), "--skinning: 'cubic', expected linear or dual"),
        (("--skinning", "dual", "--weights", "one"), "leave out one of them"),
        (("--one-weight", "head"), "--one-weight: is for --weights one"),
        (
            ("--weights", "one", "--one-weight", "hat"),
            "--one-weight: no joint or mesh fits 'hat'; there are: 'hips'",
        ),
        (("--sheet", "4"), "a sheet is a picture"),
        (("--sheet", "4", "--turntable"), "leave out --time, --turntable"),
    ],
)
def test_refusals_are_one_line(
    run: Any, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = run(MANNEQUIN, *words, "-o", tmp_path / "a.mp4")
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("flexor: ")
    assert done.err.count("\n") == 1
    assert said in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("a.avi", (), "unknown ending; pictures are .png"),
        ("a", (), '"name/" for a folder'),
        ("a.png", ("--turntable",), "--turntable gives a movie"),
        ("a.png", ("--sheet", "3", "--rest"), "leave out --rest"),
        ("none/a.mp4", (), "there is no folder"),
        ("none/a.png", (), "there is no folder"),
        ("a.gif", ("--fps", "60"), "at most 50 frames a second"),
    ],
)
@pytest.mark.usefixtures("no_drawing")
def test_names_are_looked_at_before_drawing(
    run: Any, tmp_path: Path, name: str, words: tuple[str, ...], said: str
) -> None:
    done = run(MANNEQUIN, *words, "-o", tmp_path / name)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert said in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("no_drawing")
def test_files_that_cannot_be_read(run: Any, tmp_path: Path) -> None:
    done = run(tmp_path / "none.glb", "-o", tmp_path / "a.mp4")
    assert done.code == 2
    assert "none.glb: cannot be read" in done.err


@pytest.mark.usefixtures("no_drawing")
def test_without_the_extra(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def no_av(name: str, *rest: Any) -> Any:
        if name == "av" or name.startswith("av."):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_av)
    done = run(MANNEQUIN, "-o", tmp_path / "a.mp4")
    assert done.code == 2
    assert "pip install 'flexor[video]'" in done.err
    assert ".webp" in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.jit
def test_an_odd_character(run: Any, hero_file: Path, tmp_path: Path) -> None:
    done = run(hero_file, "--fps", 5, *SMALL, "-o", tmp_path / "a.webp")
    assert done.code == 0
    assert "'linear'" in done.out


def heed_interrupts() -> None:
    """In a process to be: what a shell started in the background ignores SIGINT, and
    what it starts does too.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_stopped_in_the_middle(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    out = tmp_path / "a.webp"
    out.write_bytes(b"old")
    words = ["render", str(MANNEQUIN), "--seconds", "9000", "-o", str(out)]
    command = [sys.executable, "-m", "flexor", *words]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, preexec_fn=heed_interrupts, **pipes) as process:
        try:
            for _ in range(2400):  # until frames are being written
                files = [path for path in tmp_path.iterdir() if path != out]
                if process.poll() is not None or (files and files[0].stat().st_size):
                    break
                time.sleep(0.05)
            process.send_signal(sent)
            printed, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == code
    assert printed == ""
    assert said == "flexor: stopped, nothing was written\n"
    assert os.listdir(tmp_path) == ["a.webp"]
    assert out.read_bytes() == b"old"


def test_the_help_says_of_weights_what_they_do(run: Any) -> None:
    """Nothing but a program's own rule draws by one weight: crowds have levels."""
    said = " ".join(re.sub("[^a-z ]", " ", run("--help").out.lower()).split())
    assert "largest alone" in said
    assert "is used for" not in said
