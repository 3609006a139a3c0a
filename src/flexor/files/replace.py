"""Write files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from flexor.errors import AssetError

__all__ = ["replace_file"]


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` under the name `path`.

    They go to a temporary name in the same folder first, so that a full disk or a
    stopped process leaves what was there before.
    """
    temporary = ""
    try:
        # A link stays a link: what it points to is replaced.
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            raise AssetError(path, "", "cannot be written: is not a plain file")
        handle, temporary = tempfile.mkstemp(prefix=".flexor-", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except (OSError, ValueError) as error:  # ValueError: a name no file can have
        reason = getattr(error, "strerror", None) or error
        raise AssetError(path, "", f"cannot be written: {reason}") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or what a new file would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
