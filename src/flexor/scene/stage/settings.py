"""How the rules of a stage work: settings of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

from flexor.errors import SettingError
from flexor.scene.checks import check_kind, check_number
from flexor.scene.stage.layout import SURFACES
from flexor.scene.stage.moves import MOST_TICKS

__all__ = [
    "FightSettings",
    "FrictionSettings",
    "MoveSettings",
    "ParrySettings",
    "ViewSettings",
]

LONGEST_WINDOW = 30  # ticks
MOST_ENERGY = 1e9  # points
MOST_MARGIN, LONGEST_FADE = 100.0, 60.0  # metres, seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class FrictionSettings:
    """How ground holds, and how legs push against it.

    still, moving: coefficients of friction of who stands and of who moves; factors: of
    plain ground, sand and water; paces: how fast one walks on each, in parts; gravity:
    metres a second squared; push: what legs can do against friction, metres a second
    squared; effort: seconds in which they come to push so; brake: how many times more
    than sliding feet those of who stops hold; uphill: how much slower one walks up, in
    parts times metres that ground rises a metre along it, and how much faster down.
    """

    still: float = 0.6
    moving: float = 0.4
    factors: tuple[float, ...] = (1.0, 2.0, 3.0)
    paces: tuple[float, ...] = (1.0, 0.8, 0.6)
    gravity: float = 9.81
    push: float = 25.0
    effort: float = 0.05
    brake: float = 3.0
    uphill: float = 0.8

    def __post_init__(self) -> None:
        for name, most in (
            *(("still", 100.0), ("moving", 100.0), ("gravity", 1000.0)),
            *(("push", 1e6), ("effort", 10.0), ("brake", 1000.0), ("uphill", 100.0)),
        ):
            value = check_number(getattr(self, name), name, 0, most)
            object.__setattr__(self, name, value)
        if self.still < self.moving:
            raise SettingError(
                f"still: {self.still:g}, expected at least moving, {self.moving:g}"
            )
        for name in ("factors", "paces"):
            given = getattr(self, name)
            try:
                given = tuple(given)
                is_right = len(given) == len(SURFACES)
            except TypeError:
                is_right = False
            if not is_right:
                kinds = ", ".join(SURFACES)
                raise SettingError(f"{name}: {given!r}, expected one each for {kinds}")
            values = tuple(check_number(value, name, 0, 100) for value in given)
            object.__setattr__(self, name, values)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveSettings:
    """How inputs are taken.

    chord_ticks: buttons that are pressed no more ticks than this after the first one
    count as pressed at once; only a button that is part of a chord waits for others;
    late_ticks: how long an input in a return phase is kept for when the move is over,
    0: not at all; repeats: whether a move or combination may follow on itself before it
    returns, as others may. If not, it begins when it is over, so that nobody is held by
    one button that is pressed again and again.
    """

    chord_ticks: int = 2
    late_ticks: int = 0
    repeats: bool = False

    def __post_init__(self) -> None:
        for name, most in (("chord_ticks", LONGEST_WINDOW), ("late_ticks", MOST_TICKS)):
            value = getattr(self, name)
            is_whole = isinstance(value, Integral) and not isinstance(value, bool)
            if not is_whole or not 0 <= value <= most:
                raise SettingError(f"{name}: {value!r}, expected 0 to {most} ticks")
        check_kind(self.repeats, bool, "repeats")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParrySettings:
    """What a parry does.

    angle: radians to either side of the defender's heading within which an attacker is
    in front; reach: metres at which what parries meets what attacks; rest: ticks after
    which who has parried is free to answer; amount: metres that the attacker recoils;
    ticks: over which it does, at least: it is longer where the defender's quickest
    attack needs longer; speed: of the attacker's clock meanwhile; trunk, head, arms:
    radians by which those are thrown back, and return; step: metres that an answer may
    go toward who was parried, to be in reach.
    """

    angle: float = math.radians(75)
    reach: float = 0.08
    rest: int = 6
    amount: float = 0.35
    ticks: int = 40
    speed: float = 0.5
    trunk: float = math.radians(10)
    head: float = math.radians(8)
    arms: float = math.radians(20)
    step: float = 1.2

    def __post_init__(self) -> None:
        check_kind(self.ticks, Integral, "ticks")
        check_kind(self.rest, Integral, "rest")
        far, turn = (0.0, 100.0, False), (-math.pi / 2, math.pi / 2, False)
        limits = {
            "angle": (0.0, math.pi, True),
            "reach": (0.0, 10.0, False),
            "rest": (1, 600, False),
            "amount": far,
            "ticks": (1, 10_000, False),
            "speed": (0.0, 1.0, True),
            "trunk": turn,
            "head": turn,
            "arms": turn,
            "step": far,
        }
        for name, (least, most, is_above) in limits.items():
            value = check_number(
                getattr(self, name), name, least, most, is_above=is_above
            )
            is_whole = name in ("ticks", "rest")
            object.__setattr__(self, name, int(value) if is_whole else value)


USUAL_PARRY = ParrySettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class FightSettings:
    """What attacks do.

    energy: points that each begins with; stun, guard_stun: ticks in which who was hit,
    or has guarded, can do nothing; guard_share: part of the damage that goes through a
    guard; push_ticks: over which who was hit is pushed; friendly: whether team mates
    hit each other; nearest_ticks: from one choice of the nearest opponent to the next,
    0: only when there is none; nearest_share: another is chosen only if it is nearer
    than this part of the distance to the present one; lie_ticks: that one lies who was
    struck down; rise_after: ticks after which it gets up if a button is pressed;
    break_ticks: after its grip in which a parry breaks a throw; miss_ticks: that a
    throw returns at most which takes hold of nobody; parry: what a parry does.
    """

    energy: float = 100.0
    stun: int = 18
    guard_stun: int = 8
    guard_share: float = 0.1
    push_ticks: int = 12
    friendly: bool = False
    nearest_ticks: int = 60
    nearest_share: float = 0.75
    lie_ticks: int = 50
    rise_after: int = 12
    break_ticks: int = 10
    miss_ticks: int = 36
    parry: ParrySettings = USUAL_PARRY

    def __post_init__(self) -> None:
        check_number(self.energy, "energy", 0, MOST_ENERGY, is_above=True)
        check_number(self.guard_share, "guard_share", 0, 1)
        check_number(self.nearest_share, "nearest_share", 0, 1)
        check_kind(self.friendly, bool, "friendly")
        for name, least in (
            *(("stun", 0), ("guard_stun", 0), ("push_ticks", 1), ("nearest_ticks", 0)),
            *(("lie_ticks", 1), ("rise_after", 0), ("break_ticks", 0)),
            ("miss_ticks", 0),
        ):
            check_kind(getattr(self, name), int, name)
            check_number(getattr(self, name), name, least, 10_000)
        check_kind(self.parry, ParrySettings, "parry")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSettings:
    """fade: seconds in which a structure vanishes or comes back, 0 for at once; margin:
    metres by which the region seen is larger all around, such as half the breadth of a
    character; keep: metres by which it is larger still for what has vanished, so that
    nothing comes and goes with each step of somebody at its border.
    """

    fade: float = 0.25
    margin: float = 0.5
    keep: float = 0.4

    def __post_init__(self) -> None:
        for name, most in (
            *(("fade", LONGEST_FADE), ("margin", MOST_MARGIN)),
            ("keep", MOST_MARGIN),
        ):
            value = check_number(getattr(self, name), name, 0, most)
            object.__setattr__(self, name, value)
