"""What balls and flexible sheets are made of, as plain settings.

Metres, seconds, radians, kilograms; x right, y up, z toward the field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, get_args

from flexor.errors import SettingError
from flexor.maths import exact
from flexor.scene.checks import check_kind, check_number, check_word

__all__ = [
    "BallSettings",
    "Gate",
    "Hold",
    "NetSettings",
    "Point",
    "Push",
    "Rod",
    "SheetPlan",
    "Weave",
]

Point = tuple[float, float, float]
Hold = Literal["free", "sprung", "fixed"]
Weave = Literal["hexagons", "squares"]

FARTHEST = 1e4  # metres
MOST = 1e9  # of any coefficient
MOST_COLUMNS = 1000
MOST_RATE = 10_000  # steps a second


def _check_point(value: Any, name: str) -> Point:
    try:
        x, y, z = (check_number(v, name, -FARTHEST, FARTHEST) for v in value)
    except (TypeError, ValueError):
        raise SettingError(
            f"{name}: {value!r}, expected x, y and z, metres of at most {FARTHEST:g}"
        ) from None
    return x, y, z


def _check_numbers(settings: Any, bounds: dict[str, tuple[float, float]]) -> None:
    for name, (least, most) in bounds.items():
        number = check_number(getattr(settings, name), name, least, most)
        object.__setattr__(settings, name, number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """How a sheet acts on a ball that is d metres behind its reference plane.

    k1: pushes back, times d squared, metres a second squared; k2a, k2b: slow the motion
    along the normal, leaving and entering; k3: slows the motion along the sheet; k4:
    lets a low ball climb, in parts of k1; k5: friction, in parts of k1; front: metres
    that the reference plane is before the sheet; limit: metres beyond the plane at
    which the sheet is tight.
    """

    k1: float = 160.0
    k2a: float = 220.0
    k2b: float = 130.0
    k3: float = 8.0
    k4: float = 1.2
    k5: float = 0.3
    front: float = 0.15
    limit: float = 1.35

    def __post_init__(self) -> None:
        coefficients = dict.fromkeys(("k1", "k2a", "k2b", "k3"), (0.0, MOST))
        parts = dict.fromkeys(("k4", "k5", "front", "limit"), (0.0, 10.0))
        _check_numbers(self, {**coefficients, **parts})
        check_number(self.front, "front", 1e-3, 10)
        if self.limit <= self.front:
            raise SettingError(
                f"limit: {self.limit:g} m, expected more than front, {self.front:g} m"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class BallSettings:
    """A ball.

    radius: metres; inertia: of the moment of inertia, in m r^2 (2/3 for a hollow ball);
    gravity: metres a second squared; drag: of the air, 1 / metres, times the square of
    the speed; curl: how spin bends the path, times spin x velocity; ground: its height,
    metres; bounce, grip, rolling: restitution, friction and resistance to rolling on
    the ground; rod_bounce, rod_grip: on posts and bars; rate: steps a second.
    """

    radius: float = 0.11
    inertia: float = 2 / 3
    gravity: float = 9.81
    drag: float = 0.0
    curl: float = 0.0
    ground: float = 0.0
    bounce: float = 0.6
    grip: float = 0.5
    rolling: float = 0.06
    rod_bounce: float = 0.65
    rod_grip: float = 0.3
    rate: int = 240

    def __post_init__(self) -> None:
        _check_numbers(
            self,
            {
                "radius": (1e-3, 10),
                "inertia": (1e-3, 1),
                "gravity": (0, 100),
                "drag": (0, 1),
                "curl": (-1, 1),
                "ground": (-1000, 1000),
                **dict.fromkeys(("bounce", "rod_bounce"), (0, 1)),
                **dict.fromkeys(("grip", "rolling", "rod_grip"), (0, 10)),
            },
        )
        _check_rate(self.rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetSettings:
    """A net of masses and strings.

    k11: newtons, pull of a string at twice its length; k12: newtons a metre, of the
    springs that hold nodes at their anchors; k13: newtons at a metre a second, of the
    air, times the square of the speed; k14: share of the change of velocity that is
    added to the movement, which calms it; mass: kilograms of a node; gravity: metres a
    second squared; fastest: metres a second up to which air slows by the square of the
    speed, and beyond in proportion to it;
    rate: steps a second.
    """

    k11: float = 20.0
    k12: float = 12.0
    k13: float = 0.2
    k14: float = 0.1
    mass: float = 0.03
    gravity: float = 9.81
    fastest: float = 20.0
    rate: int = 120

    def __post_init__(self) -> None:
        _check_numbers(
            self,
            {
                **dict.fromkeys(("k11", "k12", "k13"), (0, MOST)),
                "k14": (0, 1),
                "mass": (1e-6, MOST),
                "gravity": (0, 100),
                "fastest": (0, 1e4),
            },
        )
        _check_rate(self.rate)


def _check_rate(rate: Any) -> None:
    is_whole = isinstance(rate, Integral) and not isinstance(rate, bool)
    if not is_whole or not 1 <= rate <= MOST_RATE:
        raise SettingError(
            f"rate: {rate!r}, expected whole steps a second, 1 to {MOST_RATE:,}"
        )


@dataclass(frozen=True, slots=True)
class Rod:
    """A rigid round rod from one end to the other."""

    start: Point
    end: Point
    radius: float

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "start", _check_point(self.start, "start"))
        put(self, "end", _check_point(self.end, "end"))
        put(self, "radius", check_number(self.radius, "radius", 1e-4, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A plane with an opening: where a ball passes it decides on which side it is.

    middle: of the opening; normal: out of the opening; across, up: from the middle to
    the edges of the opening.
    """

    middle: Point
    normal: Point
    across: Point
    up: Point

    def __post_init__(self) -> None:
        for name in ("middle", "normal", "across", "up"):
            object.__setattr__(self, name, _check_point(getattr(self, name), name))
        for name in ("normal", "across", "up"):
            if exact.norm(getattr(self, name)) < 1e-6:
                raise SettingError(f"{name}: {getattr(self, name)}, expected a length")
        ways = [getattr(self, name) for name in ("normal", "across", "up")]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            both = exact.norm(ways[one]) * exact.norm(ways[other])
            if abs(sum(a * b for a, b in zip(ways[one], ways[other], strict=True))) > (
                1e-3 * both
            ):
                raise SettingError(
                    "normal, across, up: expected each at right angles to the others"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPlan:
    """A flexible sheet between two lines of points.

    lower, upper: as many points each; between two points of both lies a flat face, its
    front where they go around counter-clockwise: lower, next lower, next upper, upper.
    names: of the faces; pitch: metres between columns of nodes; columns: strings along
    each face, None: by the pitch; rows: of nodes, None: by the pitch; weave: "hexagons"
    or "squares"; slack: strings are so many times as long as the sheet needs, but for
    those along its edges; left,
    right, bottom, top, corners (lines where two faces meet), middle: how the nodes
    there are held: "free", "sprung" to an anchor or "fixed"; sag: metres that anchors
    hang lower in the middle of an edge; hang: metres before its faces at which the
    sheet hangs, None: as it turns out; push: how it acts on balls; edge: how it acts on
    balls that slip along the sheet toward an edge that is fixed (but on the ground),
    from `reach` metres before it.
    """

    lower: tuple[Point, ...]
    upper: tuple[Point, ...]
    names: tuple[str, ...] = ()
    pitch: float = 0.31
    columns: tuple[int, ...] | None = None
    rows: int | None = None
    weave: Weave = "hexagons"
    slack: float = 1.03
    left: Hold = "free"
    right: Hold = "free"
    bottom: Hold = "free"
    top: Hold = "free"
    corners: Hold = "free"
    middle: Hold = "free"
    sag: float = 0.0
    hang: float | None = None
    push: Push = Push()
    edge: Push | None = None
    reach: float = 0.45

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("lower", "upper"):
            points = getattr(self, name)
            if not isinstance(points, Sequence) or isinstance(points, str):
                raise SettingError(f"{name}: {points!r}, expected points")
            put(self, name, tuple(_check_point(point, name) for point in points))
        faces = len(self.lower) - 1
        if faces < 1 or len(self.upper) != faces + 1:
            raise SettingError(
                f"lower, upper: {len(self.lower)} and {len(self.upper)} points, "
                f"expected as many of both, two or more"
            )
        check_kind(self.names, (tuple, list), "names")
        for name in self.names:
            check_kind(name, str, "names")
        check_kind(self.push, Push, "push")
        if self.edge is not None:
            check_kind(self.edge, Push, "edge")
        names = tuple(self.names) or tuple(f"face{row}" for row in range(faces))
        put(self, "names", names)
        if len(names) != faces:
            raise SettingError(f"names: {len(names)}, expected {faces}, one a face")
        for name in ("left", "right", "bottom", "top", "corners", "middle"):
            check_word(getattr(self, name), get_args(Hold), name)
        check_word(self.weave, get_args(Weave), "weave")
        put(self, "pitch", check_number(self.pitch, "pitch", 1e-3, 1e3))
        put(self, "slack", check_number(self.slack, "slack", 0.5, 2))
        put(self, "sag", check_number(self.sag, "sag", 0, 100))
        put(self, "reach", check_number(self.reach, "reach", 1e-3, 100))
        if self.hang is not None:
            put(self, "hang", check_number(self.hang, "hang", -100, 100))
        if self.columns is not None:
            check_kind(self.columns, (tuple, list), "columns")
            put(self, "columns", tuple(self.columns))
            if len(self.columns) != faces:
                raise SettingError(f"columns: {self.columns}, expected one a face")
            for count in self.columns:
                check_kind(count, int, "columns")
                check_number(count, "columns", 1, MOST_COLUMNS)
        if self.rows is not None:
            check_kind(self.rows, int, "rows")
            check_number(self.rows, "rows", 2, MOST_COLUMNS)
