"""`flexor motion`: clips of other files, cut, joined, mirrored, on the spot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexor.cli.progress import show_status, tidy_when_ended
from flexor.cli.tables.columns import (
    add_row,
    new_table,
    open_console,
    say_count,
    say_plain,
)
from flexor.cli.texts import say_lost_links, say_names
from flexor.errors import AssetError, SettingError
from flexor.files.replace import check_parent, replace_file
from flexor.files.text.toml_text import find_line, read_toml

if TYPE_CHECKING:
    from flexor.api.character import Character
    from flexor.pose.clips.retarget.match_joints import Match
    from flexor.pose.clips.retarget.plan import Plan
    from flexor.pose.clips.track_values import AnyClip

__all__ = ["motion"]

ENDINGS = (".glb", ".gltf", ".vrm", ".flexor")
MOST_SAID = 12  # names in a line
HOW = {
    "names": "by equal names",
    "humans": "as parts of human bodies",
    "given": "by the map of names",
}

File = Annotated[
    Path, typer.Argument(help="The character: a .glb, .gltf, .vrm or .flexor file.")
]
Out = Annotated[
    str,
    typer.Option("--out", "-o", help="The .glb, .gltf, .vrm or .flexor file to write."),
]
From = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        help="Take clips of this file (.bvh, .glb, ...) and fit them to the character; "
        "may be repeated.",
    ),
]
Map = Annotated[
    Path | None,
    typer.Option(
        "--map",
        help='A .toml file with lines such as "LeftArm" = "arm.L": a joint of the '
        'other file and what it moves, "" for nothing; the rest is found by itself.',
    ),
]
WriteMap = Annotated[
    str,
    typer.Option(
        "--write-map",
        help="Write what moves what to this .toml file, to be corrected for --map.",
    ),
]
ClipName = Annotated[
    list[str] | None,
    typer.Option("--clip", help="Only this clip; may be repeated. Usually all."),
]
Name = Annotated[
    str, typer.Option("--name", help="What to call the new clip, if it is one.")
]
Trim = Annotated[
    str, typer.Option("--trim", help="Seconds to keep, such as 0.5:2, 0.5: or :2.")
]
Speed = Annotated[float | None, typer.Option("--speed", help="So many times as quick.")]
Mirror = Annotated[bool, typer.Option("--mirror", help="Change left and right.")]
InPlace = Annotated[
    bool, typer.Option("--in-place", help="Without the way over the ground.")
]
Join = Annotated[
    bool,
    typer.Option(
        "--join",
        help="Make one clip of all, one after another, going on where one ended.",
    ),
]
AsPlaced = Annotated[
    bool,
    typer.Option("--as-placed", help="Join clips where they are, not going on."),
]
Fade = Annotated[
    float, typer.Option("--fade", help="Seconds in which joined clips blend.")
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", help="Leave out this clip of FILE; may be repeated."),
]
Only = Annotated[
    bool, typer.Option("--only", help="Keep none of the clips that FILE has.")
]
List = Annotated[
    bool,
    typer.Option(
        "--list", help="Show the clips, and which joint would move which; no writing."
    ),
]


@dataclass(frozen=True, slots=True)
class Edits:
    """What is done to each new clip, in this order; join comes last."""

    trim: tuple[float, float | None] | None = None
    speed: float | None = None
    mirror: bool = False
    in_place: bool = False

    @property
    def ending(self) -> str:
        """What tells the name of an edited clip from that of its original."""
        given = {
            "cut": self.trim is not None,
            "speed": self.speed is not None,
            "mirrored": self.mirror,
            "in-place": self.in_place,
        }
        return "".join(f"-{word}" for word, is_given in given.items() if is_given)


def motion(
    file: File,
    out: Out = "",
    sources: From = None,
    name_map: Map = None,
    write_map: WriteMap = "",
    clip: ClipName = None,
    name: Name = "",
    trim: Trim = "",
    speed: Speed = None,
    mirror: Mirror = False,
    in_place: InPlace = False,
    join: Join = False,
    fade: Fade = 0.0,
    as_placed: AsPlaced = False,
    drop: Drop = None,
    only: Only = False,
    is_list: List = False,
) -> None:
    """Give a character clips: of other files, or of its own, changed.

    Clips of other files are fitted to the character: joints turn from their rest as
    those of the same name do, or as the same parts of a human body; the way is scaled
    by the length of the legs. New clips are written beside those that FILE has.
    """
    if is_list:
        if out:
            raise SettingError("--list: writes nothing; leave out -o")
        _list(file, sources or [], clip or [], name_map)
        return
    if write_map:
        _write_map(file, sources or [], clip or [], name_map, write_map)
        if not out:
            return
    edits = Edits(_parse_trim(trim), speed, mirror, in_place)
    if not (sources or edits.ending or join or drop or only):
        raise SettingError(
            "nothing to do: give --from FILE, --trim, --mirror, --in-place, --join or "
            "--drop, or --list to see what is there"
        )
    if name_map is not None and not sources:
        raise SettingError("--map: goes with --from")
    if fade and not join:
        raise SettingError("--fade: goes with --join")
    if as_placed and not join:
        raise SettingError("--as-placed: goes with --join")
    to = _place(out)
    with tidy_when_ended(), show_status("reading") as say:
        hero = _load(file)
        kept = _kept(hero, drop or [], only)
        gained, notes = _gather(
            hero, sources or [], clip or [], name_map, not in_place, say
        )
        if not sources and not edits.ending and not join:
            gained = {}  # dropping alone
        say("changing clips")
        own = "" if sources else edits.ending
        if sources:  # they are fitted without their way already
            edits = replace(edits, in_place=False)
        done = {f"{one}{own}": _edit(c, hero, edits) for one, c in gained.items()}
        if join:
            done = _join(done, hero, fade, name, None if not as_placed else False)
        elif name:
            if len(done) != 1:
                raise SettingError(f"--name: for one clip, there are {len(done)}")
            done = {name: next(iter(done.values()))}
        _check_names(done, kept)
        say(f"writing {to.name}")
        from flexor.api.load_save import save

        save(hero.with_clips({**kept, **done}, only=True), to)
    for note in notes:
        typer.echo(note)
    for one, made in done.items():
        typer.echo(
            f"{say_plain(one)}: {made.duration:.2f} s, {len(made.tracks)} tracks"
        )
    size = say_count(to.stat().st_size)
    clips = f"{len(done)} new, {len(kept)} kept"
    typer.echo(f"wrote {to}, {size} bytes; clips: {clips}")


def _place(given: str) -> Path:
    """The file to write."""
    if not given:
        raise SettingError("-o: give a .glb, .gltf, .vrm or .flexor file to write")
    to = Path(given)
    if to.suffix.lower() not in ENDINGS:
        known = " or ".join(ENDINGS)
        raise SettingError(f"-o {given}: expected a file ending in {known}")
    check_parent(to)
    if to.exists() and not to.is_file():
        raise SettingError(f"-o {given}: is there, and is no plain file")
    return to


def _load(file: Path) -> Character:
    from flexor.api.load_save import load

    hero = load(file)
    say_lost_links(file.name, hero.findings)
    return hero


def _kept(hero: Character, drop: list[str], only: bool) -> dict[str, AnyClip]:
    """The clips of the character that stay."""
    for name in drop:
        if name not in hero.clips:
            known = say_names(name, list(hero.clips))
            raise SettingError(f"--drop: no clip {name!r}; {known}")
    if only:
        return {}
    return {name: clip for name, clip in hero.clips.items() if name not in drop}


def _gather(
    hero: Character,
    sources: list[Path],
    wanted: list[str],
    name_map: Path | None,
    travel: bool,
    say: Callable[[str], Any],
) -> tuple[dict[str, AnyClip], list[str]]:
    """The clips to be changed, as clips of the character; what is to be said."""
    if not sources:
        return {name: hero.clips[name] for name in _chosen(hero.clips, wanted)}, []
    from flexor.api.retargeting import retarget_clips

    names = None if name_map is None else _read_map(name_map)
    others = [(file, _load(file)) for file in sources]
    there = [name for _, other in others for name in other.clips]
    chosen = set(_chosen(dict.fromkeys(there), wanted))
    found: dict[str, AnyClip] = {}
    notes = []
    for file, other in others:
        mine = [name for name in other.clips if name in chosen]
        if not mine:
            continue
        say(f"fitting clips of {file.name}")
        try:
            done, plan = retarget_clips(
                hero, other, mine, name_map=names, travel=travel
            )
        except SettingError as error:
            raise SettingError(f"{file}: {error}") from None
        for name in done:
            if name in found:
                raise SettingError(f"--from: two files have a clip {name!r}")
        found |= done
        notes.append(say_plain(f"{file.name}: {_say_match(plan.match)}"))
        notes += [say_plain(f"{file.name}: note: {note}") for note in plan.notes]
    return found, notes


def _chosen(clips: Any, wanted: list[str]) -> list[str]:
    """Names of clips that are asked for; all where none is."""
    for name in wanted:
        if name not in clips:
            raise SettingError(
                f"--clip: no clip {name!r}; {say_names(name, list(clips))}"
            )
    if not clips:
        raise SettingError("there are no clips; --from takes some of another file")
    return [name for name in clips if not wanted or name in wanted]


def _read_map(path: Path) -> dict[str, str]:
    """Pairs of names of a file; AssetError where it is wrong."""
    text, given = read_toml(path)
    above = ("names",) if isinstance(given.get("names"), dict) else ()
    names = given["names"] if above else given
    if not names:
        raise AssetError(path, "", 'expected lines such as "LeftArm" = "arm.L"')
    for key, value in names.items():
        if not isinstance(value, str) and value is not False:
            place = find_line(text, (*above, key))
            raise AssetError(path, place, f"{key}: expected the name of a joint")
    return {key: value or "" for key, value in names.items()}


def _parse_trim(text: str) -> tuple[float, float | None] | None:
    """Start and end in seconds; an end of None is the clip's."""
    if not text:
        return None
    first, colon, last = text.partition(":")
    try:
        start = float(first) if first.strip() else 0.0
        end = float(last) if last.strip() else None
    except ValueError:
        colon = ""
    if not colon:
        raise SettingError(f"--trim: {text!r}, expected seconds such as 0.5:2 or 0.5:")
    return start, end


def _edit(clip: AnyClip, hero: Character, edits: Edits) -> AnyClip:
    """One clip after another change."""
    from flexor.pose.clips import cut as cut_clip

    if edits.trim is not None:
        clip = cut_clip.trim(clip, *edits.trim)
    if edits.speed is not None:
        clip = cut_clip.change_speed(clip, edits.speed)
    if edits.mirror:
        from flexor.pose.clips.mirror import mirror_clip

        clip = mirror_clip(clip, hero.skeleton)
    if edits.in_place:
        from flexor.pose.clips.root_motion import extract_root_motion

        clip = extract_root_motion(clip, hero.skeleton, turn=False)[0]
    return clip


def _join(
    clips: dict[str, AnyClip],
    hero: Character,
    fade: float,
    name: str,
    onward: bool | None,
) -> dict[str, AnyClip]:
    from flexor.pose.clips.cut import concatenate

    made = name or "-".join(clips)
    parts = list(clips.values())
    joined = concatenate(
        parts, fades=fade, skeleton=hero.skeleton, onward=onward, name=made
    )
    return {made: joined}


def _check_names(done: dict[str, AnyClip], kept: dict[str, AnyClip]) -> None:
    """Refuse a new clip that would take the place of one that is to stay."""
    for name in done:
        if name in kept:
            raise SettingError(
                f"there is a clip {name!r} already; give --name NEW, or --drop {name!r}"
            )


def _say_match(match: Match) -> str:
    """Such as "26 joints matched as parts of human bodies; not used: 'Neck1'"."""
    text = f"{len(match.feeds)} joints matched {HOW[match.how]}"
    if match.given and match.how != "given":
        text += f", {len(match.given)} of them by the map of names"
    if match.left_source:
        said = [repr(name) for name in match.left_source[:MOST_SAID]]
        more = len(match.left_source) - len(said)
        rest = f" and {more} more" if more > 0 else ""
        text += f"; not used: {', '.join(said)}{rest}"
    return text


def _list(
    file: Path, sources: list[Path], wanted: list[str], name_map: Path | None
) -> None:
    """Print clips, and how joints would be matched."""
    console = open_console()
    hero = _load(file)
    table = new_table("clips", "name", "file", "seconds", "tracks")
    others = [(one, _load(one)) for one in sources]
    for path, other in ((file, hero), *others):
        for name, clip in other.clips.items():
            row = (name, path.name, f"{clip.duration:.3f}", say_count(len(clip.tracks)))
            add_row(table, *row)
    console.print(table)
    names = None if name_map is None else _read_map(name_map)
    from flexor.api.retargeting import plan_clips

    for path, other in others:
        mine = _chosen(other.clips, wanted)
        try:
            plan = plan_clips(hero, other, mine, names)
        except SettingError as error:
            raise SettingError(f"{path}: {error}") from None
        console.print(_match_table(path.name, plan))
        typer.echo(say_plain(_say_match(plan.match)))
        still = plan.match.left_target
        said = ", ".join(repr(name) for name in still)
        typer.echo(say_plain(f"at rest: {said or 'none'}"))
        for note in plan.notes:
            typer.echo(say_plain(f"note: {note}"))


def _write_map(
    file: Path, sources: list[Path], wanted: list[str], name_map: Path | None, to: str
) -> None:
    """Write what would move what as a map of names."""
    if len(sources) != 1:
        raise SettingError("--write-map: goes with one --from FILE")
    place = Path(to)
    if place.suffix.lower() != ".toml":
        raise SettingError(f"--write-map {to}: expected a file ending in .toml")
    check_parent(place)
    if place.exists() and not place.is_file():
        raise SettingError(f"--write-map {to}: is there, and is no plain file")
    from flexor.api.retargeting import map_text, plan_clips

    names = None if name_map is None else _read_map(name_map)
    other = _load(sources[0])
    try:
        plan = plan_clips(_load(file), other, _chosen(other.clips, wanted), names)
    except SettingError as error:
        raise SettingError(f"{sources[0]}: {error}") from None
    replace_file(place, map_text(plan).encode())
    typer.echo(f"wrote {place}: {say_plain(_say_match(plan.match))}")


def _match_table(title: str, plan: Plan) -> Any:
    table = new_table(title, "joint", "moved by")
    for node, feed in plan.match.feeds.items():
        names = plan.source.names
        by = names[feed.one]
        if feed.fraction > 0:
            by += f" and {names[feed.other]} ({feed.fraction:.0%})"
        add_row(table, plan.target.names[node], by)
    return table
