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
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except OSError as error:
        raise AssetError(path, "", f"cannot be written: {error.strerror}") from None
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
