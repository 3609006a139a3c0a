"""`flexor play`: a game in a window, or without one from a log, as a video."""

from __future__ import annotations

import errno
import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from flexor.cli.progress import show_progress, show_status, tidy_when_ended
from flexor.cli.texts import parse_size, say_lost_links, say_names
from flexor.errors import AssetError, SettingError
from flexor.files.text.moves import read_log
from flexor.output.frames import check_size
from flexor.output.movie import MOVIES, is_folder
from flexor.scene.stage.game import SKILLS, Skill

if TYPE_CHECKING:
    from flexor.api.character import Character
    from flexor.games.game import Game
    from flexor.scene.stage.moves import InputLog

__all__ = ["play"]

GAMES = ("arena", "goal")
STAGE = ".toml"  # how the file of a stage ends
Against = Literal["two", "opponent", "watch"]
VERSUS: tuple[Against, ...] = get_args(Against)
RATE, PADS = 60, 2  # ticks a second, and players
LONGEST = 3600.0  # seconds
SECONDS = 10.0  # where neither a script nor the game says how long
WINDOW, MOVIE = "1280x720", "960x540"

Name = Annotated[
    str,
    typer.Argument(
        metavar="GAME", help="arena, goal, or the file of a stage (STAGE.toml)."
    ),
]
Who = Annotated[
    Path | None,
    typer.Option(
        "--character",
        help="Who takes the place of the built-in mannequin: a file of a humanoid.",
    ),
]
Versus = Annotated[
    str | None,
    typer.Option(
        help="Stages: one player against opponents (opponent), two players (two), or "
        "nobody (watch); as the stage says if not said."
    ),
]
Skilled = Annotated[
    str | None,
    typer.Option(
        help="Stages: what all opponents can, low, middle or high; as the stage says "
        "if not said."
    ),
]
Mute = Annotated[bool, typer.Option("--mute", help="Without sound.")]
Size = Annotated[
    str | None, typer.Option(help=f"Of the window ({WINDOW}) or the movie ({MOVIE}).")
]
Script = Annotated[
    Path | None,
    typer.Option(help="A log of buttons to play without a window, such as R writes."),
]
Record = Annotated[
    str,
    typer.Option(
        help=f"Play without a window and write a movie ({' '.join(MOVIES)}) or a "
        "folder of pictures; without --script the game shows itself.",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(help="How long without a window; as long as the script if not said."),
]
Fps = Annotated[int, typer.Option(help="Frames a second of a movie: 60, 30, 20, ...")]
Moves = Annotated[
    Path | None,
    typer.Option(help="Stages: a text file of moves in place of their own."),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="What comes by chance comes by this number; a stage has one of its own."
    ),
]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which game, and how: what was typed."""

    game: str
    character: Path | None = None
    versus: str | None = None
    seed: int | None = None
    moves: Path | None = None
    skill: str | None = None

    @property
    def name(self) -> str:
        """Of the game, as files that it writes have it."""
        return Path(self.game).stem if self.is_file else self.game

    @property
    def is_file(self) -> bool:
        """Whether a file of a stage is played."""
        return self.game.lower().endswith(STAGE)


def play(
    game: Name,
    character: Who = None,
    versus: Versus = None,
    mute: Mute = False,
    size: Size = None,
    script: Script = None,
    record: Record = "",
    seconds: Seconds = None,
    fps: Fps = 30,
    seed: Seed = None,
    moves: Moves = None,
    skill: Skilled = None,
) -> None:
    r"""Play a game in a window, with keys or gamepads; F1 there shows which.

    Any stage is a game: of one who walks about, of two or more who fight; what its
    table \[game] can say is in docs/guide/play.md.

    With --script or --record it is played without a window. The same presses give the
    same play; the last line says its hash.
    """
    choice = Choice(game, character, versus, seed, moves, skill)
    _check(choice, record, seconds, fps)
    is_windowed = script is None and not record
    if is_windowed and seconds is not None:
        raise SettingError(f"--seconds {seconds:g}: is for --script and --record")
    shape = parse_size(size or (WINDOW if is_windowed else MOVIE))
    check_size(shape)
    if is_windowed:
        _play_window(choice, shape, mute)
        return
    log = None if script is None else read_log(script)
    if log is not None and log.count > PADS:
        raise SettingError(
            f"--script {script}: of {log.count} pads, expected {PADS} or less"
        )
    if log is not None and log.cameras:
        raise SettingError(
            f"--script {script}: has cameras of a stage, expected buttons alone; "
            "flexor stage FILE --inputs plays it"
        )
    with tidy_when_ended():
        with show_status(choice.name):
            # A stage shows itself by opponents alone, unless it is said who plays.
            is_demo = log is None and game != "goal" and versus is None
            own = make_game(replace(choice, versus="watch") if is_demo else choice)
        _play_script(own, log, seconds, record, shape, fps, mute)


def _check(choice: Choice, record: str, seconds: float | None, fps: int) -> None:
    game, seed = choice.game, choice.seed
    if game not in GAMES and not choice.is_file:
        there = say_names(game, GAMES)
        raise SettingError(f"no game {game!r}; {there}; or a stage, such as arena.toml")
    for option, known in (("versus", VERSUS), ("moves", None), ("skill", SKILLS)):
        value = getattr(choice, option)
        if value is None:
            continue
        if game == "goal":
            raise SettingError(f"--{option} {value}: is for stages alone")
        if known is not None and value not in known:
            raise SettingError(
                f"--{option} {value!r}, expected one of {', '.join(known)}"
            )
    if record and not is_folder(record) and Path(record).suffix.lower() not in MOVIES:
        raise SettingError(
            f"--record {record}: unknown ending; there are {', '.join(MOVIES)}, or "
            '"name/" for a folder'
        )
    if seconds is not None and not 0 <= seconds <= LONGEST:
        raise SettingError(f"--seconds {seconds:g}, expected 0 to {LONGEST:g}")
    if fps < 1 or RATE % fps:
        raise SettingError(f"--fps {fps}, expected 60, 30, 20, 15, 12, 10 or less")
    if seed is not None and not 0 <= seed < 2**32:
        raise SettingError(f"--seed {seed}, expected 0 to {2**32 - 1}")


def make_game(choice: Choice) -> Game:
    """A game at its title."""
    if choice.game == "goal":
        from flexor.games.goal.game import make_goal_game

        goal = make_goal_game(choice.character, choice.seed or 0)
        _say_links(choice.character, goal.body.hero)
        return goal
    from flexor.games.match.match import make_match

    match = make_match(
        Path(choice.game) if choice.is_file else None,
        choice.character,
        choice.seed,
        cast(Against | None, choice.versus),
        moves=choice.moves,
        skill=cast(Skill | None, choice.skill),
    )
    if not match.plan.cast:
        fault = "nobody is on this stage, expected a [[character]] or more"
        raise AssetError(choice.game, "", fault)
    for body in match.stage.cast:
        who = match.plan.cast[body.rows[0]].file
        is_said = choice.character is not None and who == "mannequin"
        _say_links(choice.character if is_said else Path(who), body.hero)
    return match


def _say_links(file: Path | None, hero: Character) -> None:
    """Which links of a character's file do not fit."""
    if file is not None:
        say_lost_links(file.name, hero.findings)


def _say_headless(choice: Choice) -> str:
    """What to type to have the same game without a window."""
    words = ["flexor", "play", choice.game]
    for option in ("character", "versus", "moves", "skill", "seed"):
        value = getattr(choice, option)
        words += [] if value is None else [f"--{option}", str(value)]
    return shlex.join([*words, "--record", f"{choice.name}.mp4"])


def _play_window(choice: Choice, size: tuple[int, int], is_mute: bool) -> None:
    from flexor.games.window import check_window, open_window

    name, instead = choice.name, _say_headless(choice)
    if choice.is_file and not Path(choice.game).exists():
        # Nor would it be played without a window.
        raise AssetError(Path(choice.game), "", os.strerror(errno.ENOENT))
    check_window(instead)
    with show_status(name):
        own = make_game(choice)
        own.draw(size)  # what is compiled or laid out first leaves no window black
    players = getattr(own, "players", (1, 2))
    is_alone = 2 not in players
    with open_window(
        own, name, size=size, is_mute=is_mute, is_alone=is_alone, instead=instead
    ) as window:
        while window.is_open:
            window.frame()
    for path in window.written:
        typer.echo(f"{path} is written")
    typer.echo(
        f"{own.tick} ticks, {window.frames} frames, the last at {window.rate_text()}"
    )


def _play_script(
    own: Game,
    log: InputLog | None,
    seconds: float | None,
    out: str,
    size: tuple[int, int],
    fps: int,
    is_mute: bool,
) -> None:
    """Play without a window, and write what is wanted."""
    from flexor.games.record import add_sound, demo_of, play_game
    from flexor.games.sounds import mix_track

    if log is None:
        log = demo_of(own)
    if seconds is None:
        ticks = round(SECONDS * RATE) if log is None else log.length
    else:
        ticks = round(seconds * RATE)
    count = -(-ticks * fps // RATE) if out else ticks
    what, unit = (Path(out).name, "fps") if out else (own.title, "ticks/s")
    with show_progress(what, max(count, 1), unit) as advance:
        done = play_game(
            own, log, ticks, out=out or None, size=size, fps=fps, advance=advance
        )
    if out:
        has_sound = not is_mute and Path(out).suffix.lower() == ".mp4"
        if has_sound and done.heard and not is_folder(out):
            add_sound(Path(out), mix_track(done.heard, done.ticks))
        typer.echo(f"{out}: {done.frames} frames")
    typer.echo(f"tick {done.ticks}, hash {done.hash}")
