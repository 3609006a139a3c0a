"""Characters that come with the library."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexor.api.character import Character

__all__ = ["arena", "mannequin"]


def arena() -> Path:
    """The text file of a stage for two: a stone ring with a step, sand, a pool and
    pillars. Its moves are in moves.toml beside it; copy both to change them.

    Examples
    --------
    >>> import flexor
    >>> flexor.Stage(flexor.samples.arena())
    Stage(2 characters: red, blue; tick 0)
    """
    return Path(str(files(__name__).joinpath("arena", "arena.toml")))


def mannequin() -> Character:
    """An artist's wooden figure, 1.8 m tall, facing +z, with fifteen clips.

    Clips: idle, walk, run, punch, kick, jump, fall, and for a fight stance, guard,
    parry, hit, recoil, sidestep, spin-kick, cheer. The fist of punch is out at 0.30 s,
    the foot of kick at 0.45 s and of spin-kick at 0.50 s; parry meets a fist at 0.15 s.
    Walk, run and sidestep (to the left) stay in place; their speed and velocity over
    the ground in metres a second are in the clip's `carried["extras"]`. Made by the
    code in `tools.mannequin`, free of any licence but the library's own.

    Examples
    --------
    >>> import flexor
    >>> list(flexor.samples.mannequin().clips)[:7]
    ['idle', 'walk', 'run', 'punch', 'kick', 'jump', 'fall']
    """
    from flexor.api.character import Character

    return Character(_read().scene)


@cache
def _read() -> Character:
    """As its file says, read once: nothing in its scene changes."""
    from flexor.api.load_save import load

    with as_file(files(__name__).joinpath("mannequin.glb")) as path:
        return load(path)
