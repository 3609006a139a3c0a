"""`flexor render --crowd`: many copies of a character on a field."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.cli.progress import show_progress, show_status
from flexor.errors import BackendMissing, SettingError
from flexor.output.image import IMAGES, save_image
from flexor.output.movie import open_movie

if TYPE_CHECKING:
    from flexor.api.character import Character
    from flexor.api.crowd import Crowd
    from flexor.cli.shot import Shot
    from flexor.pose.clips.root_motion import RootMotion
    from flexor.scene.character.camera import Camera
    from flexor.scene.character.clip import Clip
    from flexor.scene.runtime.packed_clip import PackedClip

__all__ = ["CROWD_VIEW", "check_crowd", "render_crowd"]

MOST = 10_000
SIZE = (1280, 720)  # of the picture, if not said
CROWD_VIEW = "12,16"  # of the camera, if not said: degrees around and above
FOV = math.radians(34)
# At how many moments a clip is looked at, and how many seconds later again.
MOMENTS, STEP = (12, 48), 1 / 240
MOST_POINTS = 4_000_000  # vertices of all moments; of large characters, fewer moments
FAR = 0.1  # of its height: a clip that ends so far away travels
TURNED = 0.3  # radians: or ends turned by so much
ROOM = 1.35  # of what one takes of the ground, to the next
TALL = 0.7  # of the height: to the next, at least
STRAY = 0.18  # of the room to the next: how far one is from its place in the row
LOOK = 0.35  # radians by which one that stays where it is looks aside
SIZES = (0.92, 1.08)
SHADES, TINT = (0.7, 1.15), 0.42  # factors on colours, and how far channels differ
# Of more than a few, the camera sees this share of the first row and of the last.
FEW, FIRST, LAST = 24, 0.12, 0.5


def check_crowd(
    count: int | None, seed: int | None, refused: Mapping[str, object]
) -> None:
    """Refuse what makes no sense with a crowd; refused: options, False or None for
    those that were not given.
    """
    if count is None:
        if seed is not None:
            raise SettingError("--seed: is for a crowd; give --crowd too")
        return
    if not 1 <= count <= MOST:
        raise SettingError(f"--crowd: {count}, expected 1 to {MOST} characters")
    given = [name for name, value in refused.items() if not _is_left_out(value)]
    if given:
        raise SettingError(f"--crowd and {given[0]}: a crowd has none; leave out one")


def _is_left_out(value: object) -> bool:
    return value is None or value is False  # but 0 is a number


def render_crowd(
    character: Character,
    shot: Shot,
    clip: str | None,
    count: int,
    seed: int,
    frames: int | None,
    fps: float,
) -> None:
    """Write a picture or a movie of `count` characters, and say what is in it.

    clip: what they play, None for the rest pose; seed: of what makes them differ;
    frames: of the movie, None for a picture.
    """
    shot = replace(shot, size=shot.size or SIZE, style=replace(shot.style, ground=True))
    if frames is None:
        crowd, camera = _set_up(character, shot, clip, count, seed)
        save_image(shot.out, _first(crowd, camera, shot))
        name = "rest pose" if clip is None else repr(clip)
        typer.echo(f"{shot.out}: {name}, {_size(shot)}")
        return
    if clip is None:
        raise SettingError(
            f"-o {shot.out}: a crowd in the rest pose does not move; a picture shows "
            f"it, {', '.join(IMAGES)}"
        )
    assert shot.size is not None
    # The file is opened first: what is wrong with it is said before work is done.
    with open_movie(shot.out, shot.size, fps) as movie:
        crowd, camera = _set_up(character, shot, clip, count, seed)
        middle = crowd.place.mean(0)
        movie.add(_first(crowd, camera, shot))
        started = clock.perf_counter()  # kernels are compiled by now
        with show_progress(Path(shot.out).name, frames) as advance:
            advance()
            for _ in range(frames - 1):
                crowd.advance(1 / fps)
                # It goes along with them: those who walk would soon be gone.
                along = camera.moved(crowd.place.mean(0) - middle)
                movie.add(crowd.draw(along, shot.size, shot.style))
                advance()
    elapsed = max(clock.perf_counter() - started, 1e-3)
    typer.echo(
        f"{shot.out}: {clip!r}, {frames} frames of {_size(shot)}, {frames / fps:.2f} s "
        f"at {fps:g} fps; written in {elapsed:.1f} s, {frames / elapsed:.0f} frames a "
        "second"
    )


def _size(shot: Shot) -> str:
    width, height = shot.size or SIZE
    return f"{width} x {height}"


def _first(crowd: Crowd, camera: Camera, shot: Shot) -> NDArray[np.uint8]:
    """The first picture; says how many are at which level."""
    pixels = crowd.draw(camera, shot.size or SIZE, shot.style)
    levels = range(len(crowd.state.kinds[0].levels))
    many = [int(np.count_nonzero(crowd.level == level)) for level in levels]
    said = ", ".join(f"{n} at level {level}" for level, n in enumerate(many))
    who = "character" if len(crowd) == 1 else "characters"
    typer.echo(f"{len(crowd)} {who}, {sum(many)} in the picture: {said}")
    return pixels


def _set_up(
    character: Character, shot: Shot, clip: str | None, count: int, seed: int
) -> tuple[Crowd, Camera]:
    """A crowd that is ready to play its clip, and a camera for it."""
    from flexor.stage.crowd.rows import place_in_rows

    if not any(bind.vertex_count for bind in character.binds):
        raise SettingError("--crowd: there is no surface to be drawn")
    travel, (wide, tall, deep) = _look_at(character, clip)
    with show_status("levels of detail"):
        crowd = _make_crowd(character, clip, travel, count)
    rng = np.random.default_rng(seed)
    least = TALL * tall or 1.0
    room = max(ROOM * wide, least), max(ROOM * deep, least)
    crowd.place[:] = place_in_rows(count, room, rng, stray=STRAY)
    crowd.size[:] = rng.uniform(*SIZES, count)
    hues = rng.uniform(-1, 1, (count, 3))
    hues -= hues.mean(1, keepdims=True)
    crowd.colour[:, :3] = rng.uniform(*SHADES, (count, 1)) * (1 + TINT * hues)
    phases, looks = rng.random(count), rng.uniform(-LOOK, LOOK, count)
    if travel is None:
        crowd.heading[:] = looks
    if clip is not None:
        times = phases * character.clips[clip].duration
        # The short take quicker steps, so that none catches up with the next.
        crowd.play(clip, time=times, speed=1 / crowd.size)
        if travel is not None:
            crowd.heading[:] = np.interp(times, travel[1].times, travel[1].headings)
    return crowd, _camera(crowd, shot, tall)


def _make_crowd(
    character: Character,
    clip: str | None,
    travel: tuple[Clip | PackedClip, RootMotion] | None,
    count: int,
) -> Crowd:
    """The crowd, in full where levels of detail cannot be made."""
    from flexor.api.crowd import Crowd

    ways = {} if clip is None or travel is None else {clip: travel}
    try:
        return Crowd(character, count, root_motion=ways)
    except BackendMissing as error:
        typer.echo(f"flexor: warning: all are drawn in full; {error}", err=True)
        return Crowd(character, count, root_motion=ways, levels=False)


def _look_at(
    character: Character, clip: str | None
) -> tuple[tuple[Clip | PackedClip, RootMotion] | None, tuple[float, ...]]:
    """How a clip carries its character on, None if it does not, and the size (3,) of
    all it shows on the spot.
    """
    from flexor.pose.clips.root_motion import extract_root_motion, steady_motion
    from flexor.stage.crowd.ground_speed import ground_velocity

    if clip is None or not character.clips[clip].duration > STEP:
        return None, _extent(_vertices(character, clip, np.zeros(1)))
    made = character.clips[clip]
    vertices = sum(bind.vertex_count for bind in character.binds)
    count = min(max(MOST_POINTS // vertices, MOMENTS[0]), MOMENTS[1])
    times = np.linspace(0, made.duration - STEP, count)
    try:
        travel = extract_root_motion(made, character.skeleton)
    except SettingError:  # scaled so that a turn cannot be taken out
        travel = None
    if travel is not None:
        spot = character.with_clips({clip: travel[0]})
        before = _vertices(spot, clip, times)
        ended = travel[1].places[-1] - travel[1].places[0]
        turned = travel[1].headings[-1] - travel[1].headings[0]
        if np.hypot(*ended[[0, 2]]) > FAR * _extent(before)[1] or abs(turned) > TURNED:
            return travel, _extent(before)
    before = _vertices(character, clip, times)
    after = _vertices(character, clip, times + STEP)
    velocity = ground_velocity(before, after, STEP)
    if velocity is None:
        return None, _extent(before)
    return (made, steady_motion(made.duration, velocity)), _extent(before)


def _vertices(
    character: Character, clip: str | None, times: NDArray[np.float64]
) -> Floats:
    """All vertices at T times: (T, V, 3)."""
    skins = character.deform_many(character.pose_many(clip, times))
    every: Floats = np.concatenate([skin.positions for skin in skins], 1)
    return every


def _extent(points: Floats) -> tuple[float, ...]:
    """How far points (..., 3) reach along x, y and z, those that are finite."""
    rows = points.reshape(-1, 3).astype(np.float64)
    rows = rows[np.isfinite(rows).all(1)]
    return tuple(np.ptp(rows, axis=0).tolist()) if len(rows) else (0.0, 0.0, 0.0)


def _camera(crowd: Crowd, shot: Shot, tall: float) -> Camera:
    """A camera that has all in the picture if they are few, of many a good part."""
    from flexor.draw.scene.fit import direction_of, fit_camera

    places = crowd.place.copy()
    places[:, 1] += crowd.soles
    if len(crowd) > FEW:
        back = places[:, 2] / places[:, 2].min()
        share = FIRST + (LAST - FIRST) * back
        x = np.abs(places[:, 0])
        places = places[x <= share * x.max()]
    top = np.array([0.0, tall, 0.0])
    points = np.concatenate([places, places + top])
    return fit_camera(
        points,
        shot.size or SIZE,
        direction=direction_of(*shot.view),
        is_flat=shot.is_flat,
        fov=FOV,
    )
