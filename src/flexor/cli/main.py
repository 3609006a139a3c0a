"""`flexor`: the program. Errors are one line on standard error and exit code 2."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

import flexor
from flexor.cli.bench import bench
from flexor.cli.convert import convert
from flexor.cli.endless import endless
from flexor.cli.inspect import inspect
from flexor.cli.motion import motion
from flexor.cli.play import play
from flexor.cli.render import render
from flexor.cli.repair import RepairCommand, repair
from flexor.cli.stage import stage
from flexor.errors import FlexorError

__all__ = ["app", "main"]

EPILOG = """
Examples:

  flexor inspect hero.glb           what is in a file, what is wrong

  flexor inspect hero.glb --json    the same for programs

  flexor render hero.glb -o hero.mp4    a clip as a video

  flexor repair hero.glb --check    what is wrong with its weights and joints

  flexor repair hero.glb -o better.glb --rogues --links 3    mend them

  flexor motion hero.glb --from walk.bvh -o new.glb    a motion of another body

  flexor convert hero.glb -o hero.flexor    a package that loads and runs fast

  flexor stage arena.toml -o arena.mp4    a stage, played without a window

  flexor play arena                 a game in a window

  flexor bench skin --json -        how fast this machine is
"""

app = typer.Typer(
    help="Real-time characters for Python: inspect, mend, draw, convert, measure.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command(epilog="Example:  flexor inspect hero.glb --json | jq .clips")(inspect)
app.command(epilog="Example:  flexor render hero.glb --clip walk -o walk.mp4")(render)
app.command(
    cls=RepairCommand,
    epilog="Example:  flexor repair hero.glb -o better.glb --rogues --links 3",
)(repair)
app.command(
    epilog="Example:  flexor motion hero.glb --from walk.bvh --in-place -o new.glb"
)(motion)
app.command(epilog="Example:  flexor convert hero.glb -o hero.flexor --report")(convert)
app.command(epilog="Example:  flexor endless a/ b/ -o loop.webp")(endless)
app.command(epilog="Example:  flexor stage arena.toml --inputs fight.log -o fight.mp4")(
    stage
)
app.command(epilog="Example:  flexor play goal --record goal.mp4 --seconds 20")(play)
app.command(epilog="Example:  flexor bench pose skin --json out.json")(bench)


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"flexor {flexor.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program; exit codes: 0 done, 2 wrong input, 130 stopped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may be any bytes
    try:
        app()
    except FlexorError as error:
        typer.echo(f"flexor: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output has gone. Python would complain at exit otherwise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        # Standard output cannot be written: a full disk, say. Nor can it be at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        typer.echo(f"flexor: standard output: {error.strerror or error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
