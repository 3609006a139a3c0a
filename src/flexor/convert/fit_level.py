"""One level of detail: as few nodes, influences and triangles as its goals allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.choose_nodes import NodeWords, SlotTable, choose_slots
from flexor.convert.drop_nodes import DropPlan, fewer_influences
from flexor.convert.level_body import LevelBody, skin_body, tidy_influences
from flexor.convert.level_error import MOST_POSES, WholeSkin, skin_error, thin_out
from flexor.convert.level_surfaces import LevelSkin
from flexor.convert.simplify_body import simplify, weld_corners
from flexor.scene.level_settings import LevelChoice
from flexor.scene.node_table import NodeTable

__all__ = ["FittedLevel", "LevelGoals", "Measure", "fit_level", "make_measure"]

NODE_SHARE = 0.7  # of the goals that the loss of nodes may use up
WEIGHT_SHARE = 0.85  # that nodes and influences may use up together
FAR = 8.0  # times the goals that the plan's costs may be: surfaces slide over another
INFLUENCES = (1, 2, 4, 8)
TRIALS = 7  # numbers of triangles that are tried for a level
RANGE = 64  # how many times fewer than before there may be
WEIGHT_POSES = 4  # in which nodes and influences are tried
FEWEST = 4  # triangles
SAME = 0.97  # of the triangles before: a level that has more than that is no coarser
ATTRIBUTE_POSES = 6
# Metres that a change by 1 counts as, of the character's height.
NORMAL_WEIGHT = 0.01
TEXCOORD_WEIGHT = 0.01
TEXCOORD_GRID = 2048  # coordinates that fall on the same point are one
WEIGHT_GRID = 255
# Corners whose normals are less apart than this are one in a level that takes over
# where the character is so tall; in smaller ones edges are seen less.
WELD_ANGLE, WELD_HEIGHT = np.deg2rad(30.0), 360.0


@dataclass(frozen=True, slots=True)
class LevelGoals:
    """Metres that a level may be off, in the mean and at worst."""

    mean: float
    worst: float

    def is_met(self, error: tuple[float, float], share: float = 1.0) -> bool:
        """Whether a mean and a worst error are within a share of the goals."""
        return error[0] <= share * self.mean and error[1] <= share * self.worst


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """What levels are measured with.

    body, table, plan; used: bool (T,), numbers that pull something; rest: float32
    (J, 3, 4), world_from_node; world: float32 (N, J, 3, 4), the same in poses, those
    that differ most first; whole: the skin in them; tall: metres.
    """

    body: LevelBody
    table: NodeTable
    plan: DropPlan
    used: NDArray[np.bool_]
    rest: Floats
    world: Floats
    whole: WholeSkin
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
    full = skin_body(
        world, body.slots, body.binds, body.positions, body.joints, body.weights
    )
    whole = WholeSkin.of(full, body.faces)
    return Measure(body, table, plan, used, rest, world, whole, tall)


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
    """A level that is as coarse as its goals and its author allow."""
    steps, joints, weights = _fit_weights(measure, before, goals, choice, words, slots)
    placed = _placed(measure, slots, joints, weights)
    angle = WELD_ANGLE * WELD_HEIGHT / (choice.height or WELD_HEIGHT)
    welded = weld_corners(
        before.skin.faces,
        _weld_keys(measure.body, joints, weights),
        measure.body.normals,
        float(angle),
    )
    faces, error = _fit_faces(measure, placed, before.skin.faces, welded, goals, choice)
    skin = LevelSkin(faces, joints, weights)
    return FittedLevel(skin, steps, joints.shape[1], error)


def _placed(
    measure: Measure,
    slots: SlotTable,
    joints: NDArray[np.uint16],
    weights: Floats,
    most: int = MOST_POSES,
) -> Floats:
    """All vertices with a level's weights, in the first poses: float32 (N, V, 3)."""
    nodes, binds = np.array(slots.slots, np.int32), np.array(slots.binds, np.float32)
    world, positions = measure.world[:most], measure.body.positions
    return skin_body(world, nodes, binds, positions, joints, weights)


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

    def error(joints: NDArray[np.uint16], weights: Floats) -> tuple[float, float]:
        placed = _placed(measure, slots, joints, weights, WEIGHT_POSES)
        faces = before.skin.faces
        return skin_error(measure.whole, placed, faces, limit=goals.worst)

    costs = measure.plan.costs
    limits = FAR * np.array([goals.mean, goals.worst])
    low, high = before.steps, int(np.count_nonzero((costs <= limits).all(1)))
    while low < high:
        steps = (low + high + 1) // 2
        if goals.is_met(error(*_weights(measure, steps, words, slots)), NODE_SHARE):
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
        if most == tried[-1] or goals.is_met(error(*found), WEIGHT_SHARE):
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
            _grid(body.texcoords, TEXCOORD_GRID),
            joints.astype(np.int32),
            _grid(weights, WEIGHT_GRID),
        ],
        axis=1,
    )


def _grid(values: Floats, steps: int) -> NDArray[np.int32]:
    """Values as whole steps, those that would not fit at the end of the range."""
    most = 2**30
    return np.clip(np.round(values.astype(np.float64) * steps), -most, most).astype(
        np.int32
    )


def _fit_faces(
    measure: Measure,
    placed: Floats,
    before: Ints,
    welded: Ints,
    goals: LevelGoals,
    choice: LevelChoice,
) -> tuple[Ints, tuple[float, float]]:
    """The fewest triangles that meet the goals, and how far off they are.

    placed: float32 (N, V, 3), all vertices with the level's weights; before: faces of
    the level before; welded: the same with fewer vertices.
    """
    whole, rest = measure.whole, measure.body.rest
    attributes, weights = _attributes(measure, placed)

    def attempt(target: int, limit: float) -> tuple[Ints, tuple[float, float]]:
        faces = simplify(welded, rest, attributes, weights, target)
        return faces, skin_error(whole, placed, faces, limit=limit)

    if choice.triangles is not None:
        return attempt(min(choice.triangles, len(welded)), np.inf)
    best = welded, skin_error(whole, placed, welded)
    # Where weights alone miss the goals, triangles may go that add little to it.
    mean, worst = (1.1 * error for error in best[1])
    reach = LevelGoals(max(goals.mean, mean), max(goals.worst, worst))
    high = float(len(welded))
    low = max(high / RANGE, FEWEST / 2)
    for _ in range(TRIALS):
        target = int(np.sqrt(low * high))
        if target < FEWEST or target >= len(best[0]):
            break
        found = attempt(target, reach.worst)
        if reach.is_met(found[1]) and len(found[0]):
            best = found if len(found[0]) < len(best[0]) else best
            high = float(target)
        else:
            low = float(target)
    if len(best[0]) > SAME * len(before):
        return before, skin_error(whole, placed, before)
    return best


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
