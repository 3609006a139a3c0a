"""A crowd of characters, one or several kinds of them: `flexor.Crowd`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.api.character import Character
from flexor.api.playing import Player, Travel, check_clips, find_travels
from flexor.arrays import Doubles, Floats, Ints, RowsLike, spell_out
from flexor.errors import SettingError, ShapeError
from flexor.pose.crowd.level_choice import LevelRule
from flexor.pose.play.layers import Layer
from flexor.scene.character.camera import Camera
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip

if TYPE_CHECKING:
    from flexor.api.pictures.crowd import CrowdPainter
    from flexor.draw.drawlist import DrawList
    from flexor.draw.scene.style import DrawStyle
    from flexor.draw.target import Target
    from flexor.stage.counts import SeenCounts
    from flexor.stage.crowd.crowd import CrowdState
    from flexor.stage.crowd.kind import CrowdKind

__all__ = ["Crowd", "CrowdMesh"]

Source = Character | str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class CrowdMesh:
    """A surface of n characters of one kind at one level.

    who: int32 (n,), their rows in the crowd; positions, normals: float32 (n, P, 3),
    world space, overwritten by the next frame; faces: int32 (F, 3), rows of P; sources:
    int32 (P, 3), node, primitive and vertex in the file of each; some stand twice.
    """

    kind: int
    level: int
    who: Ints
    positions: Floats
    normals: Floats
    faces: Ints
    sources: Ints


class Crowd:
    """Many characters that play their clips, seen at levels of detail.

    characters: a character or a file, or several; count: how many, or how many of each.
    Those of one kind have rows behind one another. clips: others to play beside the
    characters' own, by name; root_motion: which clips carry characters on over the
    ground, as of a Player; expand: clips whose motion is kept ready as matrices, in
    twice the memory; levels: False to draw all of them in full.

    What each does stands in arrays with a row for each character, to be written to:
    `clip` (numbers in `names`), `time`, `speed`, `loops`, `place`, `heading`, `size`,
    `colour`; `level` says how it was seen last, -1 for not at all.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> crowd = flexor.Crowd(hero, 6, levels=False)
    >>> crowd.play("walk")
    >>> crowd.place[:, 0] = range(6)
    >>> crowd.advance(0.25)
    >>> camera = flexor.Camera(eye=(2, 2, 9), target=(2, 1, 0))
    >>> crowd.draw(camera, (320, 180)).shape
    (180, 320, 4)
    >>> crowd.counts.shown
    6
    """

    def __init__(
        self,
        characters: Source | Sequence[Source],
        count: int | Sequence[int],
        *,
        clips: Mapping[str, Clip | PackedClip] | None = None,
        root_motion: bool | Iterable[str] | Mapping[str, Travel] = False,
        expand: Collection[str] = (),
        levels: bool = True,
    ) -> None:
        from flexor.stage.crowd.crowd import init_crowd

        self.characters = _characters(characters)
        counts = _counts(count, len(self.characters))
        named = [{**hero.clips, **check_clips(clips)} for hero in self.characters]
        self._played = [
            (own, _theirs(root_motion, own, named, "root_motion")) for own in named
        ]
        kinds = [
            _make_kind(hero, *own, _theirs(expand, own[0], named, "expand"), levels)
            for hero, own in zip(self.characters, self._played, strict=True)
        ]
        self.state: CrowdState = init_crowd(kinds, counts)
        self._painter: CrowdPainter | None = None

    def __repr__(self) -> str:
        return f"Crowd({len(self)} of {len(self.characters)} kinds)"

    def __getstate__(self) -> dict[str, Any]:
        # What draws it is made again where it is needed.
        return {**self.__dict__, "_painter": None}

    def __len__(self) -> int:
        return len(self.state)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Names of the clips of each kind: `clip` counts in them."""
        return tuple(kind.motion.names for kind in self.state.kinds)

    def rows(self, kind: int) -> slice:
        """The rows of one kind."""
        is_whole = isinstance(kind, int | np.integer) and not isinstance(kind, bool)
        if not (is_whole and 0 <= kind < len(self.characters)):
            last = len(self.characters) - 1
            raise SettingError(f"kind: {kind!r}, expected 0 to {last}")
        return self.state.rows(kind)

    @property
    def clip(self) -> Ints:
        """The clip of each: int32 (N,), -1 for the rest pose."""
        return self.state.clip

    @clip.setter
    def clip(self, values: ArrayLike) -> None:
        self.state.clip[:] = values

    @property
    def time(self) -> Doubles:
        """Where each is in its clip: float64 (N,), seconds."""
        return self.state.time

    @time.setter
    def time(self, values: ArrayLike) -> None:
        self.state.time[:] = values

    @property
    def speed(self) -> Doubles:
        """Factor of each one's clock: float64 (N,)."""
        return self.state.speed

    @speed.setter
    def speed(self, values: ArrayLike) -> None:
        self.state.speed[:] = values

    @property
    def loops(self) -> NDArray[np.bool_]:
        """Whether each begins its clip again at the end: bool (N,)."""
        return self.state.loops

    @loops.setter
    def loops(self, values: ArrayLike) -> None:
        self.state.loops[:] = values

    @property
    def place(self) -> Doubles:
        """Where each stands: float64 (N, 3), metres."""
        return self.state.place

    @place.setter
    def place(self, values: ArrayLike) -> None:
        self.state.place[:] = values

    @property
    def heading(self) -> Doubles:
        """Which way each looks: float64 (N,), radians about Y, 0 along +z."""
        return self.state.heading

    @heading.setter
    def heading(self, values: ArrayLike) -> None:
        self.state.heading[:] = values

    @property
    def size(self) -> Doubles:
        """How large each is: float64 (N,), 1 for as it was made."""
        return self.state.size

    @size.setter
    def size(self, values: ArrayLike) -> None:
        self.state.size[:] = values

    @property
    def colour(self) -> Floats:
        """What multiplies the colours of each: float32 (N, 4), linear."""
        return self.state.colour

    @colour.setter
    def colour(self, values: ArrayLike) -> None:
        self.state.colour[:] = values

    @property
    def level(self) -> Ints:
        """At which level each was seen last: int32 (N,), -1 for not at all."""
        return self.state.level

    @level.setter
    def level(self, values: ArrayLike) -> None:
        self.state.level[:] = values

    @property
    def soles(self) -> Doubles:
        """How far above its place each stands: float64 (N,), metres; 0 if files have
        their origin on the floor. `place[:, 1] = -soles` puts all on a floor at 0.
        """
        return self.state.soles()

    @property
    def counts(self) -> SeenCounts:
        """What the last frame took, counted where it was done."""
        return self.state.counts

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays: state, motion, matrices and vertices."""
        return self.state.nbytes

    def play(
        self,
        clip: str | None,
        *,
        time: ArrayLike = 0.0,
        speed: ArrayLike = 1.0,
        loop: bool = True,
        who: RowsLike | None = None,
    ) -> None:
        """Let characters play a clip, None for the rest pose, from `time` seconds on.

        time, speed: one number, or one for each; who: rows, a slice of
        them such as `crowd.rows(0)`, or a mask; None: all.
        """
        rows = _rows(who, len(self))
        times = _numbers(time, len(rows), "time")
        speeds = _numbers(speed, len(rows), "speed")
        numbers = np.full(len(rows), -1, np.int32)
        for kind, own in enumerate(self.state.kinds):
            part = self.state.rows(kind)
            is_mine = (rows >= part.start) & (rows < part.stop)
            if clip is not None and is_mine.any():
                numbers[is_mine] = own.motion.index(clip)
        self.clip[rows], self.loops[rows] = numbers, bool(loop)
        self.time[rows], self.speed[rows] = times, speeds

    def take(self, row: int, *, layers: Sequence[Layer | str] | None = None) -> Player:
        """A `Player` that goes on with what one of them does, and is seen in its place;
        see docs/guide/crowds.md. layers: as of a Player.
        """
        from flexor.api.taking import take

        return take(self.state, row, self.characters, self._played, layers)

    def give_back(self, row: int, player: Player) -> None:
        """Let one go on that `take` has given, where and as its player has it now."""
        from flexor.api.taking import give_back

        give_back(self.state, row, self.characters, player)

    def advance(self, dt: float) -> None:
        """Move on by `dt` seconds."""
        from flexor.stage.crowd.crowd import advance_crowd

        advance_crowd(self.state, dt)

    def select(
        self,
        camera: Camera,
        size: tuple[int, int] = (1280, 720),
        rules: LevelRule | Sequence[LevelRule] | None = None,
        *,
        time: float = 0.0,
        extra: Any = None,
    ) -> None:
        """Find out who is in the picture, and at which level.

        rules: `flexor.LevelRule`, one or several; None: the coarsest level that is off
        by no more than a pixel in the mean, and three at worst; time, extra: for rules
        that are functions.
        """
        from flexor.stage.crowd.crowd import see_crowd

        see_crowd(self.state, camera, size, rules, time=time, extra=extra)

    def deform(self) -> None:
        """Vertices of all who are seen, into `state.shown`."""
        from flexor.stage.crowd.crowd import move_crowd, skin_crowd

        move_crowd(self.state)
        skin_crowd(self.state)

    def meshes(self) -> list[CrowdMesh]:
        """What was deformed last, as meshes: one for each kind, level and surface."""
        found = []
        for own in self.state.shown:
            kind = self.state.kinds[own.kind]
            pairs = zip(kind.binds[own.level], kind.levels.surfaces, strict=True)
            for row, (bind, surface) in enumerate(pairs):
                found.append(
                    CrowdMesh(
                        own.kind,
                        own.level,
                        own.who,
                        own.positions[row],
                        own.normals[row],
                        bind.faces,
                        surface.sources[bind.blocks.order],
                    )
                )
        return found

    def draw_list(self, camera: Camera, style: DrawStyle | str = "shaded") -> DrawList:
        """What was deformed last, as things to draw; see docs/guide/draw.md."""
        return self.painter.draw_list(camera, style)

    def draw(
        self,
        camera: Camera,
        size: tuple[int, int] = (1280, 720),
        style: DrawStyle | str = "shaded",
        *,
        rules: LevelRule | Sequence[LevelRule] | None = None,
        time: float = 0.0,
        extra: Any = None,
    ) -> NDArray[np.uint8]:
        """A picture (H, W, 4) of the crowd now; overwritten by the next of its size.

        Selects (rules, time, extra: see there), deforms and draws.
        """
        self.select(camera, size, rules, time=time, extra=extra)
        self.deform()
        return self.painter.draw(camera, size, style)

    def fit(
        self,
        size: tuple[int, int] = (1280, 720),
        direction: ArrayLike | None = None,
        **settings: Any,
    ) -> Camera:
        """A camera that has all of them in the picture; settings: see draw.fit."""
        from flexor.draw.scene.fit import THREE_QUARTER, fit_camera
        from flexor.stage.crowd.crowd import check_view

        check_view(Camera(), size)
        state = self.state
        heights = [kind.levels.height for kind in state.kinds]
        tall = np.repeat(heights, np.diff(state.firsts)) * state.size
        low, top = state.place.copy(), state.place.copy()
        with np.errstate(over="ignore"):  # what is not finite does not count
            low[:, 1] += state.soles()
            top[:, 1] = low[:, 1] + tall
        points = np.concatenate([low, top])
        way = THREE_QUARTER if direction is None else direction
        return fit_camera(points, size, direction=way, **settings)

    @property
    def target(self) -> Target | None:
        """Where the last picture is, with the buffers ("depth", "normal") that its
        style asked for; None before the first.
        """
        return None if self._painter is None else self._painter.targets.last

    @property
    def painter(self) -> CrowdPainter:
        """What draws the crowd; made, and its meshes uploaded, when first used."""
        if self._painter is None:
            from flexor.api.pictures.crowd import CrowdPainter

            self._painter = CrowdPainter(self.characters, self.state)
        return self._painter


def _characters(given: Any) -> tuple[Character, ...]:
    """Characters, loaded where files are named."""
    from flexor.api.load_save import load

    many = given
    if isinstance(given, Character | str | os.PathLike):
        many = (given,)
    elif not isinstance(given, Iterable):
        raise SettingError(
            f"characters: {type(given).__name__}, expected characters or files"
        )
    loaded = []
    for one in many:
        if isinstance(one, str | os.PathLike):
            one = load(one)
        if not isinstance(one, Character):
            raise SettingError(
                f"characters: {type(one).__name__}, expected a Character or a file"
            )
        loaded.append(one)
    if not loaded:
        raise SettingError("characters: none were given")
    return tuple(loaded)


def _counts(given: Any, kinds: int) -> list[int]:
    counts = [given] if isinstance(given, int | np.integer) else given
    if isinstance(counts, np.ndarray):
        counts = counts.ravel().tolist()
    if not isinstance(counts, list | tuple):
        raise SettingError(f"count: {given!r}, expected how many there are")
    out = []
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise SettingError(f"count: {count!r}, expected a whole number")
        if count < 0:
            raise SettingError(f"count: {count}, expected 0 or more")
        out.append(int(count))
    if len(out) != kinds:
        raise SettingError(f"count: {len(out)} numbers for {kinds} characters")
    return out


def _rows(who: Any, count: int) -> NDArray[np.intp]:
    """Rows that are named by numbers, a slice or a mask; all of them for None."""
    if who is None:
        return np.arange(count)
    rows = np.atleast_1d(np.asarray(spell_out(who, count, "who")))
    if rows.dtype == bool:
        if rows.shape != (count,):
            raise ShapeError(f"who: a mask of {rows.shape}, expected ({count},)")
        return np.flatnonzero(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        if rows.size:
            raise ShapeError("who: expected rows of characters, or a mask")
        return np.zeros(0, np.intp)
    if rows.size and not 0 <= rows.min() <= rows.max() < count:
        raise ShapeError(f"who: must lie in 0..{count - 1}")
    return rows.astype(np.intp)


def _numbers(given: Any, count: int, name: str) -> Doubles:
    """One finite number, or one for each, as float64 (count,) or less."""
    try:
        values = np.broadcast_to(np.asarray(given, np.float64), (count,))
    except (TypeError, ValueError):
        raise ShapeError(
            f"{name}: expected a number, or {count}, one for each"
        ) from None
    if not np.isfinite(values).all():
        raise ShapeError(f"{name}: must be finite")
    return values


def _theirs(asked: Any, own: Any, every: Sequence[Any], name: str) -> Any:
    """What is asked of clips by name, for one kind of several: of those it has.

    A name that no kind has is left, to be refused.
    """
    if isinstance(asked, str | bool) or not isinstance(asked, Iterable):
        if name == "expand":
            raise SettingError(f"{name}: {asked!r}, expected names of clips")
        return asked
    if len(every) == 1:
        return asked

    def is_ours(clip: Any) -> bool:
        return clip in own or not any(clip in clips for clips in every)

    if isinstance(asked, Mapping):
        return {clip: way for clip, way in asked.items() if is_ours(clip)}
    return [clip for clip in asked if is_ours(clip)]


def _make_kind(
    hero: Character,
    named: Mapping[str, Clip | PackedClip],
    root_motion: Any,
    expand: Collection[str],
    has_levels: bool,
) -> CrowdKind:
    from flexor.convert.levels.make import LevelSettings, make_levels
    from flexor.stage.crowd.kind import make_kind

    found, ways = find_travels(hero, named, root_motion)
    if has_levels:
        levels = hero.levels
    else:
        levels, _, _ = make_levels(hero.scene, LevelSettings(heights=()))
    played = {clip.name: clip for clip in found}
    return make_kind(hero.scene, hero.layout, levels, played, ways=ways, expand=expand)
