"""What a stage is: ground, zones, structures, who plays, what they can do, the camera.

A plan only tells; `flexor.Stage` plays it. Files of it are read by
`flexor.files.stage_read`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from types import MappingProxyType
from typing import Any, Literal, get_args

from flexor.errors import SettingError
from flexor.scene.checks import check_kind, check_number
from flexor.scene.ground import FARTHEST, Ground, flat_ground
from flexor.scene.light import Vector, as_vector
from flexor.scene.moves import MoveTable
from flexor.scene.stage_settings import (
    FightSettings,
    FrictionSettings,
    MoveSettings,
    ViewSettings,
)
from flexor.scene.structure import Spot, Structure
from flexor.scene.zone import Zone

__all__ = [
    "ROLES",
    "Actor",
    "CameraRule",
    "Control",
    "Rule",
    "StageLook",
    "StagePlan",
    "WalkSettings",
]

Control = Literal["opponent", "free", "none"]
Rule = Literal["fixed", "side", "behind"]
Order = Literal["depth", "sort"]
RGB = tuple[float, float, float]
# What a character does beside its moves, each with a clip.
ROLES = (
    "stance",
    "walk",
    "run",
    "back",
    "left",
    "right",
    "air",
    "hit",
    "guarded",
    "recoil",
    "beaten",
    "won",
)
NEAREST, NOBODY = "nearest", "none"
MOST_ACTORS = 10_000
USUAL_LIGHT: Vector = (0.35, -1.0, -0.45)
LIGHT_GREY: RGB = (1.0, 1.0, 1.0)


def _put(own: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(own, name, value)


def _spot(value: Any, name: str) -> Spot:
    try:
        x, z = value
    except (TypeError, ValueError):
        raise SettingError(f"{name}: {value!r}, expected x and z in metres") from None
    far = FARTHEST
    return check_number(x, name, -far, far), check_number(z, name, -far, far)


def _word(value: Any, known: tuple[str, ...], name: str) -> None:
    if value not in known:
        raise SettingError(f"{name}: {value!r}, expected one of {', '.join(known)}")


def _colour(value: Any, name: str) -> RGB:
    try:
        red, green, blue = value
    except (TypeError, ValueError):
        raise SettingError(f"{name}: {value!r}, expected three numbers") from None
    return (
        check_number(red, name, 0, 10),
        check_number(green, name, 0, 10),
        check_number(blue, name, 0, 10),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """One who plays.

    name: its own; file: of the character, or "mannequin"; place: x and z, metres;
    heading: radians, 0 looks along +z; colour: linear, multiplies that of its surface;
    radius: metres of the circle that it is for walls and others, None: by its shape;
    opponent: the name of another, "nearest" or "none"; control: what its pad does:
    "opponent": it faces its opponent and goes around it, "free": it turns where it
    walks, and faces its opponent while L is held, "none": it walks only if told to;
    clips: by role (see ROLES) or by the name that a move has for its clip, names of the
    character's own clips.
    """

    name: str
    file: str = "mannequin"
    place: Spot = (0.0, 0.0)
    heading: float = 0.0
    colour: RGB = LIGHT_GREY
    radius: float | None = None
    opponent: str = NEAREST
    control: Control = "opponent"
    clips: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("name", "file", "opponent"):
            check_kind(getattr(self, name), str, name)
        if not self.name or self.name in (NEAREST, NOBODY):
            raise SettingError(f"name: {self.name!r}, expected a name of its own")
        if not self.file:
            raise SettingError("file: '', expected the name of a file, or mannequin")
        most = 1e6
        _put(
            self,
            place=_spot(self.place, "place"),
            heading=check_number(self.heading, "heading", -most, most),
            colour=_colour(self.colour, "colour"),
        )
        if self.radius is not None:
            check_number(self.radius, "radius", 0.01, 100)
        _word(self.control, get_args(Control), "control")
        if self.opponent == self.name:
            raise SettingError(f"opponent: {self.opponent!r}, expected another's name")
        check_kind(self.clips, Mapping, "clips")
        for role, clip in self.clips.items():
            if not (isinstance(role, str) and isinstance(clip, str)):
                raise SettingError(f"clips: {role!r}: {clip!r}, expected names")
        _put(self, clips=MappingProxyType(dict(self.clips)))

    def __reduce__(self) -> tuple[Any, ...]:
        values = {name: getattr(self, name) for name in self.__slots__}
        values["clips"] = dict(self.clips)
        return _again, (Actor, values)


def _again(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkSettings:
    """How fast characters go, metres a second, on plain ground: walk, run (R held),
    back, and side around an opponent; turn: radians a second; climb: metres a second
    that they come up a step.
    """

    walk: float = 1.35
    run: float = 3.5
    back: float = 1.0
    side: float = 1.1
    turn: float = 10.0
    climb: float = 2.0

    def __post_init__(self) -> None:
        for name in ("walk", "run", "back", "side", "turn", "climb"):
            most = 100.0
            value = check_number(getattr(self, name), name, 0, most)
            _put(self, **{name: value})


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraRule:
    """Where the camera is.

    rule: "fixed": at eye, looking at target; "side": beside the line between a
    character and its opponent, on the side it is on, so far away that all are in the
    picture; "behind": behind a character, looking at its opponent. of: the name of that
    character, "" for the first; distance: metres, at least; height: metres above the
    ground, of its eye; ease: seconds in which it follows; fov: radians.
    """

    rule: Rule = "side"
    eye: Vector = (0.0, 2.0, 7.0)
    target: Vector = (0.0, 1.0, 0.0)
    of: str = ""
    distance: float = 4.5
    height: float = 1.6
    ease: float = 0.25
    fov: float = math.radians(40)

    def __post_init__(self) -> None:
        _word(self.rule, get_args(Rule), "rule")
        check_kind(self.of, str, "of")
        for name in ("eye", "target"):
            _put(self, **{name: as_vector(getattr(self, name), name)})
        if math.dist(self.eye, self.target) < 1e-3:
            raise SettingError(f"eye: {self.eye}, expected another place than target")
        far = 1000.0
        _put(
            self,
            distance=check_number(self.distance, "distance", 0.1, far),
            height=check_number(self.height, "height", -far, far),
            ease=check_number(self.ease, "ease", 0, 60),
            fov=check_number(self.fov, "fov", 0.01, 3),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLook:
    """How a stage is drawn.

    style: of the characters, as in DrawStyle; smooth: names of parts that are smooth
    while the rest is flat, None for all; order: "sort" draws polygons from far to near
    by one point of each, in place of a depth buffer; background: sRGB, 0 to 255; plain:
    what plain ground looks like, "grass" or "stone"; shadows: whether there are any;
    feet: whether feet are put on uneven ground.
    """

    style: str = "shaded"
    smooth: tuple[str, ...] | None = None
    order: Order = "depth"
    background: tuple[int, int, int] = (150, 178, 205)
    plain: str = "grass"
    shadows: bool = True
    feet: bool = True

    def __post_init__(self) -> None:
        check_kind(self.style, str, "style")
        _word(self.order, get_args(Order), "order")
        _word(self.plain, ("grass", "stone"), "plain")
        for name in ("shadows", "feet"):
            check_kind(getattr(self, name), bool, name)
        if self.smooth is not None:
            if isinstance(self.smooth, str):
                raise SettingError(f"smooth: {self.smooth!r}, expected several names")
            _put(self, smooth=tuple(self.smooth))
        try:
            levels = tuple(int(level) for level in self.background)
        except (TypeError, ValueError):
            levels = ()
        if len(levels) != 3 or not 0 <= min(levels) <= max(levels) <= 255:
            raise SettingError(
                f"background: {self.background!r}, expected three numbers 0 to 255"
            )
        _put(self, background=levels)


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """All of a stage.

    cast: who plays, in the order of their pads; moves: what they can do; light: the
    way it travels; seed: of everything that is left to chance.
    """

    cast: tuple[Actor, ...] = ()
    ground: Ground = field(default_factory=flat_ground)
    zones: tuple[Zone, ...] = ()
    structures: tuple[Structure, ...] = ()
    moves: MoveTable = field(default_factory=lambda: MoveTable(()))
    camera: CameraRule = field(default_factory=CameraRule)
    light: Vector = USUAL_LIGHT
    seed: int = 0
    look: StageLook = field(default_factory=StageLook)
    walking: WalkSettings = field(default_factory=WalkSettings)
    friction: FrictionSettings = field(default_factory=FrictionSettings)
    fight: FightSettings = field(default_factory=FightSettings)
    pads: MoveSettings = field(default_factory=MoveSettings)
    view: ViewSettings = field(default_factory=ViewSettings)

    def __post_init__(self) -> None:
        for name, kind in (
            ("cast", Actor),
            ("zones", Zone),
            ("structures", Structure),
        ):
            try:
                own = tuple(getattr(self, name))
            except TypeError:
                own = (None,)
            for row, one in enumerate(own):
                check_kind(one, kind, f"{name}[{row}]")
            _put(self, **{name: own})
        for name, one_kind in (
            ("ground", Ground),
            ("moves", MoveTable),
            ("camera", CameraRule),
            ("look", StageLook),
            ("walking", WalkSettings),
            ("friction", FrictionSettings),
            ("fight", FightSettings),
            ("pads", MoveSettings),
            ("view", ViewSettings),
        ):
            check_kind(getattr(self, name), one_kind, name)
        if not isinstance(self.seed, Integral) or not 0 <= self.seed < 2**63:
            raise SettingError(f"seed: {self.seed!r}, expected a whole number from 0")
        light = as_vector(self.light, "light")
        if not any(light):
            raise SettingError("light: (0, 0, 0), expected the way it travels")
        _put(self, light=light)
        self._check_names()

    def _check_names(self) -> None:
        if len(self.cast) > MOST_ACTORS:
            raise SettingError(
                f"cast: {len(self.cast)}, expected {MOST_ACTORS:,} or less"
            )
        names: set[str] = set()
        for actor in self.cast:
            if actor.name in names:
                raise SettingError(f"cast: two called {actor.name!r}, expected one")
            names.add(actor.name)
        for actor in self.cast:
            if actor.opponent not in (NEAREST, NOBODY, *names):
                there = ", ".join(names - {actor.name})
                raise SettingError(
                    f"opponent: {actor.opponent!r} of {actor.name!r}, expected "
                    f"nearest, none or one of: {there}"
                )
        if self.camera.of and self.camera.of not in names:
            raise SettingError(
                f"of: {self.camera.of!r}, expected one of: {', '.join(names)}"
            )

    def row(self, name: str) -> int:
        """The number of who is called so."""
        for row, actor in enumerate(self.cast):
            if actor.name == name:
                return row
        there = ", ".join(actor.name for actor in self.cast) or "nobody"
        raise SettingError(f"nobody is called {name!r}; there are: {there}")
