"""`flexor render`: a clip as a video, a picture, or a sheet of poses."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from flexor.cli.progress import show_progress, tidy_when_ended
from flexor.cli.render_crowd import CROWD_VIEW, check_crowd, render_crowd
from flexor.cli.shot import Shot
from flexor.cli.texts import (
    VIEWS,
    parse_colour,
    parse_size,
    parse_view,
    say_lost_links,
    say_names,
)
from flexor.cli.views import Joints, LimitsFile, Show, add_views, fit_views
from flexor.draw.scene.style import DrawStyle, Style
from flexor.errors import SettingError
from flexor.files.replace import check_parent
from flexor.output.image import IMAGES, save_image
from flexor.output.movie import MOVIES, is_folder, open_movie

if TYPE_CHECKING:
    from flexor.api.character import Character
    from flexor.api.pictures.drawing import Drawer
    from flexor.api.skins import Method, Weights
    from flexor.scene.character.camera import Camera
    from flexor.scene.finding import Finding

__all__ = ["render"]

TURN_SECONDS = 4.0  # of one turn, at least
ROUNDED = 0.005  # seconds; lengths are printed rounded

File = Annotated[
    Path, typer.Argument(help="A .glb, .gltf, .vrm, .flexor or .bvh file.")
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help=f"What to write: a picture ({' '.join(IMAGES)}), a movie "
        f"({' '.join(MOVIES)}), or name/ for a folder of pictures.",
    ),
]
Clip = Annotated[str | None, typer.Option(help="Which clip; the first, if not said.")]
Rest = Annotated[bool, typer.Option("--rest", help="The rest pose, no clip.")]
Time = Annotated[
    float | None, typer.Option(help="Hold the clip at this time in seconds.")
]
Seconds = Annotated[
    float | None, typer.Option(help="Length of the movie; the clip is repeated.")
]
Fps = Annotated[float, typer.Option(help="Frames a second.")]
Size = Annotated[
    str,
    typer.Option(
        help="Width x height in pixels; 640x480 if not said, 1280x720 for a crowd. For "
        "a sheet, of each pose; what suits it if not said."
    ),
]
View = Annotated[
    str,
    typer.Option(
        "--camera",
        help=f"{', '.join(VIEWS)}, or degrees around,above; three-quarter if not said, "
        "for a crowd from the front and above.",
    ),
]
Flat = Annotated[bool, typer.Option("--orthographic", help="Without perspective.")]
StyleName = Annotated[str, typer.Option("--style", help=", ".join(get_args(Style)))]
Turntable = Annotated[bool, typer.Option("--turntable", help="Go around it once.")]
Sheet = Annotated[
    int | None, typer.Option(help="This many poses of the clip in one picture.")
]
Bones = Annotated[bool, typer.Option("--bones", help="Show the skeleton.")]
Names = Annotated[bool, typer.Option("--names", help="Show the names of joints.")]
Heat = Annotated[
    str | None, typer.Option(metavar="JOINT", help="Show the weights of this joint.")
]
Ground = Annotated[bool, typer.Option("--ground", help="A grid on the floor.")]
Shadow = Annotated[bool | None, typer.Option(help="A soft shadow on the floor.")]
Background = Annotated[
    str | None, typer.Option(help="Such as white, transparent, #dde4ea.")
]
WeightsName = Annotated[
    str,
    typer.Option(
        "--weights",
        help="multi: all weights of each vertex; one: the largest alone, which is "
        "quicker, and will do where a character is small in the picture.",
    ),
]
OneWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="With --weights one: only these have one weight, by patterns of names of "
        "joints or meshes. Can be given more than once.",
    ),
]
Skinning = Annotated[
    str,
    typer.Option(
        help="How weights are blended. linear: matrices; dual: dual quaternions, which "
        "keep twisted limbs round."
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Leave out meshes, by patterns of their names or of their nodes', such as "
        "'*Shield*'. Can be given more than once.",
    ),
]
Samples = Annotated[int, typer.Option(help="4 for smooth edges, 1 for speed.")]
CrowdCount = Annotated[
    int | None,
    typer.Option(
        "--crowd",
        metavar="N",
        help="This many of it, 1 to 10000, on a field; those far away at coarser "
        "levels of detail. Steps, sizes and colours differ.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Of what differs in a crowd; 0, if not said."),
]


def render(
    file: File,
    out: Out,
    clip: Clip = None,
    rest: Rest = False,
    time: Time = None,
    seconds: Seconds = None,
    fps: Fps = 30.0,
    size: Size = "",
    camera: View = "",
    orthographic: Flat = False,
    style: StyleName = "",
    turntable: Turntable = False,
    sheet: Sheet = None,
    bones: Bones = False,
    names: Names = False,
    heat: Heat = None,
    show: Show = None,
    joints: Joints = None,
    limits: LimitsFile = None,
    ground: Ground = False,
    shadow: Shadow = None,
    background: Background = None,
    samples: Samples = 4,
    weights: WeightsName = "multi",
    skinning: Skinning = "linear",
    crowd: CrowdCount = None,
    seed: Seed = None,
    without: Without = None,
    one_weight: OneWeight = None,
) -> None:
    """Draw a character, or a crowd of it: a clip as a video, a pose, a sheet."""
    refused: dict[str, object] = {"--time": time, "--sheet": sheet, "--heat": heat}
    refused |= {"--turntable": turntable, "--bones": bones, "--names": names}
    refused |= {"--show": show, "--weights one": weights == "one"}
    refused |= {"--skinning dual": skinning == "dual"}
    check_crowd(crowd, seed, refused)
    _check_one_weight(one_weight, weights)
    looks = DrawStyle(
        style=_choose_style(style, heat),
        samples=samples,
        background=None if background is None else parse_colour(background),
        ground=ground,
        shadow=shadow,
        bones=bones,
        names=names,
        heat=heat,
    )
    looks = add_views(looks, show, joints, limits)
    shot = Shot(
        out,
        parse_size(size) if size else None,
        parse_view(camera or ("three-quarter" if crowd is None else CROWD_VIEW)),
        orthographic,
        looks,
        _choose_weights(weights),
        _choose_method(skinning, weights),
    )
    kind = _kind(out, sheet is not None, time is not None, turntable)
    check_parent(Path(out))

    with tidy_when_ended():
        character = _load(file, without, one_weight)
        _check_joint(character, heat)
        shot = replace(shot, style=fit_views(looks, character, limits))
        name = _choose_clip(character, clip, rest)
        time = _check_time(character, name, time)
        # Without a clip nothing would move; a crowd is shown for as long as a turn.
        turns = turntable or crowd is not None or (name is None and time is None)
        plan = _plan(character, name, time, seconds, fps, turns)
        if crowd is not None:
            frames = len(plan.times) if kind == "movie" else None
            render_crowd(character, shot, name, crowd, seed or 0, frames, fps)
        elif sheet is not None:
            _write_sheet(character, shot, name, sheet)
        elif kind == "picture":
            _write_picture(character, shot, name, time or 0.0)
        else:
            _write_movie(character, shot, name, plan, fps)


@dataclass(frozen=True, slots=True)
class Plan:
    """Of each frame: time in the clip, seconds; turn of the camera, radians."""

    times: tuple[float, ...]
    turns: tuple[float, ...]

    @property
    def is_turning(self) -> bool:
        """Whether the camera moves."""
        return any(self.turns)


def _kind(out: str, is_sheet: bool, is_held: bool, is_turning: bool) -> str:
    """What is to be written: "sheet", "picture" or "movie"."""
    if is_sheet and (is_held or is_turning):
        raise SettingError("--sheet: shows a whole clip; leave out --time, --turntable")
    ending = Path(out).suffix.lower()
    is_movie = is_folder(out) or ending in MOVIES
    is_image = not is_folder(out) and ending in IMAGES
    if not (is_movie or is_image):
        raise SettingError(
            f"-o {out}: unknown ending; pictures are {', '.join(IMAGES)}, movies are "
            f'{", ".join(MOVIES)}, or "name/" for a folder of pictures'
        )
    if is_sheet and not is_image:
        raise SettingError(f"-o {out}: a sheet is a picture, {', '.join(IMAGES)}")
    if is_turning and not is_movie:
        raise SettingError(
            f"-o {out}: --turntable gives a movie, {', '.join(MOVIES)}, or "
            '"name/" for a folder of pictures'
        )
    if is_sheet:
        return "sheet"
    # A .webp can be both.
    is_still = is_held and not is_turning
    return "picture" if is_image and (is_still or not is_movie) else "movie"


def _choose_style(style: str, heat: str | None) -> Style:
    if heat is not None and style not in ("", "heat"):
        raise SettingError(
            f"--heat and --style {style}: --heat has a style of its own; leave out "
            "one of them"
        )
    return style or ("heat" if heat else "shaded")  # type: ignore[return-value]


def _choose_weights(text: str) -> Weights:
    if text not in ("multi", "one"):
        raise SettingError(f"--weights: {text!r}, expected multi or one")
    return "one" if text == "one" else "multi"


def _choose_method(text: str, weights: str) -> Method:
    if text not in ("linear", "dual"):
        raise SettingError(f"--skinning: {text!r}, expected linear or dual")
    if text == "linear":
        return "linear"
    if weights == "one":
        raise SettingError(
            "--skinning dual and --weights one: with one weight nothing is blended; "
            "leave out one of them"
        )
    return "dual"


def _choose_clip(character: Character, clip: str | None, rest: bool) -> str | None:
    """The clip that is meant, None for the rest pose."""
    if rest:
        if clip is not None:
            raise SettingError("--clip and --rest: only one of them can be drawn")
        return None
    if clip is None:
        return next(iter(character.clips), None)
    if clip not in character.clips:
        said = say_names(clip, list(character.clips))
        raise SettingError(f"--clip: no clip {clip!r}; {said}")
    return clip


def _check_time(
    character: Character, clip: str | None, time: float | None
) -> float | None:
    """A time inside the clip; its end where that was rounded up."""
    if clip is None or time is None:
        return time
    length = character.clips[clip].duration
    if not 0 <= time <= length + ROUNDED:
        raise SettingError(
            f"--time: {time:g}, expected 0 to {length:.2f}, the length of {clip!r} in "
            "seconds"
        )
    return min(time, length)


def _check_joint(character: Character, name: str | None) -> None:
    names = character.skeleton.names
    if name is not None and name not in names:
        raise SettingError(f"--heat: no joint {name!r}; {say_names(name, names)}")


def _plan(
    character: Character,
    clip: str | None,
    time: float | None,
    seconds: float | None,
    fps: float,
    is_turning: bool,
) -> Plan:
    """Which frames a movie has."""
    if not 0.01 <= fps <= 1000:
        raise SettingError(f"--fps: {fps:g}, expected 0.01 to 1000 frames a second")
    if seconds is not None and not 0 < seconds <= 86400:
        raise SettingError(f"--seconds: {seconds:g}, expected above 0 to 86400")
    length = character.clips[clip].duration if clip and time is None else 0.0
    if seconds is None:
        seconds = length
        if is_turning:
            # Whole clips, so that the movie can be repeated without a jump.
            repeats = math.ceil(TURN_SECONDS / length) if length else 0
            seconds = repeats * length or TURN_SECONDS
    count = max(1, round(seconds * fps))
    moments = [i / fps for i in range(count)]
    if length:
        times = [moment % length for moment in moments]
    else:
        times = [time or 0.0] * count
    angle = math.tau / count if is_turning else 0.0
    return Plan(tuple(times), tuple(angle * i for i in range(count)))


def _write_movie(
    character: Character, shot: Shot, clip: str | None, plan: Plan, fps: float
) -> None:
    from flexor.api.pictures.drawing import Drawer

    size = shot.size or (640, 480)
    count = len(plan.times)
    fewest = None
    # The file is opened first: what is wrong with it is said before work is done.
    with open_movie(shot.out, size, fps) as movie:
        drawer = Drawer(
            character, size, shot.style, weights=shot.weights, method=shot.method
        )
        cameras = _cameras(drawer, shot, clip, plan)
        started = clock.perf_counter()  # kernels are compiled by now
        with show_progress(Path(shot.out).name, count) as advance:
            for moment, camera in zip(plan.times, cameras, strict=True):
                movie.add(drawer.draw(character.pose(clip, moment), camera))
                fewest = min(fewest or drawer.names, drawer.names)
                advance()
    elapsed = clock.perf_counter() - started
    _say_findings(drawer.findings)
    typer.echo(
        f"{shot.out}: {_name(clip)}, {count} frames of {size[0]} x {size[1]}, "
        f"{count / fps:.2f} s at {fps:g} fps; written in {elapsed:.1f} s, "
        f"{count / elapsed:.0f} frames a second{_left_out(fewest, 'up to ')}"
    )


def _cameras(
    drawer: Drawer, shot: Shot, clip: str | None, plan: Plan
) -> Iterator[Camera]:
    """The camera of each frame, which has the whole movement in the picture."""
    from flexor.cli.turntable import fit_turning
    from flexor.draw.scene.fit import direction_of

    character = drawer.character
    is_held = len(set(plan.times)) == 1
    what = character.pose(clip, plan.times[0]) if is_held else clip
    if not plan.is_turning:
        direction = direction_of(*shot.view)
        fitted = drawer.fit(what, direction=direction, is_flat=shot.is_flat)
        return (fitted for _ in plan.times)
    points, faint = drawer.reach(what)
    camera = fit_turning(points, drawer.target.size, shot.view, shot.is_flat, faint)
    return (camera.turned(turn) for turn in plan.turns)


def _write_picture(
    character: Character, shot: Shot, clip: str | None, time: float
) -> None:
    from flexor.api.pictures.drawing import Drawer
    from flexor.draw.scene.fit import direction_of

    size = shot.size or (640, 480)
    drawer = Drawer(
        character, size, shot.style, weights=shot.weights, method=shot.method
    )
    pose = character.pose(clip, time)
    direction = direction_of(*shot.view)
    camera = drawer.fit(pose, direction=direction, is_flat=shot.is_flat)
    save_image(shot.out, drawer.draw(pose, camera))
    _say_findings(drawer.findings)
    moment = "" if clip is None else f" at {time:g} s"
    typer.echo(
        f"{shot.out}: {_name(clip)}{moment}, {size[0]} x {size[1]}"
        f"{_left_out(drawer.names)}"
    )


def _write_sheet(
    character: Character, shot: Shot, clip: str | None, count: int
) -> None:
    from flexor.api.pictures.drawing import contact_sheet
    from flexor.api.pictures.kit import dressed, views_of
    from flexor.draw.scene.fit import direction_of

    if clip is None and character.clips:
        raise SettingError("--sheet: shows a clip; leave out --rest")
    picture = contact_sheet(
        character,
        clip,
        count,
        size=shot.size,
        style=shot.style,
        direction=direction_of(*shot.view),
        is_flat=shot.is_flat,
        weights=shot.weights,
        method=shot.method,
    )
    save_image(shot.out, picture)
    kit, _ = dressed(character, shot.style)
    views = views_of(kit, shot.style)
    _say_findings(kit.findings + (() if views is None else views.findings))
    height, width = picture.shape[:2]
    poses = f"{count} poses of" if clip is not None else "the"
    typer.echo(f"{shot.out}: {poses} {_name(clip)}, {width} x {height}")


def _name(clip: str | None) -> str:
    return "rest pose" if clip is None else repr(clip)


def _check_one_weight(patterns: list[str] | None, weights: str) -> None:
    if patterns and weights != "one":
        raise SettingError("--one-weight: is for --weights one; give that too")


def _load(
    file: Path, without: list[str] | None, one_weight: list[str] | None
) -> Character:
    from flexor.api.load_save import load

    character = load(file)
    say_lost_links(file.name, character.findings)
    try:
        if without:
            character = character.without(*without)
        if one_weight:
            character = character.with_one_weight(*one_weight)
    except SettingError as error:
        raise SettingError(f"--{error}") from None
    return character


def _left_out(names: tuple[int, int] | None, most: str = "") -> str:
    """How many names of joints found no room."""
    shown, count = names or (0, 0)
    if shown == count:
        return ""
    return f"; {most}{count - shown} of {count} names left out for want of room"


def _say_findings(findings: Iterable[Finding]) -> None:
    """What was odd, on standard error."""
    for finding in findings:
        typer.echo(f"flexor: {finding}", err=True)
