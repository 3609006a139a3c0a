"""Many characters: plain arrays of what each does, and a few calls for all of them.

A frame is `advance_crowd` (clocks, and ways of clips), `see_crowd` (who is in view, and
at which level of detail), `move_crowd` (matrices of the nodes that those levels have)
and `skin_crowd` (their vertices). What is out of view costs its clock alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints
from flexor.deform.level_bind import skin_level
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact, threads
from flexor.pose.crowd.level_choice import Figures, LevelRule, choose_levels, is_in_view
from flexor.pose.crowd.node_motion import move_nodes
from flexor.scene.character.camera import Camera
from flexor.stage.counts import SeenCounts
from flexor.stage.crowd.kind import CrowdKind

__all__ = [
    "CrowdState",
    "Shown",
    "advance_crowd",
    "check_view",
    "init_crowd",
    "move_crowd",
    "see_crowd",
    "skin_crowd",
]

MOST = 10_000_000  # characters
LONGEST = 1e9  # seconds, and factors of time and size
NODE_COST = 8  # of a node, if that of a vertex is 1
LEAST_WORK = 20_000  # vertices: less is not worth a second thread


@dataclass(slots=True, eq=False)
class Shown:
    """Characters of one kind that are shown at one level.

    who: int32 (n,), their rows in the crowd; matrices: float32 (n, S * 12); positions
    and normals: of each surface float32 (n, P, 3), by the places of its bind.
    """

    kind: int
    level: int
    who: Ints
    matrices: Floats
    positions: list[Floats]
    normals: list[Floats]


@dataclass(slots=True, eq=False)
class CrowdState:
    """N characters of one or more kinds, those of a kind one behind the other.

    kinds: what they are; firsts: row of the first of each kind, and N last. To be
    written to: clip: int32 (N,), number of a clip of its kind, -1 for the rest pose;
    time: float64 (N,), seconds in the clip; speed: (N,), factor of its clock; loops:
    bool (N,), whether a clip begins again at its end; place: float64 (N, 3), metres;
    heading: (N,), radians about Y; size: (N,), factor; colour: float32 (N, 4), linear,
    multiplies that of the surfaces; level: int32 (N,), -1 for out of view.
    pace: float32 (N,), metres a second, how fast each went in the last step of the
    clock, 0 before the first; is_away: bool (N,), who is played elsewhere and so not
    seen; shown, counts: of the last frame.
    """

    kinds: tuple[CrowdKind, ...]
    firsts: tuple[int, ...]
    clip: Ints
    time: Doubles
    speed: Doubles
    loops: NDArray[np.bool_]
    place: Doubles
    heading: Doubles
    size: Doubles
    colour: Floats
    level: Ints
    pace: Floats
    is_away: NDArray[np.bool_]
    shown: list[Shown] = field(default_factory=list)
    counts: SeenCounts = field(default_factory=SeenCounts)
    _before: Doubles | None = field(default=None, repr=False)
    _rooms: dict[tuple[int, int, str], Floats] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.clip)

    def rows(self, kind: int) -> slice:
        """The rows of a kind."""
        return slice(self.firsts[kind], self.firsts[kind + 1])

    def soles(self) -> Doubles:
        """Metres from the place of each up to the floor its clip stands on: (N,)."""
        return np.concatenate(
            [
                own.soles[self.clip[self.rows(kind)]] * self.size[self.rows(kind)]
                for kind, own in enumerate(self.kinds)
            ]
        )

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays: of the state, of motion and of the last frames."""
        own = (
            *(self.clip, self.time, self.speed, self.loops, self.place, self.heading),
            *(self.size, self.colour, self.level, self.pace),
        )
        before = 0 if self._before is None else self._before.nbytes
        motion = sum(kind.motion.nbytes for kind in self.kinds)
        rooms = sum(room.nbytes for room in self._rooms.values())
        return sum(array.nbytes for array in own) + before + motion + rooms


def init_crowd(kinds: Sequence[CrowdKind], counts: Sequence[int]) -> CrowdState:
    """Characters at rest, all at the origin, none in view yet; counts: of each kind."""
    if len(kinds) != len(counts) or not kinds:
        raise SettingError(f"counts: {len(counts)} for {len(kinds)} kinds")
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise SettingError(f"counts: {count!r}, expected 0 or more characters")
    if sum(counts) > MOST:
        raise SettingError(f"counts: {sum(counts)}, expected {MOST:,} or less in all")
    firsts = (0, *np.cumsum(counts).tolist())
    total = firsts[-1]
    return CrowdState(
        tuple(kinds),
        firsts,
        np.full(total, -1, np.int32),
        np.zeros(total),
        np.ones(total),
        np.ones(total, bool),
        np.zeros((total, 3)),
        np.zeros(total),
        np.ones(total),
        np.ones((total, 4), np.float32),
        np.full(total, -1, np.int32),
        np.zeros(total, np.float32),
        np.zeros(total, np.bool_),
    )


def advance_crowd(state: CrowdState, dt: float) -> None:
    """Move all clocks on by `dt` seconds, and the characters with their clips.

    How fast they go is measured here: from where they were at the end of the step
    before, so places that a caller writes between two steps count as well. Those that
    are written before the first step are where characters begin.
    """
    from flexor.pose.crowd.kernels import clocks as kernel_crowd

    try:
        step = float(dt) if isinstance(dt, Real) else math.nan
    except OverflowError:
        step = math.inf
    if not math.isfinite(step):
        raise SettingError(f"dt: {dt!r}, expected seconds")
    _check(state)
    if abs(step) * max(1.0, float(np.abs(state.speed).max(initial=0))) > LONGEST:
        raise SettingError(f"dt: {dt}, expected {LONGEST:g} s or less on every clock")
    if state._before is None:
        state._before = state.place.copy()
    for kind, own in enumerate(state.kinds):
        rows = state.rows(kind)
        kernel_crowd.advance_crowd(
            step,
            state.clip[rows],
            state.speed[rows],
            state.loops[rows],
            state.size[rows],
            own.motion.durations,
            own.ways,
            own.paths,
            state.time[rows],
            state.place[rows],
            state.heading[rows],
        )
    if step:  # while the clock stands still they are as fast as they were
        with np.errstate(all="ignore"):  # what is not finite is not seen
            moved = state.place - state._before
            state.pace[:] = np.sqrt((moved * moved).sum(1)) / abs(step)
        state._before[:] = state.place


def _check(state: CrowdState) -> None:
    """Refuse what kernels would go astray with."""
    for kind, own in enumerate(state.kinds):
        clip = state.clip[state.rows(kind)]
        last = len(own.motion.names) - 1
        if clip.size and not -1 <= clip.min() <= clip.max() <= last:
            wrong = int(clip.min()) if clip.min() < -1 else int(clip.max())
            raise ShapeError(f"clip: {wrong}, expected -1 to {last}")
    for name in ("time", "speed", "heading", "size"):
        values = getattr(state, name)
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ShapeError(f"{name}: {values[row]} at character {row}")
    if state.size.size and not float(state.size.min()) > 0:
        row = int(np.argmin(state.size))
        raise ShapeError(f"size: {state.size[row]} at character {row}, expected more")
    for name in ("time", "speed", "size"):
        most = float(np.abs(getattr(state, name)).max(initial=0))
        if most > LONGEST:
            raise ShapeError(f"{name}: {most:g}, expected {LONGEST:g} or less")


def see_crowd(
    state: CrowdState,
    camera: Camera,
    size: tuple[int, int],
    rules: LevelRule | Sequence[LevelRule] | None = None,
    *,
    time: float = 0.0,
    extra: Any = None,
) -> None:
    """Find out who is in view, and at which level each is to be drawn.

    size: of the picture, pixels; rules: see LevelRule; None: by the error in pixels;
    time, extra: for rules that are functions.
    """
    _check(state)
    check_view(camera, size)
    chosen = np.full(len(state), -1, np.int32)
    with np.errstate(all="ignore"):  # what is too far away is not seen
        for kind, own in enumerate(state.kinds):
            first = state.firsts[kind]
            rows = np.arange(first, state.firsts[kind + 1])
            centres, reaches = _balls(state, own, rows)
            is_seen = is_in_view(camera, size, centres, reaches)
            is_seen &= ~state.is_away[rows]
            rows, centres = rows[is_seen], centres[is_seen]
            centres.flags.writeable = False  # rules are shown them
            level = state.level[rows]
            sizes = state.size[rows].astype(np.float32)
            choose_levels(
                LevelRule() if rules is None else rules,
                own.levels.errors,
                camera,
                size,
                Figures(
                    centres,
                    reaches[is_seen],
                    heights=np.float32(own.levels.height) * sizes,
                    widths=np.float32(2 * own.footprint) * sizes,
                    speeds=state.pace[rows],
                    sizes=sizes,
                ),
                levels=level,
                time=time,
                extra=extra,
            )
            chosen[rows] = level
    state.level[:] = chosen


def check_view(camera: Any, size: Any) -> None:
    """Refuse what is no camera, or no width and height in pixels."""
    if not isinstance(camera, Camera):
        raise SettingError(f"camera: {type(camera).__name__}, expected a Camera")
    try:
        is_right = len(size) == 2 and all(
            isinstance(side, Integral) and int(side) > 0 for side in size
        )
    except TypeError:
        is_right = False
    if not is_right:
        raise SettingError(f"size: {size!r}, expected width and height in pixels")


def _balls(
    state: CrowdState, own: CrowdKind, rows: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Middles (n, 3) and radii (n,) of balls around characters of a kind."""
    clip = state.clip[rows]  # -1, the rest pose, is the last row of the tables
    c, s = exact.cos_each(state.heading[rows]), exact.sin_each(state.heading[rows])
    x, y, z = own.centres[clip].T
    turned = np.stack([c * x + s * z, y, c * z - s * x], 1)
    middles = turned * state.size[rows, None] + state.place[rows]
    reaches = own.reaches[clip] * state.size[rows]
    return middles.astype(np.float32), reaches.astype(np.float32)


def move_crowd(state: CrowdState) -> None:
    """Matrices of the nodes of all who are shown.

    Times that were written beyond the end of a clip that loops go round.
    """
    _check(state)
    state.shown = []
    for kind, own in enumerate(state.kinds):
        rows = state.rows(kind)
        time, length = state.time[rows], own.motion.durations[state.clip[rows]]
        over = state.loops[rows] & (length > 0) & ((time < 0) | (time > length))
        time[over] %= length[over]
    for kind, own in enumerate(state.kinds):
        rows = state.rows(kind)
        level = state.level[rows]
        last = len(own.levels) - 1
        if level.size and int(level.max()) > last:
            raise ShapeError(f"level: {int(level.max())}, expected -1 to {last}")
        for number in range(last + 1):
            who = np.flatnonzero(level == number).astype(np.int32) + np.int32(
                rows.start
            )
            if len(who):
                state.shown.append(_make_room(state, kind, number, who))
    costs = [NODE_COST * state.kinds[s.kind].matrix_count(s.level) for s in state.shown]

    def work(own: Shown, part: slice) -> int:
        return move_nodes(
            state.kinds[own.kind].motion,
            own.level,
            own.who[part],
            state.clip,
            state.time,
            state.place,
            state.heading,
            state.size,
            out=own.matrices[part],
        )

    state.counts = SeenCounts(
        shown=sum(len(own.who) for own in state.shown),
        nodes=_share_out(state.shown, costs, work),
    )


def _make_room(state: CrowdState, kind: int, level: int, who: Ints) -> Shown:
    own = state.kinds[kind]
    count = len(who)

    def take(name: str, *shape: int) -> Floats:
        key, wanted = (kind, level, name), count * math.prod(shape)
        room = state._rooms.get(key)
        if room is None or len(room) < wanted:
            # A little more, or a slowly growing crowd would get new room every frame.
            room = state._rooms[key] = np.empty(wanted + wanted // 4, np.float32)
        return room[:wanted].reshape(count, *shape)

    binds = own.binds[level]
    return Shown(
        kind,
        level,
        who,
        take("matrices", 12 * own.matrix_count(level)),
        [take(f"p{row}", bind.place_count, 3) for row, bind in enumerate(binds)],
        [take(f"n{row}", bind.place_count, 3) for row, bind in enumerate(binds)],
    )


def skin_crowd(state: CrowdState) -> None:
    """Vertices of all who are shown, where `move_crowd` has put their nodes."""
    costs = [
        sum(bind.place_count for bind in state.kinds[s.kind].binds[s.level])
        for s in state.shown
    ]

    def work(own: Shown, part: slice) -> int:
        binds = state.kinds[own.kind].binds[own.level]
        return sum(
            skin_level(
                bind,
                own.matrices[part],
                positions=own.positions[row][part],
                normals=own.normals[row][part],
            )
            for row, bind in enumerate(binds)
        )

    state.counts.vertices = _share_out(state.shown, costs, work)
    state.counts.triangles = sum(
        len(own.who) * state.kinds[own.kind].levels.totals(own.level)[2]
        for own in state.shown
    )


def _share_out(
    shown: Sequence[Shown], costs: Sequence[int], work: Callable[[Shown, slice], int]
) -> int:
    """Do work on all threads, each character whole; gives the sum of what it gives.

    costs: of one character of each group. Who does whom makes no difference.
    """
    ends = np.cumsum([len(own.who) * c for own, c in zip(shown, costs, strict=True)])
    total = int(ends[-1]) if len(ends) else 0
    team = min(threads.thread_count(), 1 + total // LEAST_WORK)
    sums = [0] * team

    def turn(members: slice) -> None:
        for member in range(members.start, members.stop):
            for row, own in enumerate(shown):
                cost = max(costs[row], 1)
                before = int(ends[row]) - len(own.who) * costs[row]
                first, last = (
                    min(max(-(-(total * at // team - before) // cost), 0), len(own.who))
                    for at in (member, member + 1)
                )
                if first < last:
                    sums[member] += work(own, slice(first, last))

    threads.run_slices(turn, team)
    return sum(sums)
