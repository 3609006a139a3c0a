"""`flexor repair`: better weights and joints, and what is wrong with a file's own."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from flexor.cli.progress import show_status, tidy_when_ended
from flexor.cli.tables.columns import say_count
from flexor.cli.tables.repair import print_check, print_report
from flexor.errors import SettingError
from flexor.files.replace import check_parent, replace_file

if TYPE_CHECKING:
    from flexor.api.character import Character
    from flexor.convert.repair.recipe import RepairSettings
    from flexor.convert.repair.report import RepairReport

__all__ = ["RepairCommand", "repair"]

ENDINGS = (".glb", ".gltf", ".flexor")
USUAL_STEPS = 100  # of smoothing

File = Annotated[Path, typer.Argument(help="A .glb, .gltf, .vrm or .flexor file.")]
Out = Annotated[
    str, typer.Option("--out", "-o", help="The .glb, .gltf or .flexor file to write.")
]
Check = Annotated[
    bool, typer.Option("--check", help="Only say what is wrong; change nothing.")
]
Regenerate = Annotated[
    bool, typer.Option("--regenerate", help="New weights, from shape and joints alone.")
]
Rogues = Annotated[
    bool,
    typer.Option("--rogues", help="Free skin that hangs on a bone it is cut off from."),
]
Smooth = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="[STEPS]",
        help="Soften weights that change too fast; in at most so many steps (100).",
    ),
]
Source = Annotated[
    Path | None,
    typer.Option(help="Take weights from this character on the same skeleton, first."),
]
Mirror = Annotated[
    str | None,
    typer.Option(help="Give the other side the weights of this: left or right."),
]
Links = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=64,
        help="Small joints at each joint that share its turn, so that it keeps its "
        "volume; 3 do. Joints that would be worse with them go without.",
    ),
]
Joints = Annotated[
    list[str] | None,
    typer.Option(help="Only joints of this name, such as '*Arm*'; may be repeated."),
]
Influences = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Joints a vertex, the largest weights; 0: any number. Usually as many as "
        "the file has, but at least 4.",
    ),
]
Prune = Annotated[
    float | None, typer.Option(min=0, max=1, help="Drop weights below this.")
]
Palette = Annotated[
    int | None,
    typer.Option(min=1, help="Split surfaces so that each uses so many joints."),
]
Settings = Annotated[
    Path | None,
    typer.Option(help="A .toml file with these and more; options given here win."),
]
Page = Annotated[
    str, typer.Option("--report", help="An .html page: pictures before and after.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print what was found or done as JSON.")
]


def repair(
    file: File,
    out: Out = "",
    check: Check = False,
    regenerate: Regenerate = False,
    rogues: Rogues = False,
    smooth: Smooth = None,
    weights_from: Source = None,
    mirror: Mirror = None,
    links: Links = None,
    joints: Joints = None,
    max_influences: Influences = None,
    prune: Prune = None,
    palette: Palette = None,
    settings: Settings = None,
    report: Page = "",
    as_json: AsJson = False,
) -> None:
    """Mend weights and joints, so that a character bends well in every engine.

    Links are written as joints of their own with their movement in every clip, so
    nothing special is needed to show them.
    """
    if check:
        if out or report:
            raise SettingError("--check: writes nothing; leave out -o and --report")
        _check(file, as_json)
        return
    chosen = _settings(
        settings,
        regenerate=regenerate or None,
        rogues=rogues or None,
        smooth=smooth,
        mirror=mirror,
        links=links,
        joints=tuple(joints) if joints else None,
        most_influences=max_influences,
        prune=prune,
        most_palette=palette,
    )
    if not chosen.passes() and weights_from is None:
        raise SettingError(
            "nothing to do: give --rogues, --smooth, --links 3, --regenerate and so "
            "on, or --check to see what is wrong"
        )
    to, page = _place(out, "-o", ENDINGS), _place(report, "--report", (".html",))
    if to is None and page is None:
        raise SettingError("-o: give a .glb, .gltf or .flexor file to write")
    size = file.stat().st_size if file.is_file() else 0  # now: it may be written to
    written: list[Path] = []

    def say_left() -> str:
        names = ", ".join(map(str, written))
        return f"stopped; written: {names}" if names else "stopped, nothing was written"

    with tidy_when_ended(say_left):
        done = _repair(file, weights_from, to, page, chosen, written)
    if as_json:
        typer.echo(json.dumps(_as_json(done), indent=1))
    else:
        print_report(file.name, done)
        if to is not None:
            now = say_count(to.stat().st_size)
            typer.echo(f"wrote {to}, {now} bytes ({file.name} has {say_count(size)})")
        if page is not None:
            typer.echo(f"wrote {page}, {say_count(page.stat().st_size)} bytes")


class RepairCommand(TyperCommand):
    """The command, with `--smooth` also alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a `--smooth` without a number gets the usual one."""
        filled: list[str] = []
        for at, arg in enumerate(args):
            filled.append(arg)
            has_number = at + 1 < len(args) and args[at + 1].isdecimal()
            if arg == "--smooth" and not has_number:
                filled.append(str(USUAL_STEPS))
        parsed: list[str] = super().parse_args(ctx, filled)
        return parsed


def _settings(path: Path | None, **words: Any) -> RepairSettings:
    """The settings of a file, if there is one, with those of the command line."""
    from flexor.cli.repair_settings import read_settings
    from flexor.convert.repair.recipe import RepairSettings
    from flexor.convert.weights.smooth_weights import SmoothSettings

    chosen = RepairSettings() if path is None else read_settings(path)
    steps, count = words.pop("smooth"), words.pop("links")
    if steps is not None:
        smooth = SmoothSettings() if chosen.smooth is None else chosen.smooth
        words["smooth"] = dataclasses.replace(smooth, most=steps)
    if count is not None:
        words["links"] = dataclasses.replace(chosen.links, count=count)
    if words["mirror"] not in (None, "left", "right"):
        raise SettingError(f"--mirror: {words['mirror']!r}, expected left or right")
    given = {key: value for key, value in words.items() if value is not None}
    return dataclasses.replace(chosen, **given)


def _place(given: str, option: str, endings: tuple[str, ...]) -> Path | None:
    """The file to write; None: none was asked for."""
    if not given:
        return None
    to = Path(given)
    if to.suffix.lower() not in endings:
        known = " or ".join(endings)
        raise SettingError(f"{option} {given}: expected a file ending in {known}")
    check_parent(to)
    if to.exists() and not to.is_file():
        raise SettingError(f"{option} {given}: is there, and is no plain file")
    return to


def _repair(
    file: Path,
    weights_from: Path | None,
    to: Path | None,
    page: Path | None,
    settings: RepairSettings,
    written: list[Path],
) -> RepairReport:
    """Repair a file; writes nothing before all is made, and what it wrote to a list."""
    from flexor.api.character import Character
    from flexor.api.load_save import load, save
    from flexor.convert.repair.recipe import repair_scene

    with show_status("reading") as say:
        before = load(file)
        source = None if weights_from is None else load(weights_from).scene
        skins = (p.skin for mesh in before.meshes for p in mesh.primitives)
        if source is None and not any(skin is not None for skin in skins):
            raise SettingError(f"{file}: has no skin that hangs on joints")
        scene, report = repair_scene(before.scene, settings, source=source, note=say)
        after = Character(scene)
        made = None
        if page is not None:
            title = file.name if to is None else f"{file.name} \u2192 {to.name}"
            notes = _notes(settings, weights_from)
            made = _make_page(title, notes, before, after, report, say)
        # The page first: if it cannot be written, a file that is repaired in place
        # stays as it was.
        if page is not None and made is not None:
            replace_file(page, made)
            written.append(page)
        if to is not None:
            say(f"writing {to.name}")
            save(after, to)
            written.append(to)
    return report


def _make_page(
    title: str,
    notes: list[tuple[str, str]],
    before: Character,
    after: Character,
    report: RepairReport,
    say: Callable[[str], None],
) -> bytes:
    """The page of before and after."""
    from flexor.api.repair.page import repair_page

    count = 0

    def advance() -> None:
        nonlocal count
        count += 1
        say(f"drawing picture {count}")

    say("drawing")
    return repair_page(before, after, report, title=title, notes=notes, advance=advance)


def _notes(
    settings: RepairSettings, weights_from: Path | None
) -> list[tuple[str, str]]:
    """How the passes were set, in words, for the page."""
    notes = []
    if weights_from is not None:
        notes.append(("weights from", weights_from.name))
    if settings.smooth is not None:
        smooth = settings.smooth
        text = f"at most {smooth.most} steps, over {smooth.width:g} radii"
        notes.append(("smooth", text))
    if settings.mirror is not None:
        notes.append(("mirror", f"{settings.mirror} to the other side"))
    if "links" in settings.passes():
        links = settings.links
        text = f"{links.count} a joint, length {links.length:g}, fade {links.fade:g}"
        notes.append(("links", text))
        for rule in settings.rules:
            words = dataclasses.asdict(rule)
            said = [f"{key} {words[key]}" for key in ("count", "length", "fade")]
            given = [text for text in said if not text.endswith("None")]
            notes.append((f"links of {rule.pattern}", ", ".join(given)))
    if settings.prune:
        notes.append(("prune", f"weights below {settings.prune:g}"))
    if settings.joints:
        notes.append(("joints", ", ".join(settings.joints)))
    if settings.rigid:
        notes.append(("rigid", ", ".join(settings.rigid)))
    return notes


def _as_json(value: Any) -> Any:
    return dataclasses.asdict(value)


def _check(file: Path, as_json: bool) -> None:
    """Say what is wrong with the weights and joints of a file."""
    from flexor.api.load_save import load
    from flexor.convert.repair.recipe import rigid_meshes
    from flexor.convert.weights.check_weights import check_weights

    with tidy_when_ended(), show_status("checking"):
        scene = load(file).scene
        found = check_weights(scene, rigid_meshes(scene))
    if as_json:
        typer.echo(json.dumps(_as_json(found), indent=1))
    else:
        print_check(file.name, found, has_links=bool(scene.skeleton.links))
