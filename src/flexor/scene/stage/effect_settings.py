"""How effects of a stage work: settings of each; speeds are in metres a tick."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from flexor.errors import SettingError
from flexor.scene.checks import check_kind, check_number
from flexor.scene.stage.layout import FARTHEST

__all__ = [
    "ABOVE",
    "RADII",
    "AfterimageSettings",
    "AfterimageStyle",
    "ChurnSettings",
    "EffectPlan",
    "EndlessSettings",
    "GustSettings",
    "LeafSettings",
    "MarkSettings",
    "SnowSettings",
    "WindSettings",
]

AfterimageStyle = Literal["transparent", "mesh", "lines"]
STRONGEST = 100.0  # metres a tick, of wind
MOST_FRAMES = 1_000_000
# Metres, of parts that churn; and what of the body is above each, that goes through the
# surface of water when the part itself is under it.
RADII = {"foot": 0.10, "head": 0.15, "hips": 0.20, "hand": 0.08, "toes": 0.06}
ABOVE = {"foot": 0.45, "hips": 0.55}
# Radians a tick and metres: flakes turn either way, those of wide circles slowly.
SWIRLS = (
    (0.110, 0.015),
    (-0.095, 0.025),
    (0.080, 0.035),
    (-0.070, 0.050),
    (0.055, 0.065),
    (-0.045, 0.080),
    (0.035, 0.100),
    (-0.025, 0.130),
)


def _check_pair(
    value: Any, name: str, least: float, most: float
) -> tuple[float, float]:
    try:
        one, two = (check_number(v, name, least, most) for v in value)
    except SettingError:
        raise
    except (TypeError, ValueError):
        raise SettingError(f"{name}: {value!r}, expected two numbers") from None
    return one, two


@dataclass(frozen=True, slots=True, kw_only=True)
class WindSettings:
    """When parts make wind; all in metres, for each tick.

    scale: how many times as far as they did parts are taken to have moved; least: no
    wind of parts that move by less along x and z; lowest: nor of those whose height
    changes by less; weakest, strongest: bounds of its upward speed; sideways: how much
    of the movement is its speed along x and z; jump: a part that moves farther, before
    `scale`, has been put elsewhere and makes no wind.
    """

    scale: float = 1.0
    least: float = 0.2
    lowest: float = -0.8
    weakest: float = 0.12
    strongest: float = 1.0
    sideways: float = 0.6
    jump: float = 2.0

    def __post_init__(self) -> None:
        for name, low, high in (
            ("scale", 0.0, 1000.0),
            ("least", 0.0, STRONGEST),
            ("lowest", -STRONGEST, STRONGEST),
            ("weakest", 1e-6, STRONGEST),
            ("strongest", 1e-6, STRONGEST),
            ("sideways", 0.0, 10.0),
            ("jump", 0.0, FARTHEST),
        ):
            value = check_number(getattr(self, name), name, low, high)
            object.__setattr__(self, name, value)
        if self.strongest < self.weakest:
            raise SettingError(
                f"strongest: {self.strongest:g}, expected at least weakest, "
                f"{self.weakest:g}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafSettings:
    """How leaves move; metres, for each tick.

    lift: how much of a wind's upward speed is added to that of a leaf; drag, grip: what
    is kept of its speed along x and z in the air and on the ground; weight: how much
    less its upward speed gets; fastest: how fast it falls at most; turn: how far it
    turns about Y at most, radians, each leaf in its own way; sizes: least and most
    breadth, metres; kinds: how many kinds of leaves there are, for drawing.

    With `lift` 1 the weakest wind blows a leaf 3.5 m up, the strongest 250 m. With 0.25
    these are 0.2 m and 15 m.
    """

    lift: float = 1.0
    drag: float = 0.87
    grip: float = 0.5
    weight: float = 0.002
    fastest: float = 0.006
    turn: float = 0.06
    sizes: tuple[float, float] = (0.06, 0.08)
    kinds: int = 8

    def __post_init__(self) -> None:
        for name, low, high, is_above in (
            ("lift", 0.0, 100.0, True),
            ("drag", 0.0, 1.0, False),
            ("grip", 0.0, 1.0, False),
            ("weight", 0.0, 1.0, True),
            ("fastest", 0.0, 1.0, True),
            ("turn", 0.0, math.pi / 2, False),
        ):
            value = getattr(self, name)
            value = check_number(value, name, low, high, is_above=is_above)
            object.__setattr__(self, name, value)
        try:
            low, high = (check_number(v, "sizes", 1e-3, 10.0) for v in self.sizes)
        except SettingError:
            raise
        except (TypeError, ValueError):
            low, high = 1.0, 0.0
        if low > high:
            raise SettingError(f"sizes: {self.sizes!r}, expected least and most")
        object.__setattr__(self, "sizes", (low, high))
        if not isinstance(self.kinds, int) or not 1 <= self.kinds <= 256:
            raise SettingError(f"kinds: {self.kinds!r}, expected 1 to 256")


@dataclass(frozen=True, slots=True, kw_only=True)
class SnowSettings:
    """Where and how snow falls.

    low, high: (x, z), corners of the box that it falls in, metres; top: metres, from
    where; fall: metres a tick; swirls: the table of circles, each radians a tick and
    metres; sizes: least and most breadth of flakes, metres, most are small; stir: how
    much of the speed of parts that move among them flakes take on; drag: what is kept
    of that in each tick.
    """

    low: tuple[float, float] = (-10.0, -10.0)
    high: tuple[float, float] = (10.0, 10.0)
    top: float = 6.0
    fall: float = 0.01
    swirls: Sequence[tuple[float, float]] = SWIRLS
    sizes: tuple[float, float] = (0.025, 0.08)
    stir: float = 0.8
    drag: float = 0.95

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "stir", check_number(self.stir, "stir", 0.0, 10.0))
        put(self, "drag", check_number(self.drag, "drag", 0.0, 1.0))
        put(self, "low", _check_pair(self.low, "low", -FARTHEST, FARTHEST))
        put(self, "high", _check_pair(self.high, "high", -FARTHEST, FARTHEST))
        for a, b in zip(self.low, self.high, strict=True):
            if not b - a >= 0.01:
                raise SettingError(f"high: {self.high}, expected above low, {self.low}")
        put(self, "top", check_number(self.top, "top", -FARTHEST, FARTHEST))
        put(self, "fall", check_number(self.fall, "fall", 0.0, 1.0))
        sizes = _check_pair(self.sizes, "sizes", 1e-4, 10.0)
        if sizes[0] > sizes[1]:
            raise SettingError(f"sizes: {self.sizes!r}, expected least and most")
        put(self, "sizes", sizes)
        rows = tuple(self.swirls) if isinstance(self.swirls, Sequence) else ()
        if not 1 <= len(rows) <= 256:
            raise SettingError(f"swirls: {len(rows)} rows, expected 1 to 256")
        rows = tuple(_check_pair(row, "swirls", -math.pi, 10.0) for row in rows)
        if not all(speed <= math.pi and radius >= 0 for speed, radius in rows):
            raise SettingError("swirls: expected radians of at most pi, radii from 0")
        put(self, "swirls", rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnSettings:
    """How drops are thrown.

    parts: the kinds of the P parts that are looked at, names in RADII; base: drops for
    each metre that a part moves in a tick; most: drops of one event; ticks: in how many
    they come; scale: how many times as fast as they are parts are taken to be as they
    throw drops, as those of people hardly would; touch: how much of its radius a part
    reaches below its place: 0, its place alone counts; 1, it is a ball, as is right for
    joints of a skeleton; jump: metres: a part that moves farther
    in a tick was put elsewhere and throws none; gravity: metres a tick, for each tick;
    life: ticks in which a drop goes through its 32 patterns; size: metres.

    spread: radians that a drop flies beside the way of the others at most, each by its
    own chance; with it none begins downward; reach: metres above the surface up to
    which a part that has left it throws more if it gets faster; plough: what of `base`
    a part throws in each tick in which it goes along in the surface; wet: how many
    times as fast as sand water is thrown.
    """

    parts: Sequence[str] = ("foot", "foot", "head", "hips")
    base: float = 200.0
    most: int = 64
    ticks: int = 6
    scale: float = 5.0
    touch: float = 0.0
    jump: float = 2.0
    gravity: float = 9.81 / 3600
    life: int = 32
    size: float = 0.3
    spread: float = 0.0
    reach: float = 0.0
    plough: float = 0.0
    wet: float = 1.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        parts = () if isinstance(self.parts, str) else tuple(self.parts)
        if not parts or not all(part in RADII for part in parts):
            known = ", ".join(RADII)
            raise SettingError(f"parts: {self.parts!r}, expected some of {known}")
        put(self, "parts", parts)
        for name, least, most in (
            ("base", 0.0, 1e6),
            ("scale", 0.0, 1000.0),
            ("touch", 0.0, 1.0),
            ("jump", 0.0, FARTHEST),
            ("gravity", 0.0, 1.0),
            ("size", 1e-3, 100.0),
            ("spread", 0.0, math.pi / 4),
            ("reach", 0.0, 100.0),
            ("plough", 0.0, 10.0),
            ("wet", 0.0, 100.0),
        ):
            put(self, name, check_number(getattr(self, name), name, least, most))
        for name, last in (("most", 10_000), ("ticks", 1000), ("life", 10_000)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= last:
                raise SettingError(f"{name}: {value!r}, expected 1 to {last}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkSettings:
    """What feet leave: prints in sand, and rings on water.

    prints: seconds in which a print fades, 0: there are none; rings: seconds for rings;
    most: how many marks there are at a time, the oldest give way.
    """

    prints: float = 20.0
    rings: float = 1.5
    most: int = 192

    def __post_init__(self) -> None:
        for name in ("prints", "rings"):
            value = check_number(getattr(self, name), name, 0.0, 3600.0)
            object.__setattr__(self, name, value)
        if type(self.most) is not int or not 1 <= self.most <= 10_000:
            raise SettingError(f"most: {self.most!r}, expected 1 to 10000")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndlessSettings:
    """How fast a series is shown, and how coarsely far away.

    rate: frames a second; near: metres up to which every frame is shown; far: metres
    from which every `far_step`-th is, for that many times as long. In between the
    number of frames that are left out grows evenly.
    """

    rate: float = 30.0
    near: float = 10.0
    far: float = 40.0
    far_step: int = 5

    def __post_init__(self) -> None:
        check_number(self.rate, "rate", 0.01, 1000.0)
        check_number(self.near, "near", 0.0, 1e6)
        check_number(self.far, "far", self.near, 1e6)
        check_kind(self.far_step, int, "far_step")
        check_number(self.far_step, "far_step", 1, MOST_FRAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class GustSettings:
    """Wind that comes and goes, for snow.

    speed: metres a tick, when it blows most; length: seconds from gust to gust, about;
    heading: radians, where it blows to, 0 along +z; sway: radians by which that
    changes.
    """

    speed: float = 0.0
    length: float = 4.0
    heading: float = math.pi / 2
    sway: float = 0.5

    def __post_init__(self) -> None:
        for name, least, most in (
            ("speed", 0.0, 1.0),
            ("length", 0.1, 1000.0),
            ("heading", -1e6, 1e6),
            ("sway", 0.0, math.pi),
        ):
            value = check_number(getattr(self, name), name, least, most)
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterimageSettings:
    """Afterimages of parts of bodies.

    count: how many of each are kept; every: ticks from one to the next, at least;
    style: "transparent", "mesh" (some of the pixels, fewer with age) or "lines";
    strength: of the newest, 0 to 1; fastest: metres a second: hands and feet that move
    faster have afterimages of their limbs without a move that asks for them, 0: never.
    """

    count: int = 4
    every: int = 3
    style: AfterimageStyle = "transparent"
    strength: float = 0.7
    fastest: float = 0.0

    def __post_init__(self) -> None:
        for name, most in (("count", 64), ("every", 600)):
            check_kind(getattr(self, name), int, name)
            check_number(getattr(self, name), name, 1, most)
        if self.style not in get_args(AfterimageStyle):
            known = ", ".join(get_args(AfterimageStyle))
            raise SettingError(f"style: {self.style!r}, expected one of {known}")
        for name, largest in (("strength", 1.0), ("fastest", 1000.0)):
            value = check_number(getattr(self, name), name, 0, largest)
            object.__setattr__(self, name, value)


# Feet of people are slower than those that a wind of metres a tick is made for.
STAGE_WIND = WindSettings(scale=8.0)
STAGE_LEAVES = LeafSettings(lift=0.025, sizes=(0.08, 0.14))
STAGE_CHURN = ChurnSettings(
    parts=("foot", "foot", "head", "hips", "hand", "hand", "toes", "toes"),
    touch=1.0,
    base=700.0,
    most=96,
    scale=9.0,
    size=0.34,
    spread=0.6,
    reach=0.3,
    plough=0.1,
    wet=1.2,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectPlan:
    """The effects of a stage.

    leaves: how many lie on it; leaf_area: x and z of two opposite corners of where,
    None for all of the ground; snow: how many flakes fall; is_snowing: whether they do
    from the start; churn: whether sand and water are thrown up; water: metres, the
    height of the surface of water, where the ground is water and lower than that; None
    for that of the ground itself.
    """

    leaves: int = 0
    leaf_area: tuple[float, float, float, float] | None = None
    snow: int = 0
    is_snowing: bool = True
    churn: bool = True
    water: float | None = None
    wind: WindSettings = STAGE_WIND
    leaf: LeafSettings = STAGE_LEAVES
    flake: SnowSettings = field(default_factory=SnowSettings)
    gusts: GustSettings = field(default_factory=GustSettings)
    drops: ChurnSettings = STAGE_CHURN
    marks: MarkSettings = field(default_factory=MarkSettings)
    ripples: EndlessSettings = field(default_factory=EndlessSettings)
    afterimages: AfterimageSettings = field(default_factory=AfterimageSettings)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("leaves", "snow"):
            check_kind(getattr(self, name), int, name)
            check_number(getattr(self, name), name, 0, 1_000_000)
        for name in ("is_snowing", "churn"):
            check_kind(getattr(self, name), bool, name)
        if self.leaf_area is not None:
            try:
                a, b, c, d = (
                    check_number(v, "leaf_area", -FARTHEST, FARTHEST)
                    for v in self.leaf_area
                )
            except SettingError:
                raise
            except (TypeError, ValueError):
                raise SettingError(
                    f"leaf_area: {self.leaf_area!r}, expected four numbers"
                ) from None
            put(self, "leaf_area", (min(a, c), min(b, d), max(a, c), max(b, d)))
        if self.water is not None:
            put(self, "water", check_number(self.water, "water", -1000, 1000))
        for name, kind in (
            ("wind", WindSettings),
            ("leaf", LeafSettings),
            ("flake", SnowSettings),
            ("gusts", GustSettings),
            ("drops", ChurnSettings),
            ("marks", MarkSettings),
            ("ripples", EndlessSettings),
            ("afterimages", AfterimageSettings),
        ):
            check_kind(getattr(self, name), kind, name)
