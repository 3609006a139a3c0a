"""Steps as large as the bound allows, and the whole numbers that go with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Shorts
from flexor.convert.motion.kernels import reduce as kernel_reduce
from flexor.convert.motion.layout import Fitted, Forms, Original
from flexor.convert.motion.pack_numbers import pack_numbers
from flexor.convert.motion.plan import MotionPlan, middle_rotation
from flexor.maths import quaternions
from flexor.scene.character.clip import Track
from flexor.scene.character.tree import children_of
from flexor.scene.runtime.packed_clip import BITS, PATHS, PackedClip

__all__ = ["Fit", "fit_motion", "property_bytes", "refit_motion"]

GROWTH = (1.4, 1.15, 1.06)  # how much larger steps are tried, one after another
BUDGET = 5_000_000  # frames times nodes that are fitted while steps are made larger
LARGEST = 8.0  # share of the bound beyond which nothing is left of a movement
START = 1.0  # first steps, as shares of the bound at a node's children
TRIES = 150  # roundings of a frame that is off by more than allowed
FEW = 0.3  # share of the frames
ROUNDS = 60  # how often steps are made smaller
DEAD = 0.2  # share of the bound that a column may move without being stored
FLAT = 1.25  # axes that feel a turn alike, up to this, are laid along the motion


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Properties before their steps are known.

    turns: int16 (R, 8); gains: (R, 12), how a rotation answers to a place that is off;
    reach: (R + V, 3), metres that one unit of each number moves what is seen; bases:
    (V, 3); live: bool (R + V, 3), components that move.
    """

    turns: Shorts
    gains: Doubles
    reach: Doubles
    bases: Doubles
    live: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A packed form, and what it was found with, to find a stricter one."""

    clip: PackedClip
    columns: Columns
    follows: bool
    share: Doubles


def fit_motion(
    plan: MotionPlan, bound: float, shell: float, name: str, duration: float
) -> Fit | None:
    """The smallest packed form found that stays within the bound; None if none does."""
    best: Fit | None = None
    limits = np.full(plan.grid.frames, bound)
    title = name, duration
    for follows in (True, False) if plan.can_follow else (False,):
        columns = _measure_columns(plan, bound, shell, follows)
        call = _Fitter(plan, columns, limits, follows)
        share = np.full(len(columns.reach), START if follows else START / 3)
        # Of a vector's three components none can be taken back.
        share[len(plan.rotations) :] *= 0.8
        found = _search(plan, call, columns, bound, share)
        if found is not None:
            made = _finish(plan, call, columns, found, bound, title)
            if made is not None and (best is None or made.nbytes < best.clip.nbytes):
                best = Fit(made, columns, follows, found)
    if best is None:
        return None
    call = _Fitter(plan, best.columns, limits, best.follows)
    grown = _grow(call, best.columns, best.share, bound)
    made = _finish(plan, call, best.columns, grown, bound, title)
    if made is None or made.nbytes > best.clip.nbytes:
        return best
    return Fit(made, best.columns, best.follows, grown)


def refit_motion(
    plan: MotionPlan, fit: Fit, bound: float, limits: Doubles
) -> Fit | None:
    """The same with limits (F,) of their own for frames, none above the bound."""
    call = _Fitter(plan, fit.columns, limits, fit.follows)
    share = _search(plan, call, fit.columns, bound, fit.share.copy())
    if share is None:
        return None
    old = fit.clip.name, fit.clip.duration
    made = _finish(plan, call, fit.columns, share, bound, old)
    return None if made is None else Fit(made, fit.columns, fit.follows, share)


def _finish(
    plan: MotionPlan,
    call: _Fitter,
    columns: Columns,
    share: Doubles,
    bound: float,
    title: tuple[str, float],
) -> PackedClip | None:
    """The clip with these steps; title: its name and duration."""
    steps = _steps(columns, share, bound)
    if not call.run(steps, False):
        return None
    return _pack(plan, columns, call.numbers.astype(np.int64), steps, *title)


def _measure_columns(
    plan: MotionPlan, bound: float, shell: float, follows: bool
) -> Columns:
    turning = len(plan.rotations)
    free = {
        track.node
        for track in plan.rotations
        if not follows or _is_free(plan, track.node, bound, shell)
    }
    turns, gains = np.zeros((turning, 8), np.int16), np.zeros((turning, 12))
    reach = np.zeros((turning + len(plan.vectors), 3))
    live = np.zeros(reach.shape, bool)
    arms = _arms(plan, follows, free)
    for row, track in enumerate(plan.rotations):
        seen = arms[track.node]
        own, count = seen.reshape(-1, 3), len(seen)
        q = plan.parts[:, track.node, 3:7]
        middle = middle_rotation(q)
        turned = quaternions.multiply(_conjugate(middle), q)
        v = turned[:, :3] / (1 + turned[:, 3:])
        axes = _axes(own / np.sqrt(count), v, shell)
        frame = quaternions.from_matrix(axes)
        turns[row, :4] = _short(quaternions.multiply(middle, frame))
        turns[row, 4:] = _short(_conjugate(frame))
        across = np.linalg.norm(np.cross(own[:, None], axes.T), axis=2)
        reach[row] = 4 * np.maximum(across.max(0, initial=0.0), shell)
        # With the factors as they are stored: a hinge has an axis to the last digit.
        left, right = quaternions.normalise(turns[row].reshape(2, 4).astype(float))
        stored = quaternions.multiply(_conjugate(left), q)
        stored = quaternions.multiply(stored, _conjugate(right))
        moved = np.abs(stored[:, :3] / (1 + stored[:, 3:])).max(0)
        live[row] = moved * reach[row] > DEAD * bound
        spread = _inertia(own) / count + 2 * shell * shell * np.eye(3)
        gains[row, :9] = np.linalg.inv(spread).ravel()
        gains[row, 9:] = own.sum(0) / count
    bases = np.zeros((len(plan.vectors), 3))
    for row, track in enumerate(plan.vectors):
        first = 0 if track.path == "translation" else 7
        values = plan.parts[:, track.node, first : first + 3]
        bases[row] = ((values.max(0) + values.min(0)) / 2).astype(np.float32)
        reach[turning + row] = _vector_reach(plan, track, arms, shell)
        moved = np.abs(values - bases[row]).max(0) * reach[turning + row]
        live[turning + row] = moved > DEAD * bound
    return Columns(turns, gains, reach, bases, live)


def _is_free(plan: MotionPlan, node: int, bound: float, shell: float) -> bool:
    """Whether a node turns about all of its axes, not like a hinge."""
    q = plan.parts[:, node, 3:7]
    turned = quaternions.multiply(_conjugate(middle_rotation(q)), q)
    v = turned[:, :3] / (1 + turned[:, 3:])
    least = np.linalg.eigh((v - v.mean(0)).T @ (v - v.mean(0)) / len(v))[0][0]
    return bool(4 * np.sqrt(max(least, 0)) * shell > 0.5 * DEAD * bound)


def _conjugate(q: Doubles) -> Doubles:
    turned_back: Doubles = q * np.array([-1.0, -1.0, -1.0, 1.0])
    return turned_back


def _short(q: Doubles) -> Shorts:
    return np.rint(q * 32767).astype(np.int16)


def _arms(plan: MotionPlan, follows: bool, free: set[int]) -> dict[int, Doubles]:
    """Of each node that moves the places (n, K, 3), seen from it in some frames, of
    nodes that its turns move: its children and what hangs on those that are not free to
    turn, or all below it if they do not take back what it is off by.
    """
    skeleton = plan.layout.skeleton
    count = len(skeleton)
    children = [
        [node for node in own if node not in skeleton.links]
        for own in children_of(skeleton.parents)
    ]
    places = plan.world.reshape(-1, count, 3, 4)[..., 3]
    few = slice(None, None, max(1, len(places) // 32))
    arms = {}
    for node in {track.node for track in (*plan.rotations, *plan.vectors)}:
        inverse = _conjugate(plan.turned[few, node])
        own: list[Doubles] = []
        open_nodes = list(children[node])
        while open_nodes:
            below = open_nodes.pop()
            away = places[few, below] - places[few, node]
            distance = np.sqrt((away * away).sum(1)).max()
            if not follows or distance < 1e-6 or below not in free:
                open_nodes += children[below]
            if distance >= 1e-6:
                own.append(_turn(inverse, away))
        arms[node] = np.stack(own, 1) if own else np.zeros((len(inverse), 0, 3))
    return arms


def _turn(q: Doubles, v: Doubles) -> Doubles:
    t = 2 * quaternions.cross(q[:, :3], v)
    turned: Doubles = v + q[:, 3:] * t + quaternions.cross(q[:, :3], t)
    return turned


def _inertia(arms: Doubles) -> Doubles:
    """How strongly turns about each direction move the arms: (3, 3)."""
    squares = (arms * arms).sum()
    spread: Doubles = squares * np.eye(3) - arms.T @ arms
    return spread


def _axes(arms: Doubles, v: Doubles, shell: float) -> Doubles:
    """Axes (3, 3), in columns, for the numbers of a rotation v (F, 3): the one along
    which it is felt least, then those along which it moves.
    """
    felt, axes = np.linalg.eigh(_inertia(arms) + shell * shell * np.eye(3))
    centred = v - v.mean(0)
    moved = centred.T @ centred
    for first, last in ((0, 3), (1, 3), (0, 2)):
        if felt[last - 1] <= FLAT * FLAT * felt[first]:
            plane = axes[:, first:last]
            axes[:, first:last] = plane @ np.linalg.eigh(plane.T @ moved @ plane)[1]
            break
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return axes


def _vector_reach(
    plan: MotionPlan, track: Track, arms: dict[int, Doubles], shell: float
) -> float:
    """Metres that a translation, or a scale, moves what is seen when it grows by 1."""
    parent = plan.layout.skeleton.parents[track.node]
    size = 1.0
    if parent >= 0:
        axes = plan.world[:, parent].reshape(-1, 3, 4)[..., :3]
        size = float(np.sqrt((axes * axes).sum(1)).max())
    if track.path == "translation":
        return max(size, 1e-12)
    below = np.linalg.norm(arms[track.node], axis=2).max(initial=0.0)
    own = plan.world[:, track.node].reshape(-1, 3, 4)[..., :3]
    least = float(np.sqrt((own * own).sum(1)).min())
    # Arms are in metres of the scene; of a scale s they are s times as long.
    return max(float(below), shell) * size / max(least, 1e-12)


def _search(
    plan: MotionPlan, call: _Fitter, columns: Columns, bound: float, share: Doubles
) -> Doubles | None:
    """Steps (shares of the bound) with which every frame is within it: made smaller
    where they must be.
    """
    chains = _chains(plan)
    for attempt in range(ROUNDS):
        steps = _steps(columns, share, bound)
        is_good = call.run(steps, False, 0)
        # Other roundings help where few frames are over.
        if not is_good and (call.errors.max(1) > call.limits).mean() < FEW:
            is_good = call.run(steps, False)
        if is_good:
            return share
        over = call.errors / call.limits[:, None]
        # What moves a node and is near to it is blamed first; later all that does.
        depth = 2 if attempt < 12 else 4 if attempt < 24 else len(chains)
        shrink = np.ones(len(share))
        for node in np.flatnonzero((over > 1).any(0)).tolist():
            least = max(0.5, min(0.93, 1 / over[:, node].max()))
            for row in chains[node][:depth]:
                shrink[row] = min(shrink[row], least)
        if (shrink == 1).all():
            return None  # what is off is not packed
        share = share * shrink
    return None


def _steps(columns: Columns, share: Doubles, bound: float) -> Doubles:
    """Steps (R + V, 3) as they will be stored."""
    steps = np.where(columns.live, share[:, None] * bound / columns.reach, 0)
    return steps.astype(np.float32).astype(np.float64)


def _grow(call: _Fitter, columns: Columns, share: Doubles, bound: float) -> Doubles:
    """Steps (shares of the bound) made larger, property by property, as long as every
    frame stays within the bound.
    """
    order = np.argsort(-columns.live.sum(1), kind="stable").tolist()
    left = max(20, BUDGET // max(call.errors.size, 1))
    for factor in GROWTH:
        is_open = [bool(columns.live[row].any()) for row in order]
        while any(is_open):
            for i, row in enumerate(order):
                if not is_open[i]:
                    continue
                left -= 1
                if left < 0:
                    return share
                tried = share.copy()
                tried[row] *= factor
                if tried[row] < LARGEST and call.run(
                    _steps(columns, tried, bound), True
                ):
                    share = tried
                else:
                    is_open[i] = False
    return share


class _Fitter:
    """Runs the kernel again and again for one clip."""

    def __init__(
        self, plan: MotionPlan, columns: Columns, limits: Doubles, follows: bool
    ) -> None:
        turning, total = len(plan.rotations), len(columns.reach)
        count = len(plan.layout.skeleton)
        drivers = np.full((count, 3), kernel_reduce.EXACT, np.int32)
        for row, track in enumerate(plan.rotations):
            drivers[track.node, 0] = row
        for row, track in enumerate(plan.vectors):
            drivers[track.node, 1 if track.path == "translation" else 2] = row
        factors = columns.turns.reshape(-1, 2, 4).astype(np.float64)
        self.frames = np.arange(plan.grid.frames, dtype=np.int32)
        self.limits = limits
        self.original = Original(
            plan.nodes,
            _padded(_chains(plan)),
            drivers,
            plan.parts,
            plan.turned,
            plan.world,
            plan.shells,
            plan.still,
            limits,
        )
        self.forms = Forms(
            quaternions.normalise(factors).ravel(),
            columns.gains.ravel(),
            columns.bases.ravel(),
            turning,
            follows,
        )
        self.errors = np.zeros((plan.grid.frames, count))
        self.numbers = np.zeros((plan.grid.frames, 3 * total), np.int32)
        self.fitted = Fitted(
            self.errors,
            self.numbers,
            np.zeros(16 * count + 60),
            np.zeros((2, 3 * total)),
            np.zeros(3 * total, np.int32),
            np.zeros(count),
        )

    def run(self, steps: Doubles, stops: bool, tries: int = TRIES) -> bool:
        """Fill numbers and errors (F, J) with these steps; whether all is within the
        limits; stops: whether to give up at the first frame that is not; tries: other
        roundings of such a frame.
        """
        over = kernel_reduce.fit_frames(
            self.frames,
            self.original,
            self.forms,
            steps.ravel(),
            tries,
            stops,
            self.fitted,
        )
        if over >= 0:
            # It is likely to be over again: next time it is the first.
            at = int(np.flatnonzero(self.frames == over)[0])
            self.frames[1 : at + 1] = self.frames[:at].copy()
            self.frames[0] = over
        return over < 0


def _chains(plan: MotionPlan) -> list[list[int]]:
    """Of each node the packed properties that move it, nearest first."""
    own: dict[int, list[int]] = {}
    for row, track in enumerate((*plan.rotations, *plan.vectors)):
        own.setdefault(track.node, []).append(row)
    parents = plan.layout.skeleton.parents
    chains: list[list[int]] = [[] for _ in parents]
    for node in plan.layout.skeleton.order:
        parent = parents[node]
        above = chains[parent] if parent >= 0 else []
        chains[node] = [*own.get(int(node), []), *above]
    return chains


def _padded(chains: list[list[int]]) -> NDArray[np.int32]:
    """Lists as rows (J, any) that end with -1."""
    width = max(map(len, chains), default=0) + 1
    rows = [chain + [-1] * (width - len(chain)) for chain in chains]
    return np.array(rows, np.int32).reshape(-1, width)


def _pack(
    plan: MotionPlan,
    columns: Columns,
    numbers: NDArray[np.int64],
    steps: Doubles,
    name: str,
    duration: float,
) -> PackedClip | None:
    """A clip of numbers; None where one is too large."""
    used = np.flatnonzero((numbers != 0).any(0))
    if not len(used):
        return None  # nothing moves: that is better said with keys
    packed = pack_numbers(np.ascontiguousarray(numbers[:, used]))
    if packed is None:
        return None
    segment, widths, words = packed
    return PackedClip(
        name,
        plan.grid.start,
        plan.grid.rate,
        plan.grid.frames,
        duration,
        segment,
        np.array([track.node for track in plan.rotations], np.uint16),
        columns.turns.copy(),
        np.array([track.node for track in plan.vectors], np.uint16),
        np.array([PATHS.index(track.path) for track in plan.vectors], np.uint8),
        columns.bases.astype(np.float32),
        used.astype(np.uint16),
        steps.ravel()[used].astype(np.float32),
        widths,
        words,
        plan.keyed,
    )


def property_bytes(clip: PackedClip) -> Doubles:
    """Bytes that each packed property (rotations, then vectors) takes."""
    turning, moving = len(clip.rotation_nodes), len(clip.vector_nodes)
    out = np.array([18.0] * turning + [15.0] * moving)
    count = len(clip.slots)
    codes = np.stack([clip.widths & 15, clip.widths >> 4], -1)
    codes = codes.reshape(clip.segments, 3, -1)[..., :count]
    bits = BITS[codes].astype(np.float64)
    blocks = np.full(clip.segments, clip.segment)
    blocks[-1] = clip.blocks - clip.segment * (clip.segments - 1)
    of_block = bits[:, 0] + bits[:, 1] + 2 * bits[:, 2]
    own = blocks @ of_block / 8 + bits[-1, 0] / 8 + 6 + 1.5 * clip.segments
    np.add.at(out, clip.slots // 3, own)
    return out
