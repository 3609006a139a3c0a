"""Characters that come with the library."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexor.app.character import Character

__all__ = ["mannequin"]


def mannequin() -> Character:
    """An artist's wooden figure, 1.8 m tall, facing +z, with seven clips.

    Clips: idle, walk, run, punch, kick, jump, fall. Walk and run stay in place; their
    speed over the ground in metres a second is in the clip's `carried["extras"]`. Made
    by the code in `flexor.samples.maker`, free of any licence but the library's own.

    Examples
    --------
    >>> import flexor
    >>> list(flexor.samples.mannequin().clips)
    ['idle', 'walk', 'run', 'punch', 'kick', 'jump', 'fall']
    """
    from flexor.app.load_save import load

    with as_file(files(__name__).joinpath("mannequin.glb")) as path:
        return load(path)
