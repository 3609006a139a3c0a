"""`flexor endless`: pictures whose end runs into their start, of two series or one."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from flexor.arrays import Pixels
from flexor.cli.progress import show_progress, show_status, tidy_when_ended
from flexor.cli.tables.columns import say_plain
from flexor.errors import AssetError, FlexorError, SettingError
from flexor.files.replace import check_parent
from flexor.output.frames import LONGEST_SIDE
from flexor.output.movie import MOVIES, is_folder, open_movie

__all__ = ["endless"]

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 1 << 24  # of a picture; a few are in memory at a time, as floats
MOST_FILES = 100_000
MOST_DIGITS = 18  # in a name; more are no number that anyone counts with

First = Annotated[
    Path,
    typer.Argument(
        metavar="A_DIR", help=f"A folder of pictures ({' '.join(ENDINGS)})."
    ),
]
Second = Annotated[
    Path | None,
    typer.Argument(
        metavar="B_DIR",
        help="A folder of as many, of the same size, which go on where the first end.",
    ),
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help=f"What to write: a folder of pictures, or a movie ({' '.join(MOVIES)}).",
    ),
]
Overlap = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Make both series of A_DIR alone: its last N pictures over its first N.",
    ),
]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep-contrast",
        help="Make up for what mixing dulls; for surfaces such as water.",
    ),
]
Rate = Annotated[float, typer.Option(help="Frames a second of a movie.")]


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the T frames of a loop come from.

    first: T files; second: those that lie over the first of them; size: (width,
    height), of all.
    """

    first: tuple[Path, ...]
    second: tuple[Path, ...]
    size: tuple[int, int]


def endless(
    first: First,
    second: Second = None,
    out: Out = "",
    overlap: Overlap = None,
    keep_contrast: Keep = False,
    rate: Rate = 30.0,
) -> None:
    """Make an endless series of pictures, for textures such as water.

    The second series is laid over the first and fades, so that the end of the result
    runs into its start. Pictures are taken in the order of their names, numbers in
    them as numbers.
    """
    if not 0.01 <= rate <= 1000:
        raise SettingError(f"--rate: {rate:g}, expected 0.01 to 1000 frames a second")
    _check_folders(first, second, overlap)
    place = _place(out, [first] if second is None else [first, second])
    with tidy_when_ended():
        with show_status("looking at pictures"):
            plan = _plan(first, second, overlap)
        steps = _write(plan, place, rate, keep_contrast)
    _say(place, plan, steps, rate)


def _check_folders(first: Path, second: Path | None, overlap: int | None) -> None:
    """Refuse one folder without an overlap, and two with one."""
    if second is None and overlap is None:
        raise SettingError(
            "B_DIR: not given; give a second folder, or --overlap N to make both "
            "series of the first"
        )
    if second is not None and overlap is not None:
        raise SettingError("--overlap: is for one folder; leave out it or B_DIR")
    if second is not None and _real(first) == _real(second):
        raise SettingError(
            "B_DIR: is A_DIR; for both series of one folder give --overlap N"
        )


def _place(out: str, sources: list[Path]) -> str:
    """What to write to; a name without an ending is that of a folder."""
    if not out:
        raise SettingError(f"-o: give a folder, or a movie ({' '.join(MOVIES)})")
    if is_folder(out) or not Path(out).suffix:
        out = out.rstrip("/" + os.sep) + "/"
    if not is_folder(out) and Path(out).suffix.lower() not in MOVIES:
        raise SettingError(
            f"-o {out}: unknown ending; movies are {', '.join(MOVIES)}, or give "
            '"name/" for a folder of pictures'
        )
    for source in sources:
        if _real(Path(out)) == _real(source):
            # A folder is replaced as a whole: the pictures would be gone.
            raise SettingError(f"-o {out}: its pictures are read; give another folder")
    check_parent(Path(out))
    return out


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _plan(first: Path, second: Path | None, overlap: int | None) -> Plan:
    """Find the pictures, and refuse those that do not fit together."""
    files = _list(first)
    others = [] if second is None else _list(second)
    if second is not None and len(others) != len(files):
        raise AssetError(
            second,
            "",
            f"{len(others)} pictures, expected {len(files)} as {first} has",
        )
    size = _size(files[0])
    for file in (*files[1:], *others):
        _check_size(file, _size(file), size, f"{files[0]} has")
    if overlap is None:
        return Plan(tuple(files), tuple(others), size)
    most = len(files) // 2
    if most < 2:
        text = f"{len(files)} pictures, expected at least 4 for --overlap"
        raise AssetError(first, "", text)
    if not 2 <= overlap <= most:
        raise SettingError(
            f"--overlap: {overlap}, expected 2 to {most}, half of the {len(files)} "
            f"pictures in {first}"
        )
    count = len(files) - overlap
    return Plan(tuple(files[:count]), tuple(files[count:]), size)


def _list(folder: Path) -> list[Path]:
    """The pictures of a folder, in order."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.name.lower().endswith(ENDINGS)]
    except OSError as error:
        reason = error.strerror or error
        text = f"cannot be read: {reason}; expected a folder of pictures"
        raise AssetError(folder, "", text) from None
    if not 2 <= len(names) <= MOST_FILES:
        known = " ".join(ENDINGS)
        text = f"{len(names)} pictures ({known}), expected 2 to {MOST_FILES}"
        raise AssetError(folder, "", text)
    return [folder / name for name in sorted(names, key=_order)]


def _order(name: str) -> tuple[list[tuple[int, str]], str]:
    """What names are sorted by: wave2 comes before wave10, and 02 before 2."""
    parts = re.split(r"([0-9]+)", name.lower())
    key = [
        (int(part), "") if at % 2 and len(part) <= MOST_DIGITS else (-1, part)
        for at, part in enumerate(parts)
    ]
    return key, name


def _size(file: Path) -> tuple[int, int]:
    """Width and height of a picture, from its first bytes."""
    with _opened(file) as picture:
        width, height = picture.size
    return width, height


def _read(file: Path, size: tuple[int, int]) -> Pixels:
    """A picture as uint8 (H, W, 4)."""
    from PIL import Image

    with _opened(file) as picture:
        _check_size(file, picture.size, size, "it had before")
        if picture.mode.startswith("I"):  # 16 bits would be cut, not scaled
            grey = np.clip(np.asarray(picture, np.int64) >> 8, 0, 255)
            return np.array(Image.fromarray(grey.astype(np.uint8)).convert("RGBA"))
        return np.array(picture.convert("RGBA"), np.uint8)


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """A file as a picture of Pillow, of which only the head is read.

    Files are hostile until checked: everything that goes wrong in the block is said to
    be the file's fault.
    """
    from PIL import Image

    if not file.is_file():  # to open a pipe would wait for ever
        raise AssetError(file, "", "is not a plain file, expected a picture")
    try:
        # Of large pictures and odd notes of cameras Pillow warns; sizes are checked.
        with warnings.catch_warnings(action="ignore"):
            with Image.open(file, formats=FORMATS) as picture:
                _check_picture(file, picture)
                yield picture
    except FlexorError:
        raise
    except Exception as error:  # a broken file can raise anything in there
        kinds = ", ".join(FORMATS)
        reason = say_plain(str(error)) or type(error).__name__
        text = f"cannot be read: {reason}; expected a picture: {kinds}"
        raise AssetError(file, "", text) from None


def _check_picture(file: Path, picture: Any) -> None:
    """Refuse what is too large, and what moves."""
    width, height = picture.size
    if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
        raise AssetError(
            file,
            "",
            f"{width} x {height} pixels, expected at most {LONGEST_SIDE} a side and "
            f"{MOST_PIXELS:,} in all",
        )
    if picture.format != "MPO" and getattr(picture, "n_frames", 1) > 1:
        count = picture.n_frames
        raise AssetError(file, "", f"holds {count} pictures, expected one a file")


def _check_size(
    file: Path, own: tuple[int, int], size: tuple[int, int], who: str
) -> None:
    if own != size:
        text = f"{own[0]} x {own[1]} pixels, expected {size[0]} x {size[1]} as {who}"
        raise AssetError(file, "", text)


def _write(plan: Plan, place: str, rate: float, keep: bool) -> NDArray[np.float64]:
    """Make and write the loop; how much each frame differs from the next (T,)."""
    from flexor.stage.effects.endless import step_size

    steps = []
    start: Pixels | None = None
    before: Pixels | None = None
    with open_movie(place, plan.size, rate) as movie:
        with show_progress(Path(place).name, len(plan.first)) as advance:
            for frame in _frames(plan, keep):
                movie.add(frame)
                if before is None:
                    start = frame
                else:
                    steps.append(step_size(before, frame))
                before = frame
                advance()
        if start is not None and before is not None:
            steps.append(step_size(before, start))
    return np.array(steps)


def _frames(plan: Plan, keep: bool) -> Iterator[Pixels]:
    """The frames of the loop, one at a time: a long series need not fit in memory."""
    from flexor.stage.effects.endless import blend_frame, fade_weights

    for one, two, opacity in zip_longest(
        plan.first, plan.second, fade_weights(len(plan.second))
    ):
        frame = _read(one, plan.size)
        if two is not None:
            over = _read(two, plan.size)
            blend_frame(frame, over, opacity, keep_contrast=keep, out=frame)
        yield frame


def _say(place: str, plan: Plan, steps: NDArray[np.float64], rate: float) -> None:
    count, (width, height) = len(steps), plan.size
    lasts = "" if is_folder(place) else f", {count / rate:.2f} s at {rate:g} a second"
    typer.echo(f"{place}: {count} frames of {width} x {height}{lasts}")
    inside = float(steps[:-1].max())
    typer.echo(
        f"largest step inside: {inside:.2f} levels of 255; from last to first: "
        f"{steps[-1]:.2f}"
    )
    if steps[-1] > inside:
        typer.echo(
            "note: the step from last to first is the largest; the second series "
            "should go on where the first ends. If it does, longer series, another "
            "--overlap or --keep-contrast may help"
        )
