"""New weights for a body from nothing but its shape and its joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import Body, Pull, merge_same
from flexor.convert.shape.chains import find_chains
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.shape.solid import make_solid, winding_numbers
from flexor.convert.shape.surface import Surface
from flexor.convert.weights.bind_pieces import (
    bones_of_pieces,
    find_seams,
    join_pieces,
    spare_skin,
    stiffen_pieces,
    stiffen_rigid,
)
from flexor.convert.weights.bone_heat import (
    face_normals,
    find_heat,
    largest_weights,
    make_laplacian,
    solve_heat,
    turn_outward,
)
from flexor.convert.weights.choose_bones import BoneLines, choose_joints, make_lines
from flexor.errors import SettingError
from flexor.scene.character.mirror_pairs import mirror_pairs
from flexor.scene.finding import Finding

__all__ = ["body_lines", "regenerate_pass", "regenerate_weights"]

MINE = 0.5  # of a vertex's weight: it belongs to the joints that have as much
INSIDE = 0.4  # turns of the surface around a joint
CLOSE = 0.01  # of the size: a joint so near to the skin counts as inside


def regenerate_pass(task: BodyTask) -> Mended:
    """New weights from shape and joints."""
    task.note(f"regenerating {len(task.body):,} vertices")
    pull = regenerate_weights(task.facts, task.joints)
    text = "weights were made from shape and joints"
    found = Finding("info", "weights-regenerated", task.where, text)
    return Mended(pull, (found,))


def regenerate_weights(facts: BodyFacts, joints: Ints | None = None) -> Pull:
    """New weights of the body's V vertices.

    joints: rows of joints: only vertices that hang mostly on these get new weights, and
    of these alone; None: all. Which joints are bones is judged by the body; each point
    of the surface is heated by the nearest bone that it sees, and the heat flows along
    the surface until it is at rest. What is small and has no bone of its own hangs on
    what it sits on, and what is rigid on one bone.
    """
    body, surface = facts.body, facts.by_place
    new = _heat_weights(body, surface, joints).take(surface.point_of_vertex)
    if joints is None:
        return new
    chosen = np.where(np.isin(body.pull.joints, joints), body.pull.weights, 0)
    is_mine = chosen.sum(1)[:, None] >= MINE
    width = max(new.joints.shape[1], body.pull.joints.shape[1])
    old, new = body.pull.widened(width), new.widened(width)
    return Pull(
        np.where(is_mine, new.joints, old.joints),
        np.where(is_mine, new.weights, old.weights),
    )


def body_lines(body: Body, surface: Surface, joints: Ints | None = None) -> BoneLines:
    """The bones of a body as lines; joints: rows to choose from, None: to be judged."""
    form = _Form.of(body, surface)
    return _lines(body, form, joints)


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """A surface as heat sees it: points: (P, 3); faces: (F, 3), no corner twice."""

    points: Doubles
    faces: Ints

    @classmethod
    def of(cls, body: Body, surface: Surface) -> _Form:
        faces = surface.point_of_vertex[body.faces]
        is_whole = (faces != np.roll(faces, 1, axis=1)).all(1)
        return cls(
            np.ascontiguousarray(surface.positions, np.float64),
            np.ascontiguousarray(faces[is_whole], np.int32),
        )


def _lines(body: Body, form: _Form, joints: Ints | None) -> BoneLines:
    from scipy.spatial import cKDTree

    heads = np.ascontiguousarray(body.frames[:, :, 3])
    triangles = form.points[form.faces]
    is_inside = np.abs(winding_numbers(heads, triangles)) > INSIDE
    is_inside |= cKDTree(form.points).query(heads)[0] < CLOSE * body.size
    # What holds on one side of a body holds on the other, but for a hair's breadth.
    twins = _twins(body)
    is_inside |= is_inside[twins]
    parents = find_chains(heads, body.parents, is_inside, body.size)
    if joints is None:
        joints = choose_joints(triangles, heads, parents, body.size)
        joints = np.union1d(joints, twins[joints]).astype(np.int32)
    return make_lines(form.points, heads, parents, joints, body.size)


def _twins(body: Body) -> Ints:
    """For each joint its twin on the other side, else itself: int32 (S,)."""
    try:
        return mirror_pairs(body.names, body.frames)
    except SettingError:  # posed, or a side of it is missing
        return np.arange(len(body.names), dtype=np.int32)


def _heat_weights(body: Body, surface: Surface, joints: Ints | None) -> Pull:
    """Weights of the surface's points."""
    form = _Form.of(body, surface)
    points, faces, size = form.points, form.faces, body.size
    lines = _lines(body, form, joints)
    seams = find_seams(points, faces, surface.pieces, size)
    pieces = join_pieces(surface.pieces, seams)
    homes, is_seat = bones_of_pieces(points, faces, pieces, lines)
    names = [body.names[row] for row in lines.rows.tolist()]
    spare_skin(homes, names, points, pieces, size)
    is_boneless = np.asarray(~homes.any(1))
    homes[is_boneless] = True
    faces = turn_outward(points, faces, surface.normals.astype(np.float64))
    normals = face_normals(points, faces)
    solid = make_solid(points, faces)
    heat = find_heat(points, faces, normals, pieces, homes, lines, solid)
    weights = solve_heat(*make_laplacian(points, faces, seams), heat, len(lines.rows))
    stiffen_pieces(weights, points, pieces, is_boneless, is_seat, size)
    is_rigid = np.zeros(len(points), bool)
    is_rigid[surface.point_of_vertex[body.rigid]] = True
    stiffen_rigid(weights, pieces, is_rigid)
    bones, amounts = largest_weights(weights)
    return merge_same(lines.rows[bones], amounts)
