"""`flexor repair`: better weights and joints, and what is wrong with a file's own."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from flexor.cli.progress import show_status, tidy_when_ended
from flexor.cli.tables.columns import say_count
from flexor.cli.tables.repair import print_check, print_report
from flexor.cli.texts import say_lost_links
from flexor.convert.repair.passes import TABLE
from flexor.convert.repair.rows import Setting
from flexor.convert.repair.settings import (
    RepairSettings,
    asked_or_automatic,
    make_settings,
)
from flexor.errors import SettingError
from flexor.files.replace import check_parent, replace_file

if TYPE_CHECKING:
    from flexor.api.character import Character
    from flexor.convert.links.place_links import JointRule
    from flexor.convert.repair.report import RepairReport

__all__ = ["RepairCommand", "repair"]

ENDINGS = (".glb", ".gltf", ".vrm", ".flexor")
SOURCE_AFTER = "smooth"  # the option that --weights-from stands behind in the help

File = Annotated[Path, typer.Argument(help="A .glb, .gltf, .vrm or .flexor file.")]
Out = Annotated[
    str,
    typer.Option("--out", "-o", help="The .glb, .gltf, .vrm or .flexor file to write."),
]
Check = Annotated[
    bool, typer.Option("--check", help="Only say what is wrong; change nothing.")
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="With --check: exit code 1 if a joint scores more than --most."
    ),
]
Most = Annotated[
    float, typer.Option(help="The score that --strict allows a joint.", min=0)
]
Source = Annotated[
    Path | None,
    typer.Option(help="Take weights from this character on the same skeleton, first."),
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


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each setting of the table that has one."""
    plain = inspect.signature(command, eval_str=True)
    own = plain.parameters
    shown = [own[name] for name in ("file", "out", "check", "strict", "most")]
    asked = {name: one for name, one in TABLE.settings.items() if one.option}
    order: list[str] = []
    for name, setting in asked.items():
        assert setting.option is not None
        after = setting.option.after
        order.insert(order.index(after) + 1 if after else len(order), name)
    for name in order:
        shown.append(_option(name, asked[name]))
        if name == SOURCE_AFTER:
            shown.append(own["weights_from"])
    shown += [own[name] for name in ("settings", "report", "as_json")]
    keyword = inspect.Parameter.KEYWORD_ONLY
    made = [part.replace(kind=keyword) for part in shown]
    setattr(command, "__signature__", plain.replace(parameters=made))  # noqa: B010
    return command


def _option(name: str, setting: Setting) -> inspect.Parameter:
    """A setting as a parameter that typer makes an option of."""
    option = setting.option
    assert option is not None
    kinds: dict[type, Any] = {
        bool: bool,
        int: int | None,
        float: float | None,
        str: str | None,
        list: list[str] | None,
    }
    made = typer.Option(
        option.spelling,
        min=option.low,
        max=option.high,
        metavar=option.metavar,
        help=option.text or setting.text,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if setting.kind is bool else None,
        annotation=Annotated[kinds[setting.kind], made],
    )


@_with_options
def repair(
    file: File,
    out: Out = "",
    check: Check = False,
    strict: Strict = False,
    most: Most = 0.5,
    weights_from: Source = None,
    settings: Settings = None,
    report: Page = "",
    as_json: AsJson = False,
    **words: Any,
) -> None:
    """Mend weights and joints, so that a character bends well in every engine.

    Without options it does what helps this file and nothing else; each step is kept
    only where joints look better with it.

    Links are written as joints of their own with their movement in every clip, so
    nothing special is needed to show them.
    """
    if check:
        if out or report:
            raise SettingError("--check: writes nothing; leave out -o and --report")
        _check(file, as_json, most if strict else None)
        return
    if strict:
        raise SettingError("--strict: goes with --check")
    chosen = _settings(settings, words)
    if weights_from is None:
        chosen = asked_or_automatic(chosen)
    to, page = _place(out, "-o", ENDINGS), _place(report, "--report", (".html",))
    if to is None and page is None:
        raise SettingError("-o: give a .glb, .gltf, .vrm or .flexor file to write")
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
    """The command, with options such as `--smooth` also alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a `--smooth` without a number gets the usual one."""
        usual = {
            setting.option.spelling: str(setting.usual)
            for setting in TABLE.settings.values()
            if setting.option is not None and setting.option.is_bare
        }
        filled: list[str] = []
        for at, arg in enumerate(args):
            filled.append(arg)
            has_number = at + 1 < len(args) and args[at + 1].isdecimal()
            if arg in usual and not has_number:
                filled.append(usual[arg])
        parsed: list[str] = super().parse_args(ctx, filled)
        return parsed


def _settings(path: Path | None, words: Mapping[str, Any]) -> RepairSettings:
    """The settings of a file, if there is one, with those of the command line."""
    from flexor.cli.repair_settings import read_values

    given = {} if path is None else read_values(path)
    for name, value in words.items():
        if value is None or value is False or value == []:
            continue
        setting = TABLE.settings[name]
        try:
            setting.check(value)
        except SettingError as error:
            said = str(error).removeprefix(name)
            spelling = name if setting.option is None else setting.option.spelling
            raise SettingError(f"{spelling}{said}") from None
        given[name] = value
    return make_settings(given)


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
    from flexor.api.load_save import save
    from flexor.api.repair.repair import run_repair

    with show_status("reading") as say:
        before = _load(file)
        source = None if weights_from is None else _load(weights_from)
        skins = (p.skin for mesh in before.meshes for p in mesh.primitives)
        has_skin = any(skin is not None for skin in skins)
        if source is None and not has_skin and not _binds(settings, before):
            raise SettingError(f"{file}: has no skin that hangs on joints")
        after, report = run_repair(before, settings, weights_from=source, note=say)
        made = None
        if page is not None:
            title = file.name if to is None else f"{file.name} \u2192 {to.name}"
            notes = _notes(settings, weights_from)
            names = settings.values["joints"]
            made = _make_page(title, notes, names, before, after, report, say)
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


def _load(file: Path) -> Character:
    """The character of a file; links of it that do not fit are said."""
    from flexor.api.load_save import load

    character = load(file)
    say_lost_links(file.name, character.findings)
    return character


def _binds(settings: RepairSettings, character: Character) -> bool:
    """Whether a repair makes skins for a character that has none."""
    from flexor.convert.weights.bind_scene import bind_scene

    return "regenerate" in settings.passes() and bool(bind_scene(character.scene)[1])


def _make_page(
    title: str,
    notes: list[tuple[str, str]],
    names: Sequence[str],
    before: Character,
    after: Character,
    report: RepairReport,
    say: Callable[[str], None],
) -> bytes:
    """The page of before and after; names: patterns of the joints that it shows."""
    from flexor.api.repair.page import repair_page

    count = 0

    def advance() -> None:
        nonlocal count
        count += 1
        say(f"drawing picture {count}")

    say("drawing")
    return repair_page(
        before,
        after,
        report,
        title=title,
        notes=notes,
        names=names,
        advance=advance,
    )


def _notes(
    settings: RepairSettings, weights_from: Path | None
) -> list[tuple[str, str]]:
    """How the passes were set, in words, for the page."""
    values, notes = settings.values, []
    if weights_from is not None:
        notes.append(("weights from", weights_from.name))
    for keyword, row in TABLE.passes.items():
        if row.told and TABLE.is_on(keyword, values):
            notes.append((row.name, row.told.format_map(values)))
        if keyword == "links" and TABLE.is_on(keyword, values):
            notes += _rule_notes(values["rules"])
    for name in ("joints", "rigid"):
        if values[name]:
            notes.append((name, ", ".join(values[name])))
    return notes


def _rule_notes(rules: Sequence[JointRule]) -> Iterator[tuple[str, str]]:
    """What differs at the joints of each rule."""
    for rule in rules:
        words = dataclasses.asdict(rule)
        said = [f"{key} {words[key]}" for key in ("count", "twists", "length", "fade")]
        given = [text for text in said if not text.endswith("None")]
        yield f"links of {rule.pattern}", ", ".join(given)


def _as_json(value: Any) -> Any:
    """What JSON can say of dataclasses, with the scores of joints."""
    from flexor.convert.shape.judge_joints import JointScore

    if isinstance(value, dict):
        return {key: _as_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(one) for one in value]
    if not dataclasses.is_dataclass(value):
        return value
    fields = (field.name for field in dataclasses.fields(value))
    told = {name: _as_json(getattr(value, name)) for name in fields}
    if isinstance(value, JointScore):
        told["score"] = value.score
    return told


def _check(file: Path, as_json: bool, most: float | None) -> None:
    """Say what is wrong with the weights and joints of a file.

    most: the largest score of a joint that is let through, None for any.
    """
    from flexor.convert.repair.recipe import rigid_meshes
    from flexor.convert.weights.check_weights import check_weights

    with tidy_when_ended(), show_status("checking"):
        scene = _load(file).scene
        found = check_weights(scene, rigid_meshes(scene))
    if as_json:
        typer.echo(json.dumps(_as_json(found), indent=1))
    else:
        print_check(file.name, found, has_links=bool(scene.skeleton.links))
    scores = [one for body in found.bodies for one in body.scores]
    bad = [one.name for one in scores if most is not None and one.score > most]
    if bad:
        some = ", ".join(bad[:8]) + (", ..." if len(bad) > 8 else "")
        typer.echo(f"{len(bad)} joints score more than {most:g}: {some}", err=True)
        raise typer.Exit(1)
