"""Characters that come with the library."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexor.api.character import Character

__all__ = ["arena", "fighter", "mannequin"]


def arena() -> Path:
    """The text file of a stage for two: a stone ring with a step, sand, a pool and
    pillars. Its moves are in files beside it; copy the folder to change them.

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


def fighter(
    outfit: str = "", colour: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> Character:
    """The mannequin with sixteen clips more, for a fight: see `mannequin` for others.

    - advance, retreat: steps in guard at 1.2 m/s, on the spot as walk is, and looped.
    - crouch: down in 0.2 s, then held, the head below 1.25 m.
    - low-kick: the right foot is out at 0.40 s, 0.3 m high.
    - hit-low: struck in the belly, doubled over at 0.16 s, in guard again at 0.65 s.
    - throw, thrown: played together, 1.7 s. They begin 0.75 m apart, face to face. The
      hands hold the other's waist from 0.28 to 0.92 s; the thrown one is off the ground
      from 0.45 s and lands at 1.34 s on its back, 2.1 m ahead of where it stood: behind
      the one who throws, who ends in guard where it was.
    - down-back, down-front: struck down, from the guard to lie-back and lie-front,
      which are held and breathe; rise-back, rise-front: from there to the guard.
    - collapse-back, collapse-front, collapse-left: beaten, the knees first. To the
      right is `flexor.mirror_clip` of to the left.

    outfit: what it wears: "gi", "shorts" or "armour"; nothing if not said. colour:
    linear, of the cloth; wood keeps its own.

    Clips in which it falls, is thrown or rises go over the ground by their hips;
    `flexor.extract_root_motion` with turn=False takes that out: the hips of the guard
    are turned to the right, which is no turn of the character.

    Examples
    --------
    >>> import flexor
    >>> len(flexor.samples.fighter().clips)
    31
    """
    from flexor.api.character import Character

    if not outfit:
        return Character(_read_fighter().scene)
    red, green, blue = map(float, colour)
    return Character(_dressed(outfit, (red, green, blue)).scene)


@lru_cache(8)
def _dressed(outfit: str, colour: tuple[float, float, float]) -> Character:
    """The fighter with an outfit painted on its texture."""
    from io import BytesIO

    from PIL import Image

    from flexor.api.character import Character
    from flexor.samples.outfits import paint_outfit

    scene = _read_fighter().scene
    store = BytesIO()
    pixels = paint_outfit(scene, outfit, colour)
    Image.fromarray(pixels[..., :3]).save(store, "PNG")
    wood, *others = scene.images
    worn = replace(wood, data=store.getvalue())
    return Character(replace(scene, images=(worn, *others)))


@cache
def _read() -> Character:
    """As its file says, read once: nothing in its scene changes."""
    from flexor.api.load_save import load

    with as_file(files(__name__).joinpath("mannequin.glb")) as path:
        return load(path)


@cache
def _read_fighter() -> Character:
    """The mannequin's scene with the clips of both files, read once."""
    from flexor.api.character import Character
    from flexor.api.load_save import load

    scene = _read().scene
    with as_file(files(__name__).joinpath("fighter.flexor")) as path:
        more = load(path).clips
    return Character(replace(scene, clips={**scene.clips, **more}))
