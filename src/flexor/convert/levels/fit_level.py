"""One level of detail: as few nodes, influences and triangles as its goals allow."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.levels.body import LevelBody, skin_body, tidy_influences
from flexor.convert.levels.choose_nodes import NodeWords, SlotTable, choose_slots
from flexor.convert.levels.drop_nodes import DropPlan, fewer_influences
from flexor.convert.levels.error import MOST_POSES, WholeSkin, skin_error, thin_out
from flexor.convert.levels.few_triangles import few_triangles
from flexor.convert.levels.fit_shape import RestFrames, rest_frames, shape_body
from flexor.convert.levels.simplify_body import simplify, weld_corners
from flexor.convert.levels.surfaces import LevelSkin
from flexor.scene.runtime.level_settings import ROWS, LevelChoice
from flexor.scene.runtime.node_table import NodeTable

__all__ = ["FittedLevel", "LevelGoals", "Measure", "fit_level", "make_measure"]

NODE_SHARE = 0.5  # of the goals that the loss of nodes may use up
WEIGHT_SHARE = 0.6  # that nodes and influences may use up together
# Of the mean and of the worst that all may use up. A character that is off by the whole
# goal everywhere has another shape, and pops where its level changes: with half of the
# mean its pixels then change 2.5 times as much as by its own steps, with this 1.8.
MEAN_SHARE, WORST_SHARE = 0.3, 0.8
FAR = 8.0  # times the goals that the plan's costs may be: surfaces slide over another
INFLUENCES = (1, 2, 4, 8)
TRIALS = 7  # numbers of triangles that are tried for a level
RANGE = 64  # how many times fewer than before there may be
FEWEST = 4  # triangles
REFITS = 2  # times that a level is looked for again
LOCKS = 4  # times that vertices are held where points were missed
MOST_LOCKS = 16  # how many each time
PRUNE_SHARE = 0.5  # of the worst that may be off where small parts vanished
SAME = 0.97  # of the triangles before: a level that has more than that is no coarser
ATTRIBUTE_POSES = 6
# Metres that a change by 1 counts as, of the character's height.
NORMAL_WEIGHT = 0.01
TEXCOORD_WEIGHT = 0.01
WEIGHT_GRID = 255  # weights that fall on the same point of it are one
# Corners at one place become one vertex where it is hardly seen: if their normals are
# not further apart than so many radians, and their texture coordinates so far, for a
# character of one pixel.
WELD_ANGLE = np.deg2rad(20.0) * 360
WELD_REACH = 4.0
MOST_WELD_ANGLE = np.deg2rad(80.0)  # the corners of a box stay


@dataclass(frozen=True, slots=True)
class LevelGoals:
    """Metres that a level may be off, in the mean and at worst."""

    mean: float
    worst: float

    def is_met(self, error: tuple[float, float], share: float = 1.0) -> bool:
        """Whether a mean and a worst error are within a share of the goals."""
        return error[0] <= share * self.mean and error[1] <= share * self.worst

    def narrowed(self, wanted: LevelGoals, error: tuple[float, float]) -> LevelGoals:
        """Goals with which what was off by `error` should come within the wanted."""
        over = max(error[0] / wanted.mean, error[1] / wanted.worst)
        return LevelGoals(0.95 * self.mean / over, 0.95 * self.worst / over)


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """What levels are measured with.

    body, table, plan; used: bool (T,), numbers that pull something; rest: float32
    (J, 3, 4), world_from_node; world: float32 (N, J, 3, 4), the same in poses, those
    that differ most first; whole: the skin in them; all_world, all_whole: the same for
    all poses, in which a level that was found is measured once more; at_rest: how
    vertices lie at rest; tall: metres.
    """

    body: LevelBody
    table: NodeTable
    plan: DropPlan
    used: NDArray[np.bool_]
    rest: Floats
    world: Floats
    whole: WholeSkin
    all_world: Floats
    all_whole: WholeSkin
    at_rest: RestFrames
    tall: float


@dataclass(frozen=True, slots=True, eq=False)
class FittedLevel:
    """A level and what it was made with.

    skin: its faces and weights; steps: of the plan that were taken; influences: the
    most a vertex; error: metres off, in the mean and at worst.
    """

    skin: LevelSkin
    steps: int
    influences: int
    error: tuple[float, float]


def make_measure(
    body: LevelBody,
    table: NodeTable,
    plan: DropPlan,
    used: NDArray[np.bool_],
    rest: Floats,
    poses: Floats,
    tall: float,
) -> Measure:
    """Choose those of poses (P, J, 3, 4) that differ most."""
    some = thin_out(np.arange(len(body), dtype=np.int32), 256)
    influences = body.joints[some], body.weights[some]
    placed = skin_body(poses, body.slots, body.binds, body.positions[some], *influences)
    world = poses[_spread(placed - placed.mean(1, keepdims=True), MOST_POSES)]
    wholes = [
        WholeSkin.of(
            skin_body(
                own, body.slots, body.binds, body.positions, body.joints, body.weights
            ),
            body.faces,
        )
        for own in (world, poses)
    ]
    at_rest = rest_frames(body, rest)
    return Measure(
        body, table, plan, used, rest, world, wholes[0], poses, wholes[1], at_rest, tall
    )


def _spread(placed: Floats, most: int) -> NDArray[np.intp]:
    """At most `most` of poses (N, V, 3), each as far from those before as can be."""
    away = np.full(len(placed), np.inf)
    chosen: list[int] = []
    last = placed.mean(0)
    while len(chosen) < min(most, len(placed)):
        away = np.minimum(away, ((placed - last) ** 2).mean((1, 2)))
        away[chosen] = -1
        chosen.append(int(np.argmax(away)))
        last = placed[chosen[-1]]
    return np.array(chosen, np.intp)


def fit_level(
    measure: Measure,
    before: FittedLevel,
    goals: LevelGoals,
    choice: LevelChoice,
    words: NodeWords,
    slots: SlotTable,
) -> FittedLevel:
    """A level that is as coarse as its goals and its author allow.

    It is looked for in few poses and then measured in all; if it is off by too much in
    another one, it is looked for again with narrower goals.
    """
    within = goals
    for _ in range(1 + REFITS):
        level = _fit(measure, before, within, choice, words, slots)
        error = _error_in_all(measure, level, slots)
        if goals.is_met(error) or choice.triangles is not None:
            break
        within = within.narrowed(goals, error)
    return replace(level, error=error)


def _error_in_all(
    measure: Measure, level: FittedLevel, slots: SlotTable
) -> tuple[float, float]:
    """How far off a level is in all poses."""
    placed, faces = _placed_faces(measure.body, measure.all_world, level.skin, slots)
    return skin_error(measure.all_whole, placed, faces)


def _placed_faces(
    body: LevelBody, world: Floats, skin: LevelSkin, slots: SlotTable
) -> tuple[Floats, Ints]:
    """The vertices of a level's faces in poses (N, W, 3), and the faces as their rows.

    Of coarse levels these are few: the others of the body are not placed.
    """
    nodes, binds = np.array(slots.slots, np.int32), np.array(slots.binds, np.float32)
    positions = body.positions if skin.positions is None else skin.positions
    used = np.unique(skin.faces)
    row = np.zeros(len(body), np.int32)
    row[used] = np.arange(len(used))
    influences = skin.joints[used], skin.weights[used]
    placed = skin_body(world, nodes, binds, positions[used], *influences)
    return placed, row[skin.faces]


def _fit(
    measure: Measure,
    before: FittedLevel,
    goals: LevelGoals,
    choice: LevelChoice,
    words: NodeWords,
    slots: SlotTable,
) -> FittedLevel:
    """The same, measured in few poses."""
    steps, joints, weights = _fit_weights(measure, before, goals, choice, words, slots)
    body, height = measure.body, choice.height or ROWS
    welded = weld_corners(
        before.skin.faces,
        _weld_keys(body, joints, weights),
        body.normals,
        body.texcoords,
        angle=min(WELD_ANGLE / height, MOST_WELD_ANGLE),
        reach=WELD_REACH / height,
    )
    trial = _Trial(measure, slots, joints, weights)
    skin, error = _fit_faces(trial, before.skin, welded, goals, choice)
    return FittedLevel(skin, steps, joints.shape[1], error)


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """Weights of a level, to be tried with faces."""

    measure: Measure
    slots: SlotTable
    joints: NDArray[np.uint16]
    weights: Floats

    def skin(self, faces: Ints) -> LevelSkin:
        """Faces with vertices moved so that they fill the body."""
        measure = self.measure
        shape = shape_body(measure.body, measure.at_rest, measure.whole.rows, faces)
        return LevelSkin(faces, self.joints, self.weights, *shape)

    def placed(self) -> Floats:
        """All vertices in the poses: float32 (N, V, 3)."""
        measure, slots = self.measure, self.slots
        nodes = np.array(slots.slots, np.int32)
        binds = np.array(slots.binds, np.float32)
        return skin_body(
            measure.world,
            nodes,
            binds,
            measure.body.positions,
            self.joints,
            self.weights,
        )

    def error(
        self,
        skin: LevelSkin,
        limit: float = np.inf,
        away: NDArray[np.float64] | None = None,
    ) -> tuple[float, float]:
        """How far a skin is off: see skin_error."""
        measure = self.measure
        tried = replace(skin, joints=self.joints, weights=self.weights)
        placed, faces = _placed_faces(measure.body, measure.world, tried, self.slots)
        return skin_error(measure.whole, placed, faces, limit=limit, away=away)


def _fit_weights(
    measure: Measure,
    before: FittedLevel,
    goals: LevelGoals,
    choice: LevelChoice,
    words: NodeWords,
    slots: SlotTable,
) -> tuple[int, NDArray[np.uint16], Floats]:
    """Steps of the plan, and the fewest influences that will do after them.

    Both are measured on the triangles of the level before.
    """

    def will_do(joints: NDArray[np.uint16], weights: Floats, share: float) -> bool:
        skin, trial = before.skin, _Trial(measure, slots, joints, weights)
        return goals.is_met(trial.error(skin, share * goals.worst), share)

    costs = measure.plan.costs
    limits = FAR * np.array([goals.mean, goals.worst])
    low, high = before.steps, int(np.count_nonzero((costs <= limits).all(1)))
    while low < high:
        steps = (low + high + 1) // 2
        if will_do(*_weights(measure, steps, words, slots), NODE_SHARE):
            low = steps
        else:
            high = steps - 1
    joints, weights = _weights(measure, low, words, slots)
    wide = joints.shape[1]
    tried = [most for most in INFLUENCES if most < wide] + [min(wide, INFLUENCES[-1])]
    if choice.influences is not None:
        tried = [choice.influences]
    for most in tried:
        found = tidy_influences(*fewer_influences(joints, weights, most))
        if most == tried[-1] or will_do(*found, WEIGHT_SHARE):
            break
    return low, *found


def _weights(
    measure: Measure, steps: int, words: NodeWords, slots: SlotTable
) -> tuple[NDArray[np.uint16], Floats]:
    """Weights of all vertices after some steps of the plan."""
    become = choose_slots(
        measure.plan, measure.table, measure.used, steps, words, slots, measure.rest
    )
    return tidy_influences(become[measure.body.joints], measure.body.weights)


def _weld_keys(
    body: LevelBody, joints: NDArray[np.uint16], weights: Floats
) -> NDArray[np.int32]:
    """What must be the same in vertices that become one: int32 (V, C)."""
    return np.concatenate(
        [
            (body.rest + np.float32(0)).view(np.int32),
            body.materials[:, None],
            joints.astype(np.int32),
            np.round(weights * np.float32(WEIGHT_GRID)).astype(np.int32),
        ],
        axis=1,
    )


def _fit_faces(
    trial: _Trial,
    before: LevelSkin,
    welded: Ints,
    goals: LevelGoals,
    choice: LevelChoice,
) -> tuple[LevelSkin, tuple[float, float]]:
    """The fewest triangles that meet the goals, and how far off they are.

    before: the level before; welded: its faces with fewer vertices.
    """
    whole, rest = trial.measure.whole, trial.measure.body.rest
    attributes, weights = _attributes(trial.measure, trial.placed())
    locked = np.zeros(len(rest), bool)
    used = np.unique(welded)

    def attempt(
        target: int, within: LevelGoals
    ) -> tuple[LevelSkin, tuple[float, float]]:
        """Fewer triangles; where points are missed, vertices there are held.

        Small parts may vanish at first, such as buttons; if that is seen, as with a rod
        that holds an arm, they all stay.
        """
        for left in reversed(range(LOCKS + 1)):
            faces = simplify(
                welded, rest, attributes, weights, target, locked, prune=left == LOCKS
            )
            skin, away = trial.skin(faces), np.zeros(len(whole.rows))
            limit = pruned if left == LOCKS else within.worst
            error = trial.error(skin, limit, away)
            # Where much is off in the first poses, a few that are held are no help.
            if error[1] <= limit or error[0] > 2 * within.mean or not left:
                break
            missed = _worst(rest[whole.rows], away, limit)
            if not len(missed) and left < LOCKS:
                break  # what is off is the level's own
            ways = rest[used] - rest[whole.rows[missed], None]
            near = used[np.argmin((ways**2).sum(2), axis=1)]
            # One alone does not hold what the others around it fall onto.
            again = near[locked[near]]
            locked[welded[np.isin(welded, again).any(1)]] = True
            locked[near] = True
        return skin, error

    if choice.triangles is not None:
        most, kinds = choice.triangles, trial.measure.body.materials
        faces = few_triangles(welded, rest, attributes, weights, most, kinds)
        skin = trial.skin(faces)
        return skin, trial.error(skin)
    skin = trial.skin(welded)
    best = skin, trial.error(skin)
    # Where weights alone miss the goals, triangles may go that add little to it.
    mean, worst = (1.1 * error for error in best[1])
    reach = LevelGoals(
        max(MEAN_SHARE * goals.mean, mean), max(WORST_SHARE * goals.worst, worst)
    )
    pruned = max(PRUNE_SHARE * reach.worst, worst)
    high = float(len(welded))
    low = max(high / RANGE, FEWEST / 2)
    good = locked.copy()
    for _ in range(TRIALS):
        target = int(np.sqrt(low * high))
        if target < FEWEST or target >= len(best[0].faces):
            break
        found = attempt(target, reach)
        if reach.is_met(found[1]) and len(found[0].faces):
            best = found if len(found[0].faces) < len(best[0].faces) else best
            high = float(target)
            good[:] = locked
        else:
            low = float(target)
            locked[:] = good
    if len(best[0].faces) > SAME * len(before.faces):
        same = replace(before, joints=trial.joints, weights=trial.weights)
        return same, trial.error(same)
    return best


def _worst(places: Floats, away: NDArray[np.float64], limit: float) -> NDArray[np.intp]:
    """Some of the points (P, 3) that are furthest off, none of them near another."""
    left = np.flatnonzero(away > limit)
    left = left[np.argsort(-away[left], kind="stable")]
    found: list[int] = []
    while len(left) and len(found) < MOST_LOCKS:
        found.append(int(left[0]))
        ways = places[left] - places[left[0]]
        left = left[np.linalg.norm(ways, axis=1) > limit]
    return np.array(found, np.intp)


def _attributes(measure: Measure, placed: Floats) -> tuple[Floats, Floats]:
    """What the simplifier should keep beside the shape at rest: (V, A), weights (A,).

    Normals, texture coordinates, and how far vertices move in poses, so that vertices
    stay where the skin bends.
    """
    body = measure.body
    moved = (placed[:ATTRIBUTE_POSES] - body.rest).transpose(1, 0, 2)
    poses = moved.shape[1]
    columns = [body.normals, body.texcoords, moved.reshape(len(body), -1)]
    weights = np.repeat(
        [NORMAL_WEIGHT * measure.tall, TEXCOORD_WEIGHT * measure.tall, poses**-0.5],
        [3, 2, 3 * poses],
    )
    return (
        np.ascontiguousarray(np.concatenate(columns, axis=1), np.float32),
        weights.astype(np.float32),
    )
