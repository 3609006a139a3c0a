"""A stage in play: `flexor.Stage`."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexor.api.character import Character
from flexor.api.stage_cast import Refuse, make_cast, refuse_of
from flexor.arrays import Doubles
from flexor.errors import SettingError, ShapeError
from flexor.files.text.stage import StageFile, open_stage
from flexor.scene.character.camera import Camera
from flexor.scene.checks import check_kind
from flexor.scene.stage.moves import RATE, InputLog
from flexor.scene.stage.plan import CameraRule, StagePlan
from flexor.scene.stage.sticks import check_pad_mask, pad_mask
from flexor.stage.camera import camera_of, follow_rule
from flexor.stage.counts import SeenCounts
from flexor.stage.crowd.crowd import check_view

if TYPE_CHECKING:
    from flexor.api.pictures.stage import StagePainter
    from flexor.draw.drawlist import DrawItem, DrawLines
    from flexor.draw.scene.style import DrawStyle
    from flexor.draw.target import Target
    from flexor.pose.crowd.level_choice import LevelRule
    from flexor.stage.frame import Frame

__all__ = ["Stage", "turn_camera"]

LONGEST = 3600.0  # seconds
Buttons = str | Sequence[str | int] | NDArray[Any] | None


class Stage:
    """Characters on a ground with walls, that move, fight and are seen.

    source: a text file (TOML, see docs/guide/stage.md), what `open_stage` has read of
    one, or a `StagePlan`; characters: by what the plan calls their file, those that
    need not be loaded.

    Ticks are of 1/60 s. Input is data: a mask of buttons for each character and tick;
    all that was put in can be had as a log, and played again.

    counts: what the last picture took of its characters: how many were shown, and
    nodes, vertices and triangles.

    Examples
    --------
    >>> import flexor
    >>> from flexor.scene.stage.plan import Actor, StagePlan
    >>> red = Actor(name="red", place=(-1, 0), heading=1.57)
    >>> blue = Actor(name="blue", place=(1, 0), heading=-1.57)
    >>> stage = flexor.Stage(StagePlan(cast=(red, blue)))
    >>> for tick in range(60):
    ...     stage.step(["right", ""])  # seen from the side: toward blue
    >>> bool(stage.places[0, 0] > 0)
    True
    >>> stage.draw((320, 180)).shape
    (180, 320, 4)
    """

    def __init__(
        self,
        source: StagePlan | StageFile | str | os.PathLike[str],
        *,
        characters: Mapping[str, Character] | None = None,
    ) -> None:
        refuse = None
        if isinstance(source, StagePlan):
            plan = source
        elif isinstance(source, StageFile | str | os.PathLike):
            file = source
            if not isinstance(file, StageFile):
                file = open_stage(Path(file))
            plan, refuse = file.plan, file.refuse
        else:
            what = type(source).__name__
            raise SettingError(f"source: {what}, expected a file or a StagePlan")
        cast = make_cast(plan, characters, refuse)
        self.cast = tuple(cast)
        radii = [0.3] * len(plan.cast)
        for own in cast:
            for row in own.rows:
                radii[row] = own.radius
        self._radii = radii
        self._plan = plan
        self.restart()
        self._check_room(refuse)
        self.counts = SeenCounts()  # of the last picture
        self._painter: StagePainter | None = None

    def _check_room(self, refuse: Refuse | None) -> None:
        """Refuse two who would stand in each other, as walls leave them no room."""
        from flexor.stage.movement.room import find_crowded

        state, cast = self.state, self._plan.cast
        found = find_crowded(state.zones, state.places, state.radii)
        if found is not None:
            one, other, much = found
            raise refuse_of(
                refuse,
                ("character", other, "place"),
                f"{cast[other].name!r} has no room beside {cast[one].name!r}: between "
                f"the walls they overlap by {much:.2f} m, expected wider zones, or a "
                f"radius less than {state.radii[other]:.2f} and "
                f"{state.radii[one]:.2f} m",
            )

    def restart(self) -> None:
        """Back to the first tick: all as the plan says."""
        from flexor.stage.state import init_stage
        from flexor.stage.step import begin_stage

        bodies = [(own.plan, own.rows) for own in self.cast]
        self.state = begin_stage(init_stage(self._plan, bodies, self._radii))
        self._late = 0.0  # seconds that are less than a tick
        self._frame: Frame | None = None

    def __repr__(self) -> str:
        names = ", ".join(actor.name for actor in self.plan.cast[:4])
        more = ", ..." if len(self) > 4 else ""
        return f"Stage({len(self)} characters: {names}{more}; tick {self.tick})"

    def __len__(self) -> int:
        return len(self.state)

    def __getstate__(self) -> dict[str, Any]:
        # What draws it is made again where it is needed.
        return {**self.__dict__, "_painter": None, "_frame": None}

    @property
    def plan(self) -> StagePlan:
        """What it was made of."""
        return self._plan

    @property
    def tick(self) -> int:
        """Ticks of 1/60 s that have passed."""
        return self.state.tick

    @property
    def places(self) -> Doubles:
        """Where characters stand: float64 (N, 3), metres; can be written to."""
        return self.state.places

    @property
    def headings(self) -> Doubles:
        """Which way they look: float64 (N,), radians, 0 along +z; can be written to."""
        return self.state.headings

    @property
    def energy(self) -> Doubles:
        """Points that they have left: float64 (N,); can be written to."""
        return self.state.fight.energy

    @property
    def asked(self) -> Doubles:
        """Metres a second ahead and to the right that characters ask for: float64
        (N, 2); to be written to for those whose control is "none".
        """
        return self.state.asked

    @property
    def opponents(self) -> NDArray[np.int32]:
        """The row of each one's opponent, -1 for none: int32 (N,); can be written."""
        return self.state.opponents

    @property
    def colours(self) -> Doubles:
        """What characters look like in plain light: the mean colour of their surfaces
        times their own, or their own alone of whom wears an outfit: float64 (N, 3),
        linear.
        """
        from flexor.draw.scene.mean import mean_colour

        found = np.array([actor.colour for actor in self.plan.cast]).reshape(-1, 3)
        for own in self.cast:
            bare = [row for row in own.rows if self.plan.cast[row].outfit == "none"]
            found[bare] *= mean_colour(own.hero.scene)
        return found

    def row(self, name: str) -> int:
        """The number of who is called so."""
        return self.plan.row(name)

    def doing(self, who: str | int) -> str:
        """What a character is seen to do: a role such as "walk", or a move's name.

        who: its name, or its number.
        """
        from flexor.scene.stage.layout import ROLES

        check_kind(who, (str, Integral), "who")
        row = self.row(who) if isinstance(who, str) else who
        if not -len(self) <= row < len(self):
            raise SettingError(f"who: {row}, expected less than {len(self)}")
        role = int(self.state.roles[row])
        if role < len(ROLES):
            return ROLES[role]
        return self.state.tables.moves[role - len(ROLES)].name

    def step(self, buttons: Buttons = None) -> None:
        """One tick of 1/60 s.

        buttons: what each pad holds, as texts such as "left+B", "" for nothing, or as
        masks; one text is the first character's; None: nothing is held. A stick is
        "B+stick(0.5,-1)": how far right and how far up, -1 to 1; half a stick walks at
        half the speed, and a stick counts in place of the buttons of directions.
        """
        from flexor.stage.step import step_stage

        step_stage(self.state, self._masks(buttons))

    def advance(self, dt: float, buttons: Buttons = None) -> int:
        """Move on by `dt` seconds, in whole ticks: gives how many.

        What is less than a tick is kept for the next call.
        """
        is_number = isinstance(dt, Real) and not isinstance(dt, bool)
        if not is_number or not 0 <= dt <= LONGEST:
            raise SettingError(f"dt: {dt!r}, expected 0 to {LONGEST:g} seconds")
        from flexor.stage.step import step_stage

        masks = self._masks(buttons)
        whole = (self._late + float(dt)) * RATE
        ticks = math.floor(whole + 1e-6)
        self._late = max(whole - ticks, 0.0) / RATE
        for _ in range(ticks):
            step_stage(self.state, masks)
        return ticks

    def replay(self, log: InputLog) -> None:
        """Play all ticks of a log of buttons and cameras, from its start."""
        from flexor.stage.movement.buttons import buttons_at, init_replay
        from flexor.stage.step import step_stage

        replay = init_replay(log, len(self))
        masks = np.zeros(len(self), np.uint32)
        for tick in range(log.length):
            turn_camera(self, log, tick)
            step_stage(self.state, buttons_at(replay, tick, out=masks))
        turn_camera(self, log, log.length)

    @property
    def log(self) -> InputLog:
        """All that was put in so far."""
        from flexor.stage.movement.buttons import recorded

        return recorded(self.state.recorder)

    def hash(self) -> str:
        """A text that two stages share only if all of their play is alike, bit for bit:
        the same plan and the same input give the same, on one machine.
        """
        from flexor.stage.state import hash_state

        return hash_state(self.state)

    def _masks(self, buttons: Buttons) -> NDArray[np.uint32]:
        masks = np.zeros(len(self), np.uint32)
        if buttons is None:
            return masks
        try:
            given = [buttons] if isinstance(buttons, str) else list(buttons)
        except TypeError:
            raise SettingError(
                f"buttons: {buttons!r}, expected a text or a mask for each character"
            ) from None
        if len(given) > len(self):
            raise ShapeError(f"buttons: {len(given)}, expected {len(self)} or less")
        for row, own in enumerate(given):
            if isinstance(own, str):
                masks[row] = pad_mask(own)
                continue
            if not isinstance(own, Integral) or isinstance(own, bool):
                raise SettingError(
                    f"buttons[{row}]: {own!r}, expected a text such as 'left+B', or a "
                    "mask"
                )
            check_pad_mask(int(own), f"buttons[{row}]")
            masks[row] = own
        return masks

    @property
    def camera(self) -> Camera:
        """The camera as it is now."""
        return camera_of(self.state.camera)

    def set_camera(self, rule: CameraRule, *, of: str = "") -> None:
        """Let the camera follow another rule from the next tick on; the log has it."""
        from flexor.stage.movement.buttons import record_camera

        if not isinstance(rule, CameraRule):
            raise SettingError(f"rule: {type(rule).__name__}, expected a CameraRule")
        state, name = self.state, of or rule.of
        row = self.row(name) if name else state.camera.row
        if (rule, row) == (state.camera.rule, state.camera.row):
            return
        record_camera(state.recorder, rule, row)
        follow_rule(
            state.camera, rule, row, state.places, state.headings, state.opponents
        )

    @property
    def frame(self) -> Frame:
        """Skins and shadows as they are now, made once a tick; its arrays are used
        again by the next.
        """
        from flexor.stage.frame import make_frame

        if self._frame is None or self._frame.tick != self.tick:
            self._frame = make_frame(self.state, shadows=self.plan.look.shadows)
        return self._frame

    def draw(
        self,
        size: tuple[int, int] = (640, 480),
        camera: Camera | None = None,
        style: DrawStyle | str | None = None,
        lines: Sequence[DrawLines] = (),
        *,
        more: Sequence[DrawItem] = (),
        rules: LevelRule | Sequence[LevelRule] | None = None,
        detail: bool = True,
    ) -> NDArray[np.uint8]:
        """A picture (H, W, 4); overwritten by the next of its size.

        camera: None for the stage's own; style: None for that of the plan's look;
        lines: that are drawn beside, such as the ways that characters went; more: items
        in the numbers of `painter.backend`; rules: by which levels of detail are
        chosen, `flexor.LevelRule`, one or several; None: the coarsest level that is off
        by no more than a pixel in the mean, and three at worst; detail: False to draw
        all as they are, in view or not.
        """
        check_view(self.camera if camera is None else camera, size)
        picture = self.painter.draw(
            self.state, size, camera, style, (lines, more), rules=rules, detail=detail
        )
        self.counts = self.painter.counts
        return picture

    def style(self, **changes: Any) -> DrawStyle:
        """The style that the plan's look asks for, with some of its fields changed,
        such as `samples=1` for a game.
        """
        from flexor.api.pictures.stage import look_style

        return replace(look_style(self.plan.look), **changes)

    @property
    def target(self) -> Target | None:
        """Where the last picture is, with the buffers ("depth", "normal") that its
        style asked for; None before the first.
        """
        return None if self._painter is None else self._painter.targets.last

    @property
    def painter(self) -> StagePainter:
        """What draws it; made when first asked for."""
        if self._painter is None:
            from flexor.api.pictures.stage import StagePainter

            self._painter = StagePainter(self.plan, self.cast, self.state.scenery)
        return self._painter


def turn_camera(stage: Stage, log: InputLog, tick: int) -> None:
    """Change the camera as a log has it before a tick."""
    from flexor.stage.movement.buttons import cameras_at

    for change in cameras_at(log, tick):
        of = stage.plan.cast[change.row].name if len(stage) else ""
        stage.set_camera(change.rule, of=of)
