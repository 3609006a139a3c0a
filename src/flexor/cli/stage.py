"""`flexor stage`: check a stage, and play it without a window, as a video."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flexor.cli.progress import show_progress, show_status, tidy_when_ended
from flexor.cli.texts import parse_size, say_lost_links
from flexor.errors import SettingError
from flexor.files.text.moves import read_log
from flexor.output.image import IMAGES, save_image
from flexor.output.movie import MOVIES, is_folder, open_movie
from flexor.scene.stage.moves import RATE

if TYPE_CHECKING:
    from flexor.api.stage import Stage
    from flexor.scene.stage.moves import InputLog

__all__ = ["stage"]

LONGEST = 3600.0  # seconds
SECONDS = 5.0
MOVED = 0.05  # metres: who is put so far from its place in the first tick is told

File = Annotated[Path, typer.Argument(help="A stage (TOML), or arena.")]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help=f"What to write: a movie ({' '.join(MOVIES)}), a folder of pictures, or "
        "the last picture.",
    ),
]
Inputs = Annotated[
    Path | None,
    typer.Option(help="A log of buttons to play; without it nobody presses any."),
]
Seconds = Annotated[
    float | None,
    typer.Option(help=f"How long; as long as the inputs, or {SECONDS:g}, if not said."),
]
Size = Annotated[str, typer.Option(help="Of the picture.")]
Fps = Annotated[int, typer.Option(help="Frames a second of a movie: 60, 30, 20, ...")]


def stage(
    file: File,
    out: Out = "",
    inputs: Inputs = None,
    seconds: Seconds = None,
    size: Size = "640x480",
    fps: Fps = 30,
) -> None:
    """Play a stage without a window: check it, or write a movie of it.

    Without -o it is checked, and what is on it is said. The same file and the same
    inputs give the same play; the last line says its hash.
    """
    if seconds is not None and not 0 <= seconds <= LONGEST:
        raise SettingError(f"--seconds {seconds:g}, expected 0 to {LONGEST:g}")
    if fps < 1 or RATE % fps:
        raise SettingError(f"--fps {fps}, expected 60, 30, 20, 15, 12, 10 or less")
    shape = parse_size(size)
    ending = Path(out).suffix.lower()
    is_picture = ending in IMAGES and ending not in MOVIES
    if out and not (is_picture or is_folder(out) or ending in MOVIES):
        known = ", ".join((*MOVIES, *IMAGES))
        raise SettingError(
            f'-o {out}: unknown ending; there are {known}, or "name/" for a folder'
        )
    log = None if inputs is None else read_log(inputs)
    with tidy_when_ended():
        with show_status("characters"):
            own = _open(file)
        for body in own.cast:
            who = Path(own.plan.cast[body.rows[0]].file).name
            say_lost_links(who, body.hero.findings)
        _say_cast(own)
        _say_odd(own)
        if log is not None and log.count > len(own):
            raise SettingError(
                f"--inputs {inputs}: of {log.count} characters, not of {len(own)}"
            )
        if seconds is None:
            seconds = SECONDS if log is None else log.length / RATE
            if seconds > LONGEST:
                raise SettingError(
                    f"--inputs {inputs}: {round(seconds * RATE)} ticks; say how many "
                    f"of them with --seconds, up to {LONGEST:g}"
                )
        if out or log is not None:
            _play(own, log, round(seconds * RATE), out, is_picture, shape, fps)


def _open(file: Path) -> Stage:
    from flexor import samples
    from flexor.api.stage import Stage

    is_sample = str(file) == "arena" and not file.exists()
    return Stage(samples.arena() if is_sample else file)


def _say_cast(own: Stage) -> None:
    plan = own.plan
    rows, columns = plan.ground.surfaces.shape
    wide, long = columns * plan.ground.step, rows * plan.ground.step
    typer.echo(
        f"ground {wide:g} x {long:g} m, {len(plan.zones)} zones, "
        f"{len(plan.structures)} structures, {len(own.state.tables)} moves, "
        f"{len(own.state.tables.combinations)} combinations"
    )
    for row, actor in enumerate(plan.cast):
        x, z = actor.place
        against = int(own.opponents[row])
        other = plan.cast[against].name if against >= 0 else "nobody"
        team = f", of team {actor.team}" if actor.team else ""
        typer.echo(
            f"{row}  {actor.name}: {Path(actor.file).name} at {x:g}, {z:g}, "
            f"against {other}{team}"
        )
    for body in own.cast:
        names = ", ".join(plan.cast[row].name for row in body.rows[:4])
        said = [
            f"{role} {playing.clip!r}"
            + (f" ({playing.own_speed:.2f} m/s)" if playing.own_speed else "")
            for role, playing in body.plan.roles.items()
        ]
        typer.echo(f"   clips of {names}: {', '.join(said) or 'none, it only stands'}")


def _say_odd(own: Stage) -> None:
    """What is allowed, and seldom meant."""
    plan, odd = own.plan, list[str]()
    own.step()  # which puts who has no room where there is some
    for row, actor in enumerate(plan.cast):
        (x, z), (there_x, _, there_z) = actor.place, own.places[row].tolist()
        if max(abs(x - there_x), abs(z - there_z)) > MOVED:
            odd.append(
                f"{actor.name}: no room at {x:g}, {z:g} for walls or others, "
                f"begins at {there_x:.2f}, {there_z:.2f}"
            )
    own.restart()
    names = {actor.name: actor for actor in plan.cast}
    for actor in plan.cast:
        other = names.get(actor.opponent)
        is_friend = other is not None and actor.team and actor.team == other.team
        if is_friend and not plan.fight.friendly:
            odd.append(
                f"{actor.name}: against {actor.opponent}, whom it cannot hit: "
                f"both are of team {actor.team}"
            )
    odd += _name_short_attacks(own)
    if plan.light[1] >= 0:
        odd.append("light: comes from below; nothing casts a shadow on the ground")
    for text in odd:
        typer.echo(f"?  {text}")


def _name_short_attacks(own: Stage) -> list[str]:
    """Attacks that meet nobody who stands, as near as two can stand: once each."""
    state, found = own.state, dict[str, None]()
    tables, reaches = state.tables, state.fights.reaches
    for row in range(len(own)):
        kind, near = int(state.kinds[row]), 2 * float(state.radii[row])
        for number in tables.numbers(int(state.moves.table[row])):
            move = tables.moves[number]
            if move.kind != "attack" or move.hits_down:
                continue
            if float(reaches[kind, number]) + move.advance < near:
                found[
                    f"{move.name}: meets nobody from tick {move.start} to "
                    f"{move.until_back} of {move.total}: its parts do not strike then "
                    f"in the clip {move.clip!r}, which is fitted to all of its ticks"
                ] = None
    return list(found)


def _play(
    own: Stage,
    log: InputLog | None,
    ticks: int,
    out: str,
    is_picture: bool,
    size: tuple[int, int],
    fps: int,
) -> None:
    """Play so many ticks, and write what is wanted."""
    import numpy as np

    from flexor.api.stage import turn_camera
    from flexor.stage.movement.buttons import buttons_at, init_replay

    replay = None if log is None else init_replay(log, len(own))
    held = np.zeros(len(own), np.uint32)

    def step(tick: int) -> None:
        if replay is not None:
            turn_camera(own, replay.log, tick)
            buttons_at(replay, tick, out=held)
        own.step(held)

    started = clock.perf_counter()
    if out and not is_picture:
        with open_movie(out, size, fps) as movie:
            frames = max(ticks * fps // RATE, 1)
            with show_progress(Path(out).name, frames) as advance:
                for tick in range(ticks):
                    step(tick)
                    if (tick + 1) % (RATE // fps) == 0:
                        movie.add(own.draw(size))
                        advance()
            if not movie.count:
                movie.add(own.draw(size))
        spent = clock.perf_counter() - started
        typer.echo(
            f"{movie.path}: {frames} frames, {fps} a second; made in {spent:.1f} s"
        )
    else:
        for tick in range(ticks):
            step(tick)
        if is_picture:
            save_image(out, own.draw(size))
            typer.echo(f"{out}: after {ticks} ticks")
    if log is not None:
        turn_camera(own, log, ticks)
    _say_end(own)


def _say_end(own: Stage) -> None:
    for row, actor in enumerate(own.plan.cast):
        typer.echo(f"{actor.name}: {own.energy[row]:g} points, {own.doing(row)}")
    typer.echo(f"tick {own.tick}, hash {own.hash()}")
