"""Folders of frames, whole or not at all, like files.

They grow under a temporary name beside the target and then change places with what was
there before, which is removed only if it holds frames alone.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flexor.errors import AssetError
from flexor.files.replace import check_parent, copy_mode, temporary_name, writing

__all__ = ["FRAME_NAME", "new_folder"]

FRAME_NAME = re.compile(r"\d{5,}\.png")
MOST_TRIES = 100


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """An empty folder beside `path`; its name when the block ends well is `path`.

    A folder that is there already is replaced if it holds frames alone. When the block
    raises, the new folder is removed.
    """
    check_parent(path)
    with writing(path):
        target = Path(os.path.realpath(path))
        _check_frames_alone(path, target)
        temporary = temporary_name(target)
        os.mkdir(temporary)
    try:
        yield temporary
        with writing(path):
            copy_mode(target, temporary)
            _swap(path, temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_frames_alone(path: Path, folder: Path) -> None:
    """Refuse to replace a folder with anything in it that was not written here."""
    try:
        with os.scandir(folder) as entries:
            others = [
                entry.name
                for entry in entries
                if not FRAME_NAME.fullmatch(entry.name)
                or not entry.is_file(follow_symlinks=False)
            ]
    except FileNotFoundError:
        return
    except NotADirectoryError:
        text = "cannot be written: is a file, expected a folder"
        raise AssetError(path, "", text) from None
    if others:
        raise AssetError(
            path,
            "",
            f"cannot be written: holds {others[0]!r}, which is no frame; "
            "give a new folder",
        )


def _swap(path: Path, new: Path, target: Path) -> None:
    """Give the folder `new` the name `target`, and remove what had it before.

    Another process may do the same at the same time: the last one wins.
    """
    for _ in range(MOST_TRIES):
        try:
            os.rename(new, target)  # also takes the place of an empty folder
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        old = temporary_name(target)
        with suppress(FileNotFoundError):  # another process was faster
            os.rename(target, old)
            _remove_frames(path, old, target)
    raise AssetError(path, "", "cannot be written: others keep writing there")


def _remove_frames(path: Path, old: Path, target: Path) -> None:
    """Remove a folder of frames that was moved away; put it back if it holds more."""
    try:
        _check_frames_alone(path, old)
    except AssetError:
        os.rename(old, target)
        raise
    shutil.rmtree(old)
