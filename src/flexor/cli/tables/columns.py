"""Tables for people, on a terminal or in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["add_row", "new_table", "open_console", "say_count", "say_plain"]


def open_console() -> Console:
    """Standard output; wide enough for tables when it goes to a file."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=120)


def new_table(title: str, *columns: str) -> Table:
    """A table with its first column to the left, numbers to the right."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=say_plain(title), box=box.SIMPLE, title_justify="left", pad_edge=False
    )
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    return table


def add_row(table: Table, *cells: str) -> None:
    """Cells as they are: names come out of files, they are text, not markup."""
    from rich.text import Text

    table.add_row(*(Text(say_plain(cell)) for cell in cells))


def say_plain(text: str) -> str:
    """A text with nothing in it that moves a cursor or clears a screen."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def say_count(number: int) -> str:
    """Such as "12,597"."""
    return f"{number:,}"
