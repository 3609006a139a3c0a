"""What a stage is: ground, zones, structures, who plays, what they can do, the camera.

A plan only tells; `flexor.Stage` plays it. Files of it are read by
`flexor.files.text.stage`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral
from types import MappingProxyType
from typing import Any, Literal, get_args

from flexor.errors import SettingError
from flexor.scene.character.light import Vector
from flexor.scene.checks import check_kind, check_number, check_word
from flexor.scene.stage.camera_rule import CameraRule, Rule, vector_of
from flexor.scene.stage.effect_settings import EffectPlan
from flexor.scene.stage.game import (
    GameSettings,
    Player,
    Skill,
    check_pads,
    check_player,
)
from flexor.scene.stage.ground import Ground, flat_ground
from flexor.scene.stage.layout import FARTHEST, ROLES
from flexor.scene.stage.moves import MOST_TABLES, MoveTable
from flexor.scene.stage.settings import (
    FightSettings,
    FrictionSettings,
    MoveSettings,
    ViewSettings,
)
from flexor.scene.stage.structure import Spot, Structure
from flexor.scene.stage.zone import Zone

__all__ = [
    "BACKDROPS",
    "Actor",
    "CameraRule",
    "Control",
    "Rule",
    "StageLook",
    "StagePlan",
    "WalkSettings",
    "settings_kinds",
]

Control = Literal["opponent", "free", "none"]
Outfit = Literal["none", "gi", "shorts", "armour"]
Order = Literal["depth", "sort"]
Plain = Literal["grass", "stone"]
RGB = tuple[float, float, float]
# What a character does beside its moves, each with a clip.
BACKDROPS = ("hills", "city", "none")
NEAREST, NOBODY = "nearest", "none"
MOST_ACTORS = MOST_ZONES = MOST_STRUCTURES = 10_000
LONGEST_NAME = 100
BRIGHTEST = 1e6  # of a part of the way that light travels
USUAL_LIGHT: Vector = (0.35, -1.0, -0.45)
WHITE: RGB = (1.0, 1.0, 1.0)
MANNEQUIN = "mannequin"


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


def _near(name: str, names: Iterable[str]) -> str:
    """Some of the names there are, the closest first."""
    known = list(names)
    short = name[:LONGEST_NAME]
    near = difflib.get_close_matches(short, known[:1000], 4, 0.5) or known[:8]
    more = ", ..." if len(near) < len(known) else ""
    return ", ".join(near) + more or "nobody"


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
    heading: radians, 0 looks along +z; outfit: what the mannequin wears, "gi",
    "shorts" or "armour", "none": nothing; colour: linear, multiplies that of its
    surface, or of its outfit only;
    radius: metres of the circle that it is for walls and others, None: by its shape;
    opponent: the name of another, "nearest" or "none"; team: of those who are not its
    opponents and do not hit each other, "": it is in none; control: what its pad does:
    "opponent": it faces its opponent and goes around it, "free": it turns where it
    walks, and faces its opponent while L is held, "none": it walks only if told to;
    moves: what it can do, None: what the stage says for all; clips: by role (see ROLES)
    or by the name that a move has for its clip, names of the character's own clips;
    speeds: by role, metres a second at which its clip carries it over the ground, where
    that is not found by looking at its feet; player: who plays it in a game, 1, 2 or
    "computer", None: the first of the cast is 1, others are the computer's; skill: of
    the computer, "low", "middle" or "high".
    """

    name: str
    file: str = MANNEQUIN
    place: Spot = (0.0, 0.0)
    heading: float = 0.0
    colour: RGB = WHITE
    radius: float | None = None
    opponent: str = NEAREST
    team: str = ""
    control: Control = "opponent"
    moves: MoveTable | None = None
    clips: Mapping[str, str] = field(default_factory=dict)
    speeds: Mapping[str, float] = field(default_factory=dict)
    player: Player | None = None
    skill: Skill = "middle"
    outfit: Outfit = "none"

    def __post_init__(self) -> None:
        for name in ("name", "file", "opponent", "team"):
            check_kind(getattr(self, name), str, name)
        is_good = self.name.isprintable() and 1 <= len(self.name) <= LONGEST_NAME
        if not is_good or self.name in (NEAREST, NOBODY):
            raise SettingError(
                f"name: {self.name!r}, expected one of its own, of 1 to {LONGEST_NAME} "
                "letters"
            )
        if len(self.team) > LONGEST_NAME or not self.team.isprintable():
            raise SettingError(
                f"team: {self.team!r}, expected at most {LONGEST_NAME} letters"
            )
        if not self.file or "\0" in self.file:
            raise SettingError(
                f"file: {self.file!r}, expected the name of a file, or mannequin"
            )
        check_word(self.outfit, get_args(Outfit), "outfit")
        if self.outfit != "none" and self.file != MANNEQUIN:
            raise SettingError(
                f"outfit: {self.outfit!r} for {self.file!r}, expected none: only the "
                "mannequin has outfits"
            )
        most = 1e6
        _put(
            self,
            place=_spot(self.place, "place"),
            heading=check_number(self.heading, "heading", -most, most),
            colour=_colour(self.colour, "colour"),
        )
        if self.radius is not None:
            _put(self, radius=check_number(self.radius, "radius", 0.01, 100))
        check_word(self.control, get_args(Control), "control")
        if self.moves is not None:
            check_kind(self.moves, MoveTable, "moves")
        if self.opponent == self.name:
            raise SettingError(f"opponent: {self.opponent!r}, expected another's name")
        check_player(self.player, self.skill)
        check_kind(self.clips, Mapping, "clips")
        for role, clip in self.clips.items():
            if not (isinstance(role, str) and isinstance(clip, str)):
                raise SettingError(f"clips: {role!r}: {clip!r}, expected names")
        check_kind(self.speeds, Mapping, "speeds")
        for role, speed in self.speeds.items():
            if role not in ROLES:
                raise SettingError(f"speeds: no role {role!r}; there are: {ROLES}")
            check_number(speed, "speeds", 0, 100, is_above=True)
        _put(
            self,
            clips=MappingProxyType(dict(self.clips)),
            speeds=MappingProxyType(dict(self.speeds)),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        values = {name: getattr(self, name) for name in self.__slots__}
        values["clips"], values["speeds"] = dict(self.clips), dict(self.speeds)
        return _again, (Actor, values)


def _again(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkSettings:
    """How fast characters go, metres a second, on plain ground: walk, run (R held),
    back, and side around an opponent; turn: radians a second; climb: metres a second
    that they come up a step; step: metres by which ground may rise within 25 cm, where
    it rises more it is a wall to them.
    """

    walk: float = 1.35
    run: float = 3.5
    back: float = 1.0
    side: float = 1.1
    turn: float = 10.0
    climb: float = 2.0
    step: float = 0.4

    def __post_init__(self) -> None:
        for name in ("walk", "run", "back", "side", "turn", "climb", "step"):
            most = 100.0
            value = check_number(getattr(self, name), name, 0, most)
            _put(self, **{name: value})


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLook:
    """How a stage is drawn.

    style: of the characters, as in DrawStyle; smooth: names of parts that are smooth
    while the rest is flat, None for all; order: "sort" draws polygons from far to near
    by one point of each, in place of a depth buffer; background: sRGB, 0 to 255; plain:
    what plain ground looks like, "grass" or "stone"; shadows: whether there are any;
    feet: whether feet are put on uneven ground; zones: whether their walls are seen, as
    borders painted on the ground; backdrop: what is far away: "hills", "city", "none",
    or a file of a picture once around, whose middle row is the horizon. The built-in
    ones have the background's colour in their sky.
    """

    style: str = "shaded"
    smooth: tuple[str, ...] | None = None
    order: Order = "depth"
    background: tuple[int, int, int] = (150, 178, 205)
    plain: Plain = "grass"
    shadows: bool = True
    feet: bool = True
    zones: bool = True
    backdrop: str = "hills"

    def __post_init__(self) -> None:
        check_kind(self.style, str, "style")
        check_kind(self.backdrop, str, "backdrop")
        if not self.backdrop or "\0" in self.backdrop:
            raise SettingError(
                f"backdrop: {self.backdrop!r}, expected {', '.join(BACKDROPS)}, or the "
                "name of a file"
            )
        check_word(self.order, get_args(Order), "order")
        check_word(self.plain, get_args(Plain), "plain")
        for name in ("shadows", "feet", "zones"):
            check_kind(getattr(self, name), bool, name)
        if self.smooth is not None:
            is_list = isinstance(self.smooth, Iterable)
            is_list = is_list and not isinstance(self.smooth, str)
            names = tuple(self.smooth) if is_list else (None,)
            if not all(isinstance(name, str) for name in names):
                raise SettingError(f"smooth: {self.smooth!r}, expected several names")
            _put(self, smooth=names)
        try:
            levels = tuple(self.background)
        except TypeError:
            levels = ()
        if len(levels) != 3 or not all(map(_is_level, levels)):
            raise SettingError(
                f"background: {self.background!r}, expected three whole numbers, 0 to "
                "255"
            )
        _put(self, background=tuple(map(int, levels)))


def _is_level(value: Any) -> bool:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    return is_whole and 0 <= value <= 255


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """All of a stage.

    cast: who plays, in the order of their pads; moves: what those can do who have no
    moves of their own; light: the way it travels; seed: of everything that is left to
    chance. Settings of rules are fields whose default is made by their class; text
    files have a table for each.
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
    effects: EffectPlan = field(default_factory=EffectPlan)
    game: GameSettings = field(default_factory=GameSettings)

    def __post_init__(self) -> None:
        for name, kind, most in (
            ("cast", Actor, MOST_ACTORS),
            ("zones", Zone, MOST_ZONES),
            ("structures", Structure, MOST_STRUCTURES),
        ):
            try:
                own = tuple(getattr(self, name))
            except TypeError:
                own = (None,)
            if len(own) > most:
                raise SettingError(f"{name}: {len(own)}, expected {most:,} or less")
            for row, one in enumerate(own):
                check_kind(one, kind, f"{name}[{row}]")
            _put(self, **{name: own})
        kinds = {"ground": Ground, "moves": MoveTable, **settings_kinds()}
        for name, one_kind in kinds.items():
            check_kind(getattr(self, name), one_kind, name)
        is_whole = isinstance(self.seed, Integral) and not isinstance(self.seed, bool)
        if not is_whole or not 0 <= self.seed < 2**63:
            raise SettingError(f"seed: {self.seed!r}, expected a whole number from 0")
        light = vector_of(self.light, "light", BRIGHTEST)
        if max(map(abs, light)) < 1 / BRIGHTEST:
            raise SettingError(f"light: {light}, expected the way it travels")
        _put(self, light=light, seed=int(self.seed))
        self._check_names()
        count = len(self.tables()[0])
        if count > MOST_TABLES:
            raise SettingError(
                f"cast: {count} tables of moves, expected {MOST_TABLES} or fewer"
            )

    def _check_names(self) -> None:
        names: dict[str, None] = {}  # in order: faults are told the same way each time
        for actor in self.cast:
            if actor.name in names:
                raise SettingError(f"cast: two called {actor.name!r}, expected one")
            names[actor.name] = None
        check_pads([actor.player for actor in self.cast])
        for actor in self.cast:
            other = actor.opponent
            if other not in names and other not in (NEAREST, NOBODY):
                there = _near(other, (name for name in names if name != actor.name))
                raise SettingError(
                    f"opponent: {other!r} of {actor.name!r}, expected nearest, none or "
                    f"one of: {there}"
                )
        if self.camera.of and self.camera.of not in names:
            there = _near(self.camera.of, names)
            raise SettingError(f"of: {self.camera.of!r}, expected one of: {there}")

    def tables(self) -> tuple[tuple[MoveTable, ...], tuple[int, ...]]:
        """The tables of moves that are played with, each once, in the order of the
        cast, and which of them each has; without a cast that of the stage.
        """
        found: list[MoveTable] = []
        numbers: dict[int, int] = {}  # by identity: most are one and the same
        rows = []
        for actor in self.cast:
            table = self.moves if actor.moves is None else actor.moves
            if id(table) not in numbers:
                if table not in found:
                    found.append(table)
                numbers[id(table)] = found.index(table)
            rows.append(numbers[id(table)])
        return tuple(found) or (self.moves,), tuple(rows)

    def row(self, name: str) -> int:
        """The number of who is called so."""
        check_kind(name, str, "name")
        for row, actor in enumerate(self.cast):
            if actor.name == name:
                return row
        there = _near(name, (actor.name for actor in self.cast))
        raise SettingError(f"nobody is called {name!r}; there are: {there}")


def settings_kinds() -> dict[str, type]:
    """The class of each field of a plan that holds settings."""
    found: dict[str, Any] = {o.name: o.default_factory for o in fields(StagePlan)}
    return {name: kind for name, kind in found.items() if isinstance(kind, type)}
