"""`flexor convert`: files to packages, which load quickly and are ready to run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexor.app.cli.progress import show_progress, tidy_when_ended
from flexor.app.cli.tables import add_row, new_table, open_console, say_count
from flexor.errors import SettingError
from flexor.files.replace import check_parent

if TYPE_CHECKING:
    from flexor.convert.envelope_report import EnvelopeReport

__all__ = ["convert"]

ENDING = ".flexor"

Files = Annotated[
    list[Path], typer.Argument(help="One or more .glb, .gltf, .vrm or .flexor files.")
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help="The .flexor file to write; for several files, a folder. With --report "
        "it may be left out: then nothing is written.",
    ),
]
Report = Annotated[
    bool, typer.Option("--report", help="Print what the envelopes cost and save.")
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


@dataclass(frozen=True, slots=True)
class Converted:
    """One file: where it came from, how large it was and is, and its envelopes."""

    file: Path
    out: Path | None
    file_bytes: int
    out_bytes: int | None
    multi: EnvelopeReport
    one: EnvelopeReport


def convert(
    files: Files,
    out: Out = "",
    report: Report = False,
    as_json: AsJson = False,
    split: Split = True,
    search: Search = True,
    ids: Ids = "places",
) -> None:
    """Write a package: the character with its envelopes, mapped at once when loaded."""
    if not out and not (report or as_json):
        raise SettingError("-o: give a .flexor file to write, or --report for numbers")
    places = _places(files, out)
    if ids not in ("places", "consistent"):
        raise SettingError(f"--ids: {ids!r}, expected places or consistent")

    from flexor.app.load_save import load, save
    from flexor.convert.envelope import EnvelopeSettings, convert_scene
    from flexor.convert.envelope_report import report_envelope

    settings = EnvelopeSettings(
        split=split,
        search=search,
        ids="consistent" if ids == "consistent" else "places",
    )
    done: list[Converted] = []

    def say_left() -> str:
        names = ", ".join(str(one.out) for one in done if one.out is not None)
        return f"stopped, {names or 'nothing'} was written"

    with tidy_when_ended(say_left), show_progress("files", len(files)) as advance:
        for file, place in zip(files, places, strict=True):
            character = load(file)
            envelopes = convert_scene(character.scene, settings)
            if place is not None:
                save(character.with_envelopes(envelopes), place)
            done.append(
                Converted(
                    file,
                    place,
                    file.stat().st_size,
                    None if place is None else place.stat().st_size,
                    report_envelope(envelopes.multi),
                    report_envelope(envelopes.one),
                )
            )
            if place is not None and not as_json:
                typer.echo(_say(done[-1]))
            advance()
    if as_json:
        typer.echo(json.dumps([_as_json(one) for one in done], indent=1))
    elif report:
        _print_report(done)


def _places(files: Sequence[Path], out: str) -> list[Path | None]:
    """Where each file goes; None: nowhere."""
    if not out:
        return [None] * len(files)
    to = Path(out)
    if len(files) == 1 and not to.is_dir():
        if to.suffix.lower() != ENDING:
            raise SettingError(f"-o {out}: a package ends in {ENDING}")
        check_parent(to)
        return [to]
    if not to.is_dir():
        raise SettingError(f"-o {out}: for several files, expected a folder")
    places: list[Path | None] = [to / f"{file.stem}{ENDING}" for file in files]
    if len(set(places)) < len(places):
        raise SettingError(f"-o {out}: two of the files would have the same name")
    return places


def _as_json(one: Converted) -> dict[str, Any]:
    return {
        key: str(value) if isinstance(value, Path) else value
        for key, value in dataclasses.asdict(one).items()
    }


def _say(one: Converted) -> str:
    share = one.multi.peak / max(one.multi.vertices, 1)
    return (
        f"{one.out}: {say_count(one.out_bytes or 0)} bytes "
        f"({one.file.name}: {say_count(one.file_bytes)}); "
        f"{say_count(one.multi.vertices)} vertices, at most "
        f"{say_count(one.multi.peak)} at once ({share:.0%})"
    )


def _print_report(done: Sequence[Converted]) -> None:
    """A row for each file and kind of weights."""
    console = open_console(max(len(one.file.name) for one in done) + 110)
    table = new_table(
        "envelopes",
        "file",
        "weights",
        "vertices",
        "worked",
        "peak",
        "native",
        "start",
        "middle",
        "end",
        "parts",
        "draw",
        "deferred",
        "bytes",
    )
    for one in done:
        for kind, row in (("multi", one.multi), ("one", one.one)):
            numbers = (
                row.vertices,
                row.worked,
                row.peak,
                row.native,
                row.start,
                row.middle,
                row.end,
                row.parts,
                row.draws,
                row.deferred,
                row.data_bytes,
            )
            name = one.file.name if kind == "multi" else ""
            add_row(table, name, kind, *(say_count(number) for number in numbers))
    console.print(table)
