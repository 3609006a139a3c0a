"""How far a long command is: on a terminal alone, and on standard error."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["show_progress", "show_status", "tidy_when_ended"]


@contextmanager
def show_progress(
    what: str, count: int, unit: str = "fps"
) -> Iterator[Callable[[], None]]:
    """A bar with the speed in `unit` and the time left; call what it gives for each.

    Nothing is shown where standard error is no terminal.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many a second."""

        def render(self, task: Task) -> Text:
            is_said = task.speed is not None and unit
            return Text(f"{task.speed:.0f} {unit}" if is_said else "")

    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(what, total=count)
        yield lambda: progress.advance(task)


@contextmanager
def show_status(text: str) -> Iterator[Callable[[str], None]]:
    """A line that says what is being done, and for how long; call what it gives to
    change it. Nothing is shown where standard error is no terminal.
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(text, total=None)
        yield lambda new: progress.update(task, description=new)


@contextmanager
def tidy_when_ended(
    say: Callable[[], str] = lambda: "stopped, nothing was written",
) -> Iterator[None]:
    """Let a request to end (SIGTERM) remove unfinished files, as Ctrl-C does.

    say: gives what is said then.
    """

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        sys.stderr.write(f"flexor: {say()}\n")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
