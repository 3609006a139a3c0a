"""`flexor convert`: files to packages, which load quickly and are ready to run."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexor.cli.convert_levels import check_wanted, levels_of
from flexor.cli.progress import show_progress, tidy_when_ended
from flexor.cli.tables.columns import open_console, say_count
from flexor.cli.tables.envelope import LEGEND, print_envelopes
from flexor.cli.tables.levels import LEVEL_LEGEND, print_levels, say_levels
from flexor.cli.tables.motion import print_motion, say_motion
from flexor.errors import FlexorError, SettingError
from flexor.files.replace import check_parent, writing

if TYPE_CHECKING:
    from flexor.api.character import Character
    from flexor.convert.envelope.make import EnvelopeSettings, Kept
    from flexor.convert.envelope.report import EnvelopeReport
    from flexor.convert.levels.report import LevelReport
    from flexor.convert.motion.reduce import MotionReport, MotionSettings
    from flexor.scene.finding import Finding
    from flexor.scene.runtime.envelope import Envelopes

__all__ = ["convert"]

ENDING = ".flexor"

Files = Annotated[
    list[Path],
    typer.Argument(help="One or more .glb, .gltf, .vrm, .bvh or .flexor files."),
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help="The .flexor file to write; for several files, a folder/. With --report "
        "it may be left out: then nothing is written.",
    ),
]
Report = Annotated[
    bool,
    typer.Option(
        "--report", help="Print what envelopes, packed motion and levels save."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the report as JSON instead of tables.")
]
Split = Annotated[
    bool,
    typer.Option(help="Cut surfaces into body parts, so that fewer vertices wait."),
]
Search = Annotated[bool, typer.Option(help="Look for a better order of joints.")]
Ids = Annotated[
    str,
    typer.Option(
        help="How polygons name vertices: places, in the buffer; or consistent, with a "
        "table from number to place."
    ),
]
KeptEnvelopes = Annotated[
    str,
    typer.Option(
        "--envelopes",
        metavar="none|one|both",
        help="Which envelopes the package holds. one: that of one weight a vertex, for "
        "characters far away; both: also that of all weights, which nothing but the "
        "drawing library reads; what lacks is made when it is asked for.",
    ),
]
OneWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Only these have one weight where it is asked for, by patterns of names "
        "of joints or meshes; all others keep all. Can be given more than once.",
    ),
]
MotionError = Annotated[
    float,
    typer.Option(
        help="Metres that a point 3 cm from a joint may be off in packed motion; 0: "
        "every key is kept as it is."
    ),
]
MotionUnit = Annotated[
    float | None,
    typer.Option(
        help="Metres in one unit of the file. Without it 1, and for .bvh files, which "
        "do not say, what the legs in them tell."
    ),
]
WantedLevels = Annotated[
    str,
    typer.Option(
        "--levels",
        metavar="FILE.toml|none",
        help="A text file that says how levels of detail are to be; none: there are "
        "to be none. Without it they are as coarse as cannot be seen, and those of a "
        "package stay as they are.",
    ),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be made; kept: which envelopes; is_told: whether a report is; unit:
    metres in one of the file, as the user gave it; levels: the word of the user;
    shows_parts: whether progress is that of one file.
    """

    envelopes: EnvelopeSettings
    kept: Kept
    is_told: bool
    motion: MotionSettings
    unit: float | None
    levels: str
    shows_parts: bool


@dataclass(frozen=True, slots=True)
class Converted:
    """One file: where it came from, how large it was and is, its envelopes and which of
    them were kept, what became of its motion, its levels, and how many metres a unit of
    it was taken for. multi, one: None where nobody needed them.
    """

    file: Path
    out: Path | None
    file_bytes: int
    out_bytes: int | None
    multi: EnvelopeReport | None
    one: EnvelopeReport | None
    kept: Kept
    motion: list[MotionReport]
    levels: list[LevelReport]
    unit: float


def convert(
    files: Files,
    out: Out = "",
    report: Report = False,
    as_json: AsJson = False,
    split: Split = True,
    search: Search = True,
    ids: Ids = "places",
    motion_error: MotionError = 1e-4,
    motion_unit: MotionUnit = None,
    levels: WantedLevels = "",
    envelopes: KeptEnvelopes = "one",
    one_weight: OneWeight = None,
) -> None:
    """Write a package: the character with its envelopes, its motion packed and its
    levels of detail, mapped at once when loaded.

    Of several files, those that cannot be converted are named, and the others are.
    """
    if not out and not (report or as_json):
        raise SettingError("-o: give a .flexor file to write, or --report for numbers")
    if ids not in ("places", "consistent"):
        raise SettingError(f"--ids: {ids!r}, expected places or consistent")
    kept = _check_kept(envelopes)
    places = _places(files, out)
    check_wanted(levels)

    from flexor.convert.envelope.make import EnvelopeSettings
    from flexor.convert.motion.reduce import MotionSettings

    unit = 1.0 if motion_unit is None else motion_unit
    motion = MotionSettings(error=motion_error, unit=unit)
    settings = EnvelopeSettings(
        split=split,
        search=search,
        one_parts=tuple(one_weight or ()),
        ids="consistent" if ids == "consistent" else "places",
    )
    done: list[Converted] = []
    failed = 0

    def say_left() -> str:
        names = ", ".join(str(one.out) for one in done if one.out is not None)
        return f"stopped; written: {names}" if names else "stopped, nothing was written"

    is_one = len(files) == 1
    is_told = report or as_json
    wanted = Wanted(settings, kept, is_told, motion, motion_unit, levels, is_one)
    with tidy_when_ended(say_left), _bar("files", len(files), not is_one) as advance:
        for file, place in zip(files, places, strict=True):
            try:
                one = _convert(file, place, wanted)
            except FlexorError as error:
                if len(files) == 1:
                    raise
                failed += 1
                known = "" if str(file) in str(error) else f"{file}: "
                typer.echo(f"flexor: {known}{error}", err=True)
            else:
                done.append(one)
                if place is not None and not as_json:
                    typer.echo(_say(one))
            advance()
    if as_json:
        typer.echo(json.dumps([_as_json(one) for one in done], indent=1))
    elif report and done:
        _print_report(done)
    if failed:
        raise SettingError(f"{failed} of {len(files)} files could not be converted")


@contextmanager
def _bar(what: str, count: int, is_shown: bool) -> Iterator[Callable[[], None]]:
    """Progress, or none."""
    if not is_shown:
        yield lambda: None
        return
    with show_progress(what, count, "") as advance:
        yield advance


def _check_kept(text: str) -> Kept:
    if text not in ("none", "one", "both"):
        raise SettingError(f"--envelopes: {text!r}, expected none, one or both")
    return text  # type: ignore[return-value]


def _convert(file: Path, place: Path | None, wanted: Wanted) -> Converted:
    """Convert one file; place: None to write nothing."""
    from flexor.api.character import Character
    from flexor.api.load_save import load, save
    from flexor.convert.envelope.make import keep_envelopes
    from flexor.convert.envelope.report import report_envelope
    from flexor.convert.motion.reduce import reduce_motion
    from flexor.convert.motion.unit import guess_unit
    from flexor.scene.runtime.envelope import SomeEnvelopes

    character = load(file)
    size = file.stat().st_size  # now: it may be what is written
    findings = list(character.findings)
    envelopes, found = _envelopes(character, file, place, wanted)
    findings += found
    motion = wanted.motion
    if wanted.unit is None and file.suffix.lower() == ".bvh":
        motion = replace(motion, unit=guess_unit(character.skeleton) or 1.0)
    bar = partial(_bar, is_shown=wanted.shows_parts)
    with bar("clips", len(character.clips)) as advance:
        scene, moved = reduce_motion(character.scene, motion, each=advance)
    # Measured in the motion that is written, which is what will be played.
    levels, rows, found = levels_of(character, scene, wanted.levels, bar)
    for finding in dict.fromkeys(findings + found):  # several may see the same
        if finding.level == "warning":
            typer.echo(f"flexor: {file.name}: {finding}", err=True)
    if place is not None:
        with writing(place):
            place.parent.mkdir(exist_ok=True)
        none = SomeEnvelopes()
        own = none if envelopes is None else keep_envelopes(envelopes, wanted.kept)
        made = Character(scene).with_envelopes(own)
        save(made.with_levels(levels), place)
    return Converted(
        file,
        place,
        size,
        None if place is None else place.stat().st_size,
        None if envelopes is None else report_envelope(envelopes.multi),
        None if envelopes is None else report_envelope(envelopes.one),
        wanted.kept,
        moved,
        rows,
        motion.unit,
    )


def _envelopes(
    character: Character, file: Path, place: Path | None, wanted: Wanted
) -> tuple[Envelopes | None, list[Finding]]:
    """Both envelopes, and what was odd; None where neither is kept or told."""
    from flexor.convert.envelope.make import DEFAULTS, convert_scene

    if wanted.kept == "none" and not wanted.is_told:
        return None, []
    is_package = file.suffix.lower() == ENDING
    if place is None and is_package and wanted.envelopes == DEFAULTS:
        return character.envelopes, []  # a report of what is there
    return convert_scene(character.scene, wanted.envelopes)


def _places(files: Sequence[Path], out: str) -> list[Path | None]:
    """Where each file goes; None: nowhere."""
    for file in files:
        if file.is_dir():
            raise SettingError(
                f"{file}: is a folder; give the files in it, such as {file}/*.glb"
            )
    if not out:
        return [None] * len(files)
    to = Path(out)
    with writing(to):
        is_folder = to.is_dir() or len(files) > 1 or out.endswith(("/", os.sep))
    if not is_folder:
        if to.suffix.lower() != ENDING:
            raise SettingError(
                f"-o {out}: a package ends in {ENDING}; for a folder, end it with /"
            )
        check_parent(to)
        return [to]
    if to.suffix.lower() == ENDING and not to.is_dir():
        raise SettingError(f"-o {out}: for several files, expected a folder")
    check_parent(to)
    places: dict[Path, Path] = {}
    for file in files:
        place = to / f"{file.stem}{ENDING}"
        if place in places:
            raise SettingError(f"{places[place]} and {file} would both be {place}")
        places[place] = file
    return list(places)


def _as_json(one: Converted) -> dict[str, Any]:
    out = {
        key: str(value) if isinstance(value, Path) else value
        for key, value in dataclasses.asdict(one).items()
    }
    for row, report in zip(out["motion"], one.motion, strict=True):
        row["ratio"] = report.ratio
    return out


def _say(one: Converted) -> str:
    text = (
        f"{one.out}: {say_count(one.out_bytes or 0)} bytes "
        f"({one.file.name}: {say_count(one.file_bytes)})"
    )
    kept = one.multi if one.kept == "both" else one.one
    if kept is not None and kept.vertices and one.kept != "none":
        weights = "with all weights" if one.kept == "both" else "with one weight"
        text += (
            f"; {say_count(kept.vertices)} vertices, of which a frame holds at most "
            f"{say_count(kept.peak)} at once {weights}"
        )
    text += say_levels(one.levels) + say_motion(one.motion)
    return text if one.unit == 1 else f"{text}, at {one.unit:.3g} m a unit"


def _print_report(done: Sequence[Converted]) -> None:
    console = open_console()
    for one in done:
        if one.multi is not None and one.one is not None:
            print_envelopes(one.file.name, multi=one.multi, one=one.one)
    console.print(LEGEND)
    for one in done:
        print_motion(one.file.name, one.motion)
    for one in done:
        print_levels(f"{one.file.name}: levels", one.levels)
    if any(one.levels for one in done):
        console.print(LEVEL_LEGEND)
