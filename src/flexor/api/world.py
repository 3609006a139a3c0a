"""All kinds of things in one picture: `flexor.World`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.api.character import Character
from flexor.api.crowd import Crowd
from flexor.api.detail import kind_of, levels_of
from flexor.api.goal import Goal
from flexor.api.playing import Player
from flexor.api.stage import Buttons, Stage
from flexor.errors import SettingError
from flexor.pose.crowd.level_choice import LevelRule
from flexor.scene.character.camera import Camera
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.plan import StagePlan
from flexor.stage.counts import SeenCounts
from flexor.stage.crowd.crowd import check_view

if TYPE_CHECKING:
    from flexor.api.pictures.world import WorldPainter
    from flexor.api.standing import Cast
    from flexor.draw.scene.style import DrawStyle
    from flexor.draw.target import Target
    from flexor.files.text.stage import StageFile

__all__ = ["World", "levels_of"]

Rules = LevelRule | Sequence[LevelRule] | None
T = TypeVar("T", Player, Crowd, Goal)


class World:
    """A ground with all that stands and plays on it, in one picture.

    source: a stage's text file, a `StagePlan` or a `Stage`, which brings ground,
    structures, effects, light, backdrop, and characters of its own if it has some;
    None: a meadow. characters: as of a `Stage`.

    `add` brings players, crowds and goals; all stand on the ground, are drawn at the
    level of detail that can be seen, and not at all out of view. `counts` says what the
    last picture took.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> world = flexor.World()
    >>> player = world.add(flexor.Player(hero))
    >>> crowd = world.add(flexor.Crowd(hero, 20, levels=False))
    >>> crowd.place[:, 0] = range(1, 21)
    >>> player.play("walk")
    >>> world.advance(1 / 60)
    >>> camera = flexor.Camera(eye=(-3, 2, 6), target=(2, 1, 0))
    >>> world.draw((320, 180), camera).shape
    (180, 320, 4)
    """

    def __init__(
        self,
        source: Stage | StagePlan | StageFile | str | os.PathLike[str] | None = None,
        *,
        characters: Mapping[str, Character] | None = None,
    ) -> None:
        if not isinstance(source, Stage):
            plan = StagePlan() if source is None else source
            source = Stage(plan, characters=characters)
        elif characters is not None:
            raise SettingError("characters: a Stage has its own")
        self.stage = source
        self.casts: list[Cast] = []
        self.crowds: list[Crowd] = []
        self.goals: list[Goal] = []
        self.counts = SeenCounts()
        self._painter: WorldPainter | None = None

    def __repr__(self) -> str:
        many = sum(cast.player.count for cast in self.casts)
        crowded = sum(len(crowd) for crowd in self.crowds)
        return (
            f"World({len(self.stage)} of its stage, {many} of players, {crowded} of "
            f"crowds, {len(self.goals)} goals)"
        )

    def __getstate__(self) -> dict[str, Any]:
        # What draws it is made again where it is needed.
        return {**self.__dict__, "_painter": None}

    @property
    def ground(self) -> Ground:
        """What all stand on; `ground.height(x, z)` says how high it is."""
        return self.stage.plan.ground

    def add(
        self,
        thing: T,
        *,
        stand: bool = True,
        feet: bool | None = None,
        colour: ArrayLike = (1.0, 1.0, 1.0, 1.0),
    ) -> T:
        """Bring a `Player`, a `Crowd` or a `Goal` into the world; gives it back.

        stand: of a player, whether its places are brought to the height of the ground,
        as those of crowds always are; feet: of a player, whether its feet are put on
        the ground by inverse kinematics; None: if it has legs and the ground is not
        flat; colour: of a player, linear, what its surfaces are multiplied by: (4,)
        for all, or (N, 4).
        """
        if self._has(thing):
            raise SettingError(f"thing: {thing!r} is in the world already")
        if isinstance(thing, Player):
            self.casts.append(self._cast(thing, stand, feet, colour))
        elif isinstance(thing, Crowd):
            self.crowds.append(thing)
            self._put_crowd(thing)
        elif isinstance(thing, Goal):
            self.goals.append(thing)
        else:
            what = type(thing).__name__
            hint = (
                "; a character plays: flexor.Player(hero)"
                if what == "Character"
                else ""
            )
            raise SettingError(
                f"thing: {what}, expected a Player, a Crowd or a Goal{hint}"
            )
        self._painter = None
        return thing

    def remove(self, thing: Player | Crowd | Goal) -> None:
        """Take out what `add` has brought."""
        if not self._has(thing):
            raise SettingError(f"thing: {thing!r} is not in the world")
        self.casts = [cast for cast in self.casts if cast.player is not thing]
        self.crowds = [crowd for crowd in self.crowds if crowd is not thing]
        self.goals = [goal for goal in self.goals if goal is not thing]
        self._painter = None

    def _has(self, thing: Any) -> bool:
        known = [cast.player for cast in self.casts], self.crowds, self.goals
        return any(one is thing for own in known for one in own)

    def _cast(
        self, player: Player, stand: bool, feet: bool | None, colour: ArrayLike
    ) -> Cast:
        from flexor.api.standing import Cast, Feet, has_legs
        from flexor.stage.figures import init_figures

        hero, count = player.hero, player.count
        try:
            tints = np.broadcast_to(np.asarray(colour, np.float32), (count, 4)).copy()
        except (TypeError, ValueError):
            raise SettingError(
                f"colour: {colour!r}, expected four numbers, or {count} x 4"
            ) from None
        if not np.isfinite(tints).all():
            raise SettingError("colour: expected finite numbers")
        if feet is None:
            is_even = not np.ptp(self.ground.heights) > 0
            feet = stand and not is_even and has_legs(hero)
        elif feet and not has_legs(hero):
            raise SettingError("feet: the character has no two legs that are known")
        kind = kind_of(hero, count)
        own = Feet(player, kind.sole) if feet else None
        made = Cast(player, init_figures(kind, count), tints, own, stand)
        self._put_cast(made)
        return made

    def _put_cast(self, cast: Cast) -> None:
        places = cast.player.places
        if cast.is_standing:
            places[:, 1, 3] = self.ground.height(places[:, 0, 3], places[:, 2, 3])
            places[:, 1, 3] -= cast.figures.kind.sole
        if cast.feet is not None:
            cast.feet.apply(cast.player, self.ground)

    def _put_crowd(self, crowd: Crowd) -> None:
        # Who is nowhere is not seen, and stays there.
        rows = np.flatnonzero(np.isfinite(crowd.place).all(1))
        x, z = crowd.place[rows][:, [0, 2]].T
        crowd.place[rows, 1] = self.ground.height(x, z) - crowd.soles[rows]

    def advance(self, dt: float, buttons: Buttons = None) -> None:
        """Move all on by `dt` seconds; buttons: what the pads of the stage hold.

        Who stands is put on the ground, and feet too, last; so solvers of your own
        (`Look`, `Reach`) are applied to players after it.
        """
        self.stage.advance(dt, buttons)
        for cast in self.casts:
            cast.player.advance(dt)
            self._put_cast(cast)
            cast.measure(dt)
        for crowd in self.crowds:
            # Who was put elsewhere has not gone there uphill: it would count as speed.
            self._put_crowd(crowd)
            crowd.advance(dt)
            self._put_crowd(crowd)
        for goal in self.goals:
            goal.advance(dt)

    @property
    def target(self) -> Target | None:
        """Where the last picture is, with the buffers ("depth", "normal") that its
        style asked for; None before the first.
        """
        return self.stage.target

    @property
    def camera(self) -> Camera:
        """The camera of the stage as it is now."""
        return self.stage.camera

    def draw(
        self,
        size: tuple[int, int] = (640, 480),
        camera: Camera | None = None,
        style: DrawStyle | str | None = None,
        *,
        rules: Rules = None,
        detail: bool = True,
    ) -> NDArray[np.uint8]:
        """A picture (H, W, 4); overwritten by the next of its size.

        camera: None for the stage's own; style: None for that of the stage's look;
        rules: by which levels are chosen, `flexor.LevelRule`, one or several; None: the
        coarsest level that is off by no more than a pixel in the mean, and three at
        worst; detail: False to draw all as they are, in view or not.
        """
        camera = self.camera if camera is None else camera
        check_view(camera, size)
        if self._painter is None:
            from flexor.api.pictures.world import WorldPainter

            self._painter = WorldPainter(
                self.stage, self.casts, self.crowds, self.goals
            )
        picture, own = self._painter.draw(size, camera, style, rules, detail)
        self.counts = self.stage.counts + own
        return picture
