"""Every exception that flexor raises on purpose.

FlexorError
├── AssetError            a file is wrong: names the file and the place in it
│   └── VersionError      the file's format version is not one that can be read
├── ShapeError            an array has the wrong type or shape (also a ValueError)
├── SettingError          a name, number or option is not usable (also a ValueError)
└── BackendError          a backend cannot draw, such as one that was closed
    └── BackendMissing    an optional package is not installed; names the extra
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "AssetError",
    "BackendError",
    "BackendMissing",
    "FlexorError",
    "SettingError",
    "ShapeError",
    "VersionError",
]


class FlexorError(Exception):
    """The root of all errors of this library."""


class AssetError(FlexorError):
    """A file cannot be used.

    path: the file; pointer: the place in it, a JSON pointer such as
    ``/accessors/3/count`` or words such as ``byte 12`` or ``line 7``.
    """

    def __init__(self, path: str | Path, pointer: str, text: str) -> None:
        self.path = Path(path)
        self.pointer = pointer
        self.text = text
        place = f"{self.path} at {pointer}" if pointer else f"{self.path}"
        super().__init__(f"{place}: {text}")

    def __reduce__(self) -> tuple[type[AssetError], tuple[Path, str, str]]:
        # Exceptions cross process borders; the default would pass one argument.
        return type(self), (self.path, self.pointer, self.text)


class VersionError(AssetError):
    """A file has a format version that this release does not read."""


class ShapeError(FlexorError, ValueError):
    """An array has the wrong type, shape or order."""


class SettingError(FlexorError, ValueError):
    """A name, number or option is not usable here."""


class BackendError(FlexorError):
    """A backend cannot draw."""


class BackendMissing(BackendError):
    """An optional package is missing; the text names the extra to install."""
