"""`flexor motion`, `flexor.retarget`, `with_clips`: files written, said and refused."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.retargeting import map_text, plan_clips
from flexor.errors import SettingError
from flexor.pose.clips.mirror import mirror_clip
from flexor.scene.character.clip import Clip
from flexor.scene.human.human import find_human
from tests.same import differences
from tests.scenes import random_scene

BODY = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Spine
  {
    OFFSET 0 12 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    JOINT Head
    {
      OFFSET 0 40 0
      CHANNELS 3 Zrotation Yrotation Xrotation
      End Site
      {
        OFFSET 0 20 0
      }
    }
    LEFTARMRIGHTARM
  }
  LEFTLEGRIGHTLEG
}
MOTION
Frames: 3
Frame Time: 0.5
"""
LIMB = """JOINT {side}{upper}
    {{
      OFFSET {at}
      CHANNELS 3 Zrotation Yrotation Xrotation
      JOINT {side}{lower}
      {{
        OFFSET {way}
        CHANNELS 3 Zrotation Yrotation Xrotation
        JOINT {side}{end}
        {{
          OFFSET {way}
          CHANNELS 3 Zrotation Yrotation Xrotation
          End Site
          {{
            OFFSET 0 0 8
          }}
        }}
      }}
    }}
"""
NAMES = ["Hips", "Spine", "Head"]


def walker() -> str:
    """A body in centimetres, arms out, that raises its left arm while it goes."""
    text = BODY
    for side, sign in (("Left", 1), ("Right", -1)):
        arm = {"upper": "Arm", "lower": "ForeArm", "end": "Hand"}
        leg = {"upper": "UpLeg", "lower": "Leg", "end": "Foot"}
        arms = LIMB.format(
            side=side, at=f"{sign * 18} 32 0", way=f"{sign * 26} 0 0", **arm
        )
        legs = LIMB.format(side=side, at=f"{sign * 9} -3 0", way="0 -42 0", **leg)
        text = text.replace(f"{side.upper()}ARM", arms).replace(
            f"{side.upper()}LEG", legs
        )
    order = [
        *NAMES,
        *(f"{s}{p}" for s in ("Left", "Right") for p in ("Arm", "ForeArm", "Hand")),
    ]
    order += [f"{s}{p}" for s in ("Left", "Right") for p in ("UpLeg", "Leg", "Foot")]
    for frame in range(3):
        row = [0.0, 87.0, 50.0 * frame, 0, 0, 0]
        for name in order[1:]:
            row += [30.0 * frame if name == "LeftArm" else 0.0, 0, 0]
        text += " ".join(f"{value:g}" for value in row) + "\n"
    return text


@pytest.fixture(scope="module")
def hero() -> Character:
    return flexor.samples.mannequin()


@pytest.fixture(scope="module")
def file(hero: Character, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("motion") / "hero.glb"
    flexor.save(hero, place)
    return place


@pytest.fixture(scope="module")
def bvh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("motion") / "wave.bvh"
    place.write_text(walker())
    return place


def test_with_clips(hero: Character) -> None:
    short = replace(hero.clips["walk"], name="other")
    more = hero.with_clips({"stroll": short})
    assert list(more.clips) == [*hero.clips, "stroll"]
    assert more.clips["stroll"].name == "stroll"
    assert list(hero.with_clips({"walk": short}).clips) == list(hero.clips)
    assert list(hero.with_clips({"stroll": short}, only=True).clips) == ["stroll"]
    assert (
        more.pose("stroll", 0.3).world.tobytes()
        == hero.pose("walk", 0.3).world.tobytes()
    )


def test_with_clips_keeps_envelopes(rng: np.random.Generator) -> None:
    small = Character(random_scene(rng, nodes=6))
    packed = small.with_envelopes(small.envelopes)
    assert packed.with_clips({}).envelopes is packed.envelopes


@pytest.mark.slow
def test_retarget(hero: Character, bvh: Path) -> None:
    other = flexor.load(bvh)
    more = flexor.retarget(hero, other)
    assert list(more.clips) == [*hero.clips, "wave"]
    human = find_human(hero.skeleton)
    poses = more.pose_many("wave", [0.0, 1.0])
    arm = [poses.world[n, human["leftLowerArm"], :, 3] for n in (0, 1)]
    arm = [a - poses.world[n, human["leftUpperArm"], :, 3] for n, a in enumerate(arm)]
    ways = [a / np.linalg.norm(a) for a in arm]
    np.testing.assert_allclose(ways[0], [1, 0, 0], atol=1e-3)
    angle = np.radians(60)
    np.testing.assert_allclose(ways[1], [np.cos(angle), np.sin(angle), 0], atol=1e-3)
    rest = hero.pose().world
    for n in (0, 1):  # on the ground, where the other's ankles were
        foot = poses.world[n, human["leftFoot"], 1, 3] - rest[human["leftFoot"], 1, 3]
        assert abs(foot) < 0.01
    hips = poses.world[:, human["hips"], 2, 3]
    legs = [
        np.linalg.norm(rest[human[a], :, 3] - rest[human[b], :, 3])
        for a, b in (("leftUpperLeg", "leftLowerLeg"), ("leftLowerLeg", "leftFoot"))
    ]
    assert hips[1] - hips[0] == pytest.approx(100 * sum(legs) / 84, rel=1e-3)
    still = flexor.retarget(hero, other, "wave", travel=False, name="stand")
    hips = still.pose_many("stand", [0.0, 1.0]).world[:, human["hips"], 2, 3]
    assert hips[1] == pytest.approx(hips[0], abs=1e-6)


def test_what_cannot_be_retargeted_is_refused(hero: Character, bvh: Path) -> None:
    other = flexor.load(bvh)
    with pytest.raises(SettingError, match="expected a character"):
        flexor.retarget(hero, bvh)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="no 'run'; there are: 'wave'"):
        flexor.retarget(hero, other, "run")
    with pytest.raises(SettingError, match="for 2 clips"):
        flexor.retarget(hero, hero, ["walk", "run"], name="both")
    with pytest.raises(SettingError, match="no clip to retarget"):
        flexor.retarget(hero, other.with_clips({}, only=True))


def test_morph_weights_go_along(rng: np.random.Generator) -> None:
    small = Character(random_scene(rng, nodes=6))
    more = flexor.retarget(small.with_clips({}, only=True), small, "linear")
    times = [0.3, 0.7]
    want, got = small.pose_many("linear", times), more.pose_many("linear", times)
    np.testing.assert_allclose(got.weights, want.weights, atol=1e-5)
    np.testing.assert_allclose(got.world, want.world, atol=1e-4)


@pytest.mark.slow
def test_links_are_baked(run: Any, hero: Character, tmp_path: Path) -> None:
    """When a file is written: of clips that were retargeted, given or cut."""
    linked, _ = flexor.repair(hero, links=3, joints=["*-elbow"], has_measures=False)
    more = flexor.retarget(linked, hero, "walk", name="again")
    bare = hero.clips["run"]
    flexor.save(more.with_clips({**more.clips, "bare": bare}), tmp_path / "a.glb")
    words = ("--clip", "bare", "--speed", "1", "--name", "bare", "--only")
    assert run("motion", tmp_path / "a.glb", *words, "-o", tmp_path / "b.glb").code == 0
    for file, name in (("a", "again"), ("a", "bare"), ("b", "bare")):
        made = flexor.load(tmp_path / f"{file}.glb")
        nodes = {track.node for track in made.clips[name].tracks}
        assert set(made.skeleton.links) <= nodes


@pytest.mark.slow
def test_a_motion_of_another_file(
    run: Any, file: Path, bvh: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.glb"
    done = run("motion", file, "--from", bvh, "-o", out, "--name", "greet")
    assert done.code == 0
    assert done.err == ""
    assert "wave.bvh: 18 joints matched as parts of human bodies" in done.out
    assert "greet: 1.00 s" in done.out
    assert f"wrote {out}" in done.out
    assert "clips: 1 new, 15 kept" in done.out
    made = flexor.load(out)
    assert list(made.clips)[-1] == "greet"
    only = run("motion", file, "--from", bvh, "-o", out, "--only")
    assert "clips: 1 new, 0 kept" in only.out
    assert list(flexor.load(out).clips) == ["wave"]


@pytest.mark.slow
def test_own_clips_changed(
    run: Any, file: Path, hero: Character, tmp_path: Path
) -> None:
    out = tmp_path / "out.glb"
    done = run(
        "motion", file, "-o", out, "--clip", "kick", "--clip", "punch", "--mirror"
    )
    assert done.code == 0
    made = flexor.load(out)
    assert list(made.clips)[-2:] == ["punch-mirrored", "kick-mirrored"]
    wanted = mirror_clip(hero.clips["kick"], hero.skeleton)
    for track, other in zip(
        made.clips["kick-mirrored"].tracks, wanted.tracks, strict=True
    ):
        np.testing.assert_allclose(track.values, other.values, atol=1e-6)
    run(
        "motion", file, "-o", out, "--clip", "walk", "--trim", "0.25:0.75", "--speed", 2
    )
    assert flexor.load(out).clips["walk-cut-speed"].duration == pytest.approx(0.25)
    run(
        "motion",
        file,
        "-o",
        out,
        "--clip",
        "run",
        "--clip",
        "walk",
        "--join",
        "--fade",
        0.2,
    )
    joined = flexor.load(out).clips["walk-run"]
    length = hero.clips["walk"].duration + hero.clips["run"].duration - 0.2
    assert joined.duration == pytest.approx(length, abs=1e-5)
    done = run("motion", file, "-o", out, "--drop", "walk", "--drop", "run")
    assert "clips: 0 new, 13 kept" in done.out
    assert "walk" not in flexor.load(out).clips


def test_joined_motions_go_on(run: Any, file: Path, bvh: Path, tmp_path: Path) -> None:
    again, out = bvh.with_name("again.bvh"), tmp_path / "out.glb"
    again.write_text(bvh.read_text())
    words = ("motion", file, "--from", bvh, "--from", again, "--join", "--only")
    ends = []
    for more in ((), ("--as-placed",)):
        assert run(*words, "--name", "on", "-o", out, *more).code == 0
        made = flexor.load(out)
        hips = find_human(made.skeleton)["hips"]
        ends.append(made.pose_many("on", [0.0, 2.0]).world[:, hips, 2, 3])
    on, back = (float(end[1] - end[0]) for end in ends)
    assert on == pytest.approx(2 * back, rel=1e-3)
    assert back > 0.5


@pytest.mark.slow
def test_on_the_spot(run: Any, file: Path, bvh: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.flexor"
    assert (
        run("motion", file, "--from", bvh, "-o", out, "--in-place", "--only").code == 0
    )
    made = flexor.load(out)
    hips = find_human(made.skeleton)["hips"]
    places = made.pose_many("wave", np.linspace(0, 1, 5)).world[:, hips, :, 3]
    np.testing.assert_allclose(places, np.tile(places[:1], (5, 1)), atol=1e-4)


def test_a_map_of_names(run: Any, file: Path, bvh: Path, tmp_path: Path) -> None:
    out, names = tmp_path / "out.glb", tmp_path / "map.toml"
    joints = flexor.load(file).skeleton.names
    names.write_text(f'[names]\nHips = "{joints[2]}"\nLeftArm = "{joints[9]}"\n')
    done = run("motion", file, "--from", bvh, "--map", names, "-o", out)
    assert done.code == 0
    assert "as parts of human bodies, 2 of them by the map of names" in done.out
    with names.open("a") as end:
        end.write('"*" = ""\n')
    done = run("motion", file, "--from", bvh, "--map", names, "-o", out)
    assert "2 joints matched by the map of names" in done.out
    assert "not used: 'Spine', 'Head'" in done.out
    for text, wrong in (
        ("Hips = 3\n", "line 1: Hips: expected the name"),
        ("", "expected lines such as"),
        ("Hips =\n", "is no TOML"),
        ('Hip = "head"\n', "no joint 'Hip'; there are 'Hips'"),
    ):
        names.write_text(text)
        done = run(
            "motion", file, "--from", bvh, "--map", names, "-o", tmp_path / "no.glb"
        )
        assert done.code == 2
        assert wrong in done.err
        assert not (tmp_path / "no.glb").exists()


def test_a_map_is_written_and_corrected(
    run: Any, file: Path, bvh: Path, tmp_path: Path
) -> None:
    names = tmp_path / "map.toml"
    done = run("motion", file, "--from", bvh, "--write-map", names)
    assert done.code == 0
    assert f"wrote {names}: 18 joints" in done.out
    text = names.read_text()
    hero, other = flexor.load(file), flexor.load(bvh)
    found = plan_clips(hero, other, ["wave"]).match
    pairs = tomllib.loads(text)["names"]
    assert plan_clips(hero, other, ["wave"], pairs).match.feeds == found.feeds
    assert text == map_text(plan_clips(hero, other, ["wave"], pairs))
    arm = pairs["LeftArm"]
    names.write_text(text.replace(f'"LeftArm" = "{arm}"', '"LeftArm" = false'))
    done = run("motion", file, "--from", bvh, "--map", names, "--list")
    assert "17 joints matched" in done.out
    assert f"'{arm}'" in done.out.split("at rest: ")[1]
    for words, wrong in (
        (("--write-map", names), "goes with one --from"),
        (("--from", bvh, "--write-map", tmp_path / "x.txt"), "ending in .toml"),
        (("--from", bvh, "--write-map", tmp_path / "no" / "x.toml"), "no folder"),
    ):
        done = run("motion", file, *words)
        assert done.code == 2
        assert wrong in done.err


def test_what_stays_behind_is_told(hero: Character, bvh: Path) -> None:
    other = flexor.load(bvh)
    assert plan_clips(hero, other, ["wave"]).notes == ()
    human = find_human(hero.skeleton)
    parents = hero.skeleton.parents.copy()
    loose = human["leftHand"]
    parents[loose] = -1
    skeleton = replace(hero.skeleton, parents=parents, matrices={}, links={})
    odd = Character(replace(hero.scene, skeleton=skeleton, clips={}))
    (note,) = plan_clips(odd, other, ["wave"], {"LeftHand": ""}).notes
    assert note.startswith("parts of the surface stay behind with ")
    assert repr(hero.skeleton.names[loose]) in note
    assert note.endswith("which nothing moves; a map of names may give them a joint")
    arms = {"*": "", "LeftArm": hero.skeleton.names[human["leftUpperArm"]]}
    assert plan_clips(odd, other, ["wave"], arms).notes == ()


def test_a_list(run: Any, file: Path, bvh: Path) -> None:
    done = run("motion", file, "--list", "--from", bvh)
    assert done.code == 0
    assert "walk" in done.out
    assert "LeftForeArm" in done.out
    assert "at rest: " in done.out


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("-o", "x.glb"), "nothing to do"),
        (("--mirror",), "-o: give a"),
        (("--mirror", "-o", "x.mp4"), "expected a file ending in"),
        (("--mirror", "-o", "no/x.glb"), "no"),
        (("--mirror", "-o", "x.glb", "--clip", "wlak"), "did you mean 'walk'"),
        (("--drop", "wlak", "-o", "x.glb"), "did you mean 'walk'"),
        (("--trim", "1", "-o", "x.glb"), "--trim: '1', expected seconds"),
        (("--trim", "a:b", "-o", "x.glb"), "--trim: 'a:b'"),
        (("--trim", "5:9", "-o", "x.glb"), "lasts"),
        (("--speed", "0", "-o", "x.glb"), "factor"),
        (("--mirror", "--name", "x", "-o", "x.glb"), "for one clip, there are 15"),
        (("--clip", "run", "--mirror", "--name", "walk", "-o", "x.glb"), "already"),
        (("--fade", "1", "--mirror", "-o", "x.glb"), "--fade: goes with --join"),
        (("--as-placed", "--mirror", "-o", "x.glb"), "--as-placed: goes with --join"),
        (("--map", "x.toml", "--mirror", "-o", "x.glb"), "--map: goes with --from"),
        (("--list", "-o", "x.glb"), "--list: writes nothing"),
        (("--from", "no.bvh", "-o", "x.glb"), "no.bvh"),
    ],
)
def test_refusals(
    run: Any,
    file: Path,
    words: tuple[str, ...],
    wrong: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("motion", file, *words)
    assert done.code == 2
    assert wrong in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_two_files_with_the_same_clip(
    run: Any, file: Path, bvh: Path, tmp_path: Path
) -> None:
    done = run("motion", file, "--from", bvh, "--from", bvh, "-o", tmp_path / "x.glb")
    assert done.code == 2
    assert "two files have a clip 'wave'" in done.err


def test_a_character_without_clips(run: Any, bvh: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.glb"
    flexor.save(flexor.samples.mannequin().with_clips({}, only=True), bare)
    done = run("motion", bare, "--mirror", "-o", tmp_path / "x.glb")
    assert done.code == 2
    assert "there are no clips; --from takes some" in done.err
    assert run("motion", bare, "--from", bvh, "-o", tmp_path / "x.glb").code == 0
    made = replace(flexor.load(tmp_path / "x.glb").scene, clips={})
    assert not list(differences(flexor.load(bare).scene, made))


def test_one_that_is_no_human(run: Any, bvh: Path, tmp_path: Path, rng: Any) -> None:
    thing = tmp_path / "thing.glb"
    flexor.save(Character(random_scene(rng, nodes=6)), thing)
    done = run("motion", thing, "--from", bvh, "-o", tmp_path / "x.glb")
    assert done.code == 2
    assert "wave.bvh: 0 joints have equal names, and the target" in done.err
    assert "give a map of names" in done.err


def test_clip_names_may_be_anything(hero: Character) -> None:
    odd = hero.with_clips({"": hero.clips["walk"], "a/b": Clip("x", ())})
    assert list(odd.clips)[-2:] == ["", "a/b"]


@pytest.mark.slow
def test_a_source_with_links_gives_all_its_joints(hero: Character) -> None:
    linked, _ = flexor.repair(hero, links=2, has_measures=False)
    plain = flexor.retarget(hero, hero, "walk", name="again")
    made = flexor.retarget(hero, linked, "walk", name="again")
    times = [0.1, 0.6]
    one = plain.pose_many("again", times).world
    other = made.pose_many("again", times).world
    np.testing.assert_allclose(one, other, atol=1e-4)
