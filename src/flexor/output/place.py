"""Where files that take a while to write grow, and how they come by their names.

They grow under a temporary name beside the target, so that a full disk, a stopped
process or an error leaves what was there before, and nothing else.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flexor.errors import AssetError, FlexorError

__all__ = ["FRAME_NAME", "check_parent", "new_file", "new_folder", "writing"]

FRAME_NAME = re.compile(r"\d{5,}\.png")
MOST_TRIES = 100


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what goes wrong with the disk into an error that names `path`."""
    try:
        yield
    except FlexorError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name no file can have
        reason = getattr(error, "strerror", None) or error
        raise AssetError(path, "", f"cannot be written: {reason}") from None


def check_parent(path: Path) -> None:
    """Refuse a path in a folder that does not exist."""
    with writing(path):
        if not path.parent.is_dir():
            raise AssetError(
                path, "", f"cannot be written: there is no folder {path.parent}"
            )


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """An empty file beside `path`; its name when the block ends well is `path`.

    When the block raises, the file is removed.
    """
    check_parent(path)
    with writing(path):
        # A link stays a link: what it points to is replaced.
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            raise AssetError(path, "", "cannot be written: is not a plain file")
        temporary = _temporary(target)
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        with writing(path):
            _copy_mode(target, temporary)
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


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
        temporary = _temporary(target)
        os.mkdir(temporary)
    try:
        yield temporary
        with writing(path):
            _copy_mode(target, temporary)
            _swap(path, temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _temporary(target: Path) -> Path:
    return target.parent / f".flexor-{secrets.token_hex(8)}"


def _copy_mode(old: Path, new: Path) -> None:
    """Give `new` the permissions of `old`, if there is such a thing."""
    with suppress(FileNotFoundError):
        os.chmod(new, old.stat().st_mode & 0o777)


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
        old = _temporary(target)
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
