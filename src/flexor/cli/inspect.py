"""`flexor inspect`: what is in a file, and what is wrong with it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexor.cli.tables.columns import (
    add_row,
    new_table,
    open_console,
    say_count,
    say_plain,
)
from flexor.cli.tables.envelope import print_envelopes
from flexor.cli.tables.levels import LEVEL_LEGEND, print_levels, report_stored
from flexor.cli.tables.lists import LISTS_LEGEND, print_lists
from flexor.convert.envelope.lists import list_envelope
from flexor.convert.envelope.report import report_envelope
from flexor.convert.report import SceneReport, report_scene
from flexor.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table

    from flexor.api.character import Character
    from flexor.scene.runtime.envelope import Envelope

__all__ = ["inspect", "print_report"]

WEIGHTS = {"multi": "all weights", "one": "one weight"}


def inspect(
    file: Annotated[
        Path, typer.Argument(help="A .glb, .gltf, .vrm, .flexor or .bvh file.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of tables.")
    ] = False,
    lists: Annotated[
        bool,
        typer.Option(
            "--lists",
            help="Only the lists of a package's envelopes: the common vertex buffer, "
            "what each joint writes, commands, and when each area is needed.",
        ),
    ] = False,
) -> None:
    """Say what is in a file: nodes, meshes, influences, clips, bytes, findings; of a
    package also envelopes and levels of detail.
    """
    from flexor.api.load_save import load

    character = load(file)
    if lists:
        _print_lists(file, character, as_json)
        return
    report = report_scene(character.scene)
    size = file.stat().st_size
    is_package = file.suffix.lower() == ".flexor"
    kinds = {name: report_envelope(own) for name, own in _stored(character).items()}
    given = character.given_levels
    levels = [] if given is None else report_stored(given)
    if as_json:
        whole = _as_json(file, size, report)
        if is_package:
            whole["levels"] = [dataclasses.asdict(level) for level in levels]
            whole["envelopes"] = {
                name: dataclasses.asdict(kind) for name, kind in kinds.items()
            }
        typer.echo(json.dumps(whole, indent=1))
        return
    print_report(file.name, size, report)
    if kinds:
        print_envelopes("envelopes", **kinds)
    elif is_package:
        open_console().print("no envelopes: they are made when they are asked for")
    if levels:
        print_levels("levels of detail", levels)
        open_console().print(LEVEL_LEGEND)


def _print_lists(file: Path, character: Character, as_json: bool) -> None:
    """The lists of the envelopes that a package holds."""
    made = {
        name: list_envelope(own, character.skeleton.names)
        for name, own in _stored(character).items()
    }
    get = f"flexor convert {file.name} -o {file.stem}.flexor --envelopes both"
    if not made:
        raise SettingError(f"--lists: {file} holds no envelopes; {get!r} puts them in")
    if as_json:
        whole = {name: dataclasses.asdict(own) for name, own in made.items()}
        typer.echo(json.dumps({"file": str(file), "lists": whole}))
        return
    for name, own in made.items():
        print_lists(f"{file.name}, {WEIGHTS[name]}", own)
    typer.echo(LISTS_LEGEND)
    if "multi" not in made:
        typer.echo(f"with all weights: {get}")


def _stored(character: Character) -> dict[str, Envelope]:
    """The envelopes that a package brought."""
    given = character.given_envelopes
    both = {name: getattr(given, name, None) for name in WEIGHTS}
    return {name: own for name, own in both.items() if own is not None}


def _as_json(file: Path, size: int, report: SceneReport) -> dict[str, Any]:
    return {"file": str(file), "file_bytes": size, **dataclasses.asdict(report)}


def _influences(histogram: dict[int, int]) -> str:
    """Such as "1: 520  2: 301"; a rigid mesh has none."""
    if set(histogram) <= {0}:
        return "rigid"
    return "  ".join(
        f"{number}: {say_count(many)}" for number, many in histogram.items()
    )


def print_report(name: str, size: int, report: SceneReport) -> None:
    """Tables for people."""
    from rich.text import Text

    console = open_console()
    parts = ", ".join(f"{k} {say_count(v)}" for k, v in report.bytes.items() if v)
    links = f", {say_count(report.links)} links" if report.links else ""
    size_text = " x ".join(f"{side:.4g}" for side in report.size)
    # Names come out of files: they are text, not markup.
    console.print(Text(say_plain(name), "bold"), Text(f" {say_count(size)} bytes"))
    console.print(
        f"{say_count(report.nodes)} nodes in {report.roots} trees{links}, "
        f"{size_text} at rest (x, y, z), {report.materials} materials, "
        f"{report.textures} textures, {report.images} images"
    )
    console.print(f"bytes in memory: {parts or 'none'}")
    for table in (_mesh_table(report), _skin_table(report), _clip_table(report)):
        if table.row_count:
            console.print(table)
    if not report.findings:
        console.print("nothing odd found")
    for finding in report.findings:
        style = "yellow" if finding.level == "warning" else "dim"
        console.print(Text(say_plain(str(finding)), style), soft_wrap=True)


def _mesh_table(report: SceneReport) -> Table:
    table = new_table(
        "meshes", "name", "parts", "vertices", "triangles", "morphs", "influences"
    )
    for mesh in report.meshes:
        add_row(
            table,
            mesh.name or "-",
            say_count(mesh.primitives),
            say_count(mesh.vertices),
            say_count(mesh.triangles),
            say_count(mesh.morph_targets),
            _influences(mesh.influences),
        )
    return table


def _skin_table(report: SceneReport) -> Table:
    table = new_table("skins", "name", "joints", "hold nothing")
    for skin in report.skins:
        unused = say_count(len(skin.unused))
        add_row(table, skin.name or "-", say_count(skin.joints), unused)
    return table


def _clip_table(report: SceneReport) -> Table:
    table = new_table("clips", "name", "seconds", "tracks", "keys", "interpolation")
    for clip in report.clips:
        add_row(
            table,
            clip.name,
            f"{clip.duration:.3f}",
            say_count(clip.tracks),
            say_count(clip.keys),
            " ".join(clip.interpolations),
        )
    return table
