"""Write files whole or not at all.

They grow under a temporary name beside their place, so that a full disk, a stopped
process or an error leaves what was there before, and nothing else.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flexor.errors import AssetError, FlexorError

__all__ = [
    "check_parent",
    "copy_mode",
    "new_file",
    "replace_file",
    "temporary_name",
    "writing",
]


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
        temporary = temporary_name(target)
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        with writing(path):
            copy_mode(target, temporary)
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` under the name `path`, all of them or none."""
    with new_file(path) as temporary, writing(path):
        temporary.write_bytes(data)


def temporary_name(target: Path) -> Path:
    """A name that nothing has, in the folder of `target`."""
    return target.parent / f".flexor-{secrets.token_hex(8)}"


def copy_mode(old: Path, new: Path) -> None:
    """Give `new` the permissions of `old`, if there is such a thing."""
    with suppress(FileNotFoundError):
        os.chmod(new, old.stat().st_mode & 0o777)
