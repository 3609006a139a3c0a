"""A character that plays its clips, or a crowd of them: `flexor.Player`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.api.character import Character
from flexor.arrays import Floats, RowsLike
from flexor.errors import SettingError
from flexor.pose.clips.root_motion import RootMotion, extract_root_motion
from flexor.pose.play.layers import Layer
from flexor.pose.pose import Pose
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip

if TYPE_CHECKING:
    from flexor.pose.model_space import WorldState
    from flexor.pose.play.events import Event
    from flexor.pose.play.voices import Mode

__all__ = ["Player", "Travel", "check_clips", "find_travels"]

Travel = RootMotion | tuple[Clip, RootMotion]


class Player:
    """Plays the clips of a character, for `count` of them at once.

    layers: `Layer` settings or names, each lying over those before it; None: one,
    "base". events: by clip, pairs of seconds and name, given back by `advance`.
    root_motion: True, or names of clips whose travel is to move the characters'
    `places`, over which they then stand, wherever a clip was captured; or by name what
    `extract_root_motion` or `steady_motion` gave. clips:
    others to play beside the character's own, or in place of them, by name.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> player = flexor.Player(hero, events={"walk": [(0.5, "step")]})
    >>> player.play("walk")
    >>> [event.name for event in player.advance(0.6)]
    ['step']
    >>> player.pose.world.shape == (len(hero.skeleton), 3, 4)
    True
    """

    def __init__(
        self,
        hero: Character,
        count: int = 1,
        *,
        layers: Sequence[Layer | str] | None = None,
        events: Mapping[str, Iterable[tuple[float, str]]] | None = None,
        root_motion: bool | Iterable[str] | Mapping[str, Travel] = False,
        clips: Mapping[str, Clip | PackedClip] | None = None,
    ) -> None:
        from flexor.pose.model_space import init_world
        from flexor.pose.play.motion_set import make_motion_set
        from flexor.pose.play.player import init_player

        if not isinstance(hero, Character):
            raise SettingError(f"hero: {type(hero).__name__}, expected a Character")
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise SettingError(f"count: {count!r}, expected a number of characters")
        named = {**hero.clips, **check_clips(clips)}
        found, ways = find_travels(hero, named, root_motion)
        motions = make_motion_set(found, hero.layout, ways)
        settings = None
        if layers is not None:
            if isinstance(layers, str) or not isinstance(layers, Iterable):
                raise SettingError(f"layers: {layers!r}, expected a list of layers")
            settings = [Layer(one) if isinstance(one, str) else one for one in layers]
        self.hero = hero
        self.state = init_player(motions, int(count), settings, events=events)
        self._world = init_world(hero.layout, int(count))
        self._is_behind = False

    def __repr__(self) -> str:
        names = ", ".join(repr(layer.name) for layer in self.state.layers)
        return f"Player({self.count} of {self.hero!r}, layers {names})"

    @property
    def count(self) -> int:
        """Number of characters."""
        return self.state.count

    def play(
        self,
        clip: str,
        *,
        fade: ArrayLike = 0.0,
        mode: Mode = "loop",
        speed: ArrayLike = 1.0,
        start: ArrayLike | None = None,
        layer: str | int = 0,
        who: RowsLike | None = None,
        sync: bool = False,
        leave: float | None = None,
    ) -> None:
        """Play a clip in a layer, cross-fading in `fade` seconds; see `voices.play`.

        who: numbers of characters, a slice or a mask; None: all.
        """
        from flexor.pose.play.voices import play

        play(
            self.state,
            clip,
            layer=layer,
            who=who,
            fade=fade,
            mode=mode,
            speed=speed,
            start=start,
            sync=sync,
            leave=leave,
        )
        self._is_behind = True

    def blend(
        self,
        points: Mapping[str, ArrayLike],
        value: ArrayLike,
        *,
        layer: str | int = 0,
        who: ArrayLike | None = None,
        fade: ArrayLike = 0.0,
        ease: ArrayLike = 0.0,
        speed: ArrayLike = 1.0,
    ) -> None:
        """Play the clips around a value, mixed and in step; see `blends.blend`.

        points: clips at numbers, {"walk": 1.4, "run": 3.6}, or at pairs of numbers;
        value: a number or a pair, for all or for each; another one in any frame. fade:
        seconds from what was played before; ease: seconds in which weights follow.
        """
        from flexor.pose.play.blends import blend

        blend(
            self.state,
            points,
            value,
            layer=layer,
            who=who,
            fade=fade,
            ease=ease,
            speed=speed,
        )
        self._is_behind = True

    def stop(
        self,
        layer: str | int = 0,
        *,
        fade: ArrayLike = 0.0,
        who: RowsLike | None = None,
    ) -> None:
        """Play nothing in a layer: what is below shows again, the rest pose last."""
        from flexor.pose.play.voices import stop

        stop(self.state, layer=layer, who=who, fade=fade)
        self._is_behind = True

    def set_weight(
        self, layer: str | int, weight: ArrayLike, *, who: RowsLike | None = None
    ) -> None:
        """Set how much a layer counts, 0 to 1."""
        from flexor.pose.play.voices import set_weight

        set_weight(self.state, layer, weight, who=who)
        self._is_behind = True

    def advance(self, dt: float) -> list[Event]:
        """Move on by `dt` seconds; gives the events that were passed."""
        from flexor.pose.play.player import advance

        passed = advance(self.state, dt)
        self._is_behind = False
        return passed

    def _catch_up(self) -> None:
        """What was begun since the last step shows without one."""
        if self._is_behind:
            self.advance(0.0)

    @property
    def speeds(self) -> NDArray[np.float64]:
        """Factor of each character's own clock: (N,), to be written to."""
        return self.state.speeds

    @property
    def places(self) -> NDArray[np.float64]:
        """world_from_character (N, 3, 4), moved by root motion; to be written to."""
        return self.state.places

    @property
    def local(self) -> Floats:
        """Transforms (N, 10 * L) by lanes, until the next step; can be changed."""
        self._catch_up()
        return self.state.local

    @property
    def weights(self) -> Floats:
        """Morph weights (N, W), until the next step; can be changed."""
        self._catch_up()
        return self.state.weights

    @property
    def world_state(self) -> WorldState:
        """World matrices of `local` and `places`, as solvers in `pose` want them."""
        from flexor.pose.links import follow_links
        from flexor.pose.model_space import world_from_local

        self._catch_up()
        self._world.places[:] = self.state.places
        follow_links(self.hero.layout, self.state.local)
        return world_from_local(self._world, self.state.local)

    @property
    def world(self) -> Floats:
        """world_from_node (N, J, 3, 4) of `local` and `places`; one array, refilled."""
        return self.world_state.matrices

    def points(self, nodes: Sequence[str | int]) -> Floats:
        """Places of M nodes, by names or rows, in the world: (N, M, 3), metres."""
        skeleton = self.hero.skeleton
        if isinstance(nodes, str):
            raise SettingError(f"points: {nodes!r}, expected a list of names")
        if not isinstance(nodes, Iterable):
            raise SettingError(f"points: {nodes!r}, expected a list of names or rows")
        rows = [skeleton.index(n) if isinstance(n, str) else n for n in nodes]
        for row in rows:
            if not isinstance(row, int | np.integer) or isinstance(row, bool):
                raise SettingError(f"points: {row!r}, expected a name or a row")
            if not 0 <= row < len(skeleton):
                last = len(skeleton) - 1
                raise SettingError(f"points: node {row}, expected 0 to {last}")
        found: Floats = self.world[..., 3][:, rows]
        return found

    @property
    def pose(self) -> Pose:
        """The pose now, in arrays of its own: of N moments unless N is 1."""
        world = self.world.copy()
        state = self.state
        poses = Pose.from_lanes(
            state.local, self.hero.layout, world, state.weights.copy()
        )
        return poses[0] if self.count == 1 else poses


def _kinds(given: Any) -> str:
    """What was given, by its kind: clips in full would fill pages."""
    parts = given if isinstance(given, tuple) else (given,)
    return ", ".join(type(part).__name__ for part in parts) or "nothing"


def check_clips(clips: Any) -> dict[str, Clip | PackedClip]:
    """Clips by name; refuses what are none."""
    if clips is None:
        return {}
    if not isinstance(clips, Mapping):
        raise SettingError(f"clips: {_kinds(clips)}, expected clips by name")
    for name, clip in clips.items():
        if not isinstance(name, str):
            raise SettingError(f"clips: name {name!r}, expected a text")
        if not isinstance(clip, Clip | PackedClip):
            raise SettingError(f"clips[{name!r}]: {_kinds(clip)}, expected a clip")
    return dict(clips)


def find_travels(
    hero: Character, clips: Mapping[str, Clip | PackedClip], asked: Any
) -> tuple[list[Clip | PackedClip], dict[str, RootMotion]]:
    """Clips to be played, on the spot where that is asked for, and their ways."""
    given: dict[str, Any] = {}
    if isinstance(asked, Mapping):
        given = dict(asked)
    elif asked is True:
        given = dict.fromkeys(clips)
    elif asked is not False:
        if isinstance(asked, str) or not isinstance(asked, Iterable):
            raise SettingError(
                f"root_motion: {asked!r}, expected True or names of clips"
            )
        given = {}
        for name in asked:
            if not isinstance(name, str):
                raise SettingError(f"root_motion: {name!r}, expected names of clips")
            given[name] = None
    played, ways = dict(clips), {}
    for name, way in given.items():
        if not isinstance(name, str) or name not in clips:
            there = ", ".join(map(repr, clips)) or "none"
            raise SettingError(f"root_motion: no clip {name!r}; there are: {there}")
        if way is None:
            way = extract_root_motion(clips[name], hero.skeleton)
        parts = way if isinstance(way, tuple) else (clips[name], way)
        if len(parts) != 2 or not (
            isinstance(parts[0], Clip | PackedClip) and isinstance(parts[1], RootMotion)
        ):
            raise SettingError(
                f"root_motion[{name!r}]: {_kinds(way)}, expected what "
                "extract_root_motion or steady_motion gave"
            )
        played[name], ways[name] = parts
    # What is called by another name than its own is played by that.
    named = [
        clip if clip.name == name else dataclasses.replace(clip, name=name)
        for name, clip in played.items()
    ]
    return named, ways
