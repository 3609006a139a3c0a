"""`flexor`: the program. Errors are one line on standard error and exit code 2."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

import flexor
from flexor.errors import FlexorError

__all__ = ["app", "main", "make_app"]

if TYPE_CHECKING:
    app: typer.Typer

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

  flexor warm                       compile everything now, not when it is needed
"""

# Each is a function of the module of its name, and an example for the end of its help.
COMMANDS = {
    "inspect": "flexor inspect hero.glb --json | jq .clips",
    "render": "flexor render hero.glb --clip walk -o walk.mp4",
    "repair": "flexor repair hero.glb -o better.glb --rogues --links 3",
    "motion": "flexor motion hero.glb --from walk.bvh --in-place -o new.glb",
    "convert": "flexor convert hero.glb -o hero.flexor --report",
    "endless": "flexor endless a/ b/ -o loop.webp",
    "stage": "flexor stage arena.toml --inputs fight.log -o fight.mp4",
    "play": "flexor play goal --record goal.mp4 --seconds 20",
    "bench": "flexor bench pose skin --json out.json",
    "warm": "FLEXOR_CPU=x86-64-v2 flexor warm",
}


def make_app(only: str | None = None) -> typer.Typer:
    """The program; only: one command, so that no other's module is loaded."""
    made = typer.Typer(
        help="Real-time characters for Python: inspect, mend, draw, convert, measure.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    made.callback()(_options)
    for name, example in COMMANDS.items():
        if only in (None, name):
            module = import_module(f"flexor.cli.{name}")
            kind = getattr(module, "RepairCommand", None)
            made.command(cls=kind, epilog=f"Example:  {example}")(getattr(module, name))
    return made


def __getattr__(name: str) -> typer.Typer:
    """`app`: all commands, made when it is asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()["app"] = make_app()
    return made


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"flexor {flexor.__version__}")
        raise typer.Exit


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
    asked = next(iter(sys.argv[1:]), "")
    try:
        make_app(asked if asked in COMMANDS else None)()
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
