"""Joints that a repair without options makes better: how they look before and after.

What an eye sees of bad skin in poses of clips (at random, where there are none), joint
by joint whether any looks worse, and two turns that are hard for skin: a forearm wound
up by 170 degrees, and an elbow bent by 150.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from flexor import samples
from flexor.api.character import Character
from flexor.api.load_save import save
from flexor.api.repair.repair import repair
from flexor.arrays import Doubles, Floats
from flexor.bench.timing import Result
from flexor.convert.shape.deform_body import bind_body, deform_body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.judge_joints import is_worse
from flexor.convert.shape.strain import find_strain, make_form
from flexor.maths import quaternions
from flexor.pose.layout import ROWS
from flexor.scene.human.human import find_human

__all__ = ["elbow_folds", "forearm_left", "run"]

ELBOW = "leftLowerArm"
TWIST, BEND = np.radians(170), np.radians(150)
SLICES = 11  # from a tenth of the forearm before the elbow to the wrist
FEWEST = 6  # vertices in a slice
THICK = 2.5  # times its median radius: what stands further out is no forearm


def run(characters: Mapping[str, Character]) -> Iterator[Result]:
    """The mannequin and the characters given."""
    for name, character in {"mannequin": samples.mannequin(), **characters}.items():
        yield from _repair(name, character)
        yield from _forearm(name, character)


def _repair(name: str, character: Character) -> Iterator[Result]:
    """What a repair without options does to a character."""
    started = perf_counter()
    better, report = repair(character)
    seconds = perf_counter() - started
    assert report.strains is not None
    where = "clips" if character.clips else "random poses"
    for word, (folds, torn, squeezed) in zip(
        ("before", "after"), report.strains, strict=True
    ):
        note = f"{folds:.1f} edges folded, {torn:.1f} triangles torn in a pose"
        note = f"{note}, {squeezed:.1f} squeezed; {where}"
        yield Result(f"joints/strain/{name}/{word}", folds + torn, "a pose", note)
    looked = [
        (one.looked, one.looks)
        for one in report.joints
        if one.looked is not None and one.looks is not None
    ]
    for word, at in (("before", 0), ("after", 1)):
        total = sum(pair[at].score for pair in looked)
        note = f"the scores of all {len(looked)} joints together"
        yield Result(f"joints/score/{name}/{word}", total, "", note)
    worse = sum(is_worse(new, old) for old, new in looked)
    note = "joints whose score rises by more than 0.02, or 2 % where it was above 1"
    yield Result(f"joints/worse/{name}", worse, "joints", note)
    links = len(better.skeleton.links) - len(character.skeleton.links)
    note = f"a repair without options, {links} links put in, with both judgements"
    yield Result(f"joints/seconds/{name}", seconds, "s", note)
    note = "bytes of the repaired file beside those of the same without"
    yield Result(f"joints/growth/{name}", _growth(character, better), "x", note)


def _growth(before: Character, after: Character) -> float:
    sizes = []
    with TemporaryDirectory() as folder:
        for number, one in enumerate((before, after)):
            file = Path(folder) / f"{number}.glb"
            save(one, file)
            sizes.append(file.stat().st_size)
    return sizes[1] / sizes[0]


def _forearm(name: str, character: Character) -> Iterator[Result]:
    """The hard turns of a human's left forearm."""
    skeleton = character.skeleton
    node = find_human(skeleton, character.scene.carried).nodes.get(ELBOW)
    if node is None or skeleton.links:
        return
    linked = repair(character, links=3, has_measures=False)[0]
    wound = repair(character, links=3, twists=6, always=True, has_measures=False)[0]
    joint = skeleton.names[node]
    for word, one in (("before", character), ("links", linked), ("twists", wound)):
        left = forearm_left(SceneFacts(one.scene), node)
        if left is None:
            return
        note = f"{joint} twisted by 170 degrees: the least mean radius of a slice left"
        yield Result(f"joints/twist170/{name}/{word}", left, "x", note)
    automatic = repair(character, has_measures=False)[0]
    for word, one in (("before", character), ("after", automatic)):
        folds, far = elbow_folds(SceneFacts(one.scene), node)
        note = f"{joint} bent by 150 degrees, the worst of four ways: {folds} edges "
        note += "folded; the value: those more than a radius from the crease"
        yield Result(f"joints/elbow150/{name}/{word}", far, "edges", note)


def _bodies(facts: SceneFacts, node: int) -> Iterator[tuple[BodyFacts, int]]:
    """The bodies that a joint moves, and its row in each."""
    for own in facts.bodies:
        row = own.body.row_of.get(node, -1)
        if row >= 0 and own.shape_by_place.bones.lengths[row] > 0:
            yield own, row


def _turned(facts: SceneFacts, own: BodyFacts, row: int, turn: Doubles) -> Floats:
    """The vertices (2, V, 3) of a body at rest, and with one joint turned about
    axes of its bone: turn (4,).
    """
    local = np.tile(facts.layout.rest, (2, 1))
    node = int(own.body.joints[row])
    matrix = own.body.frames[row, :, :3]
    scale = facts.scene.skeleton.scales[node].astype(np.float64)
    way = own.shape_by_place.bones.frames[row, :, :3] @ turn[:3]
    way = np.linalg.solve(matrix, way) * scale
    way *= np.linalg.norm(turn[:3]) / max(float(np.linalg.norm(way)), 1e-30)
    rest = facts.scene.skeleton.rotations[node].astype(np.float64)
    lanes = local.reshape(2, ROWS, facts.layout.lane_count)
    lane = facts.layout.lane_of_node[node]
    lanes[1, 3:7, lane] = quaternions.multiply(rest, np.append(way, turn[3]))
    return deform_body(facts.layout, bind_body(facts.scene, own.body), local)[0]


def forearm_left(facts: SceneFacts, node: int) -> float | None:
    """What a twist by 170 degrees leaves of the radius of a forearm, where it leaves
    least: of slices from before the elbow to the wrist. None: it has too few vertices.
    """
    least = np.inf
    for own, row in _bodies(facts, node):
        turn = np.array([np.sin(TWIST / 2), 0, 0, np.cos(TWIST / 2)])
        rest, posed = _turned(facts, own, row, turn).astype(np.float64)
        bones = own.shape_by_place.bones
        local = bones.local(row, own.body.positions)
        along = local[:, 0] / bones.lengths[row]
        out = np.hypot(local[:, 1], local[:, 2])
        middle = (along > 0.1) & (along < 0.9) & (out < 0.5 * bones.lengths[row])
        if not middle.any():
            continue
        near = out < THICK * np.median(out[middle])
        for start in np.linspace(-0.1, 0.9, SLICES):
            mine = (along >= start) & (along < start + 0.1) & near
            if np.count_nonzero(mine) >= FEWEST:
                widths = [
                    np.linalg.norm(places[mine] - places[mine].mean(0), axis=1).mean()
                    for places in (rest, posed)
                ]
                least = min(least, widths[1] / max(widths[0], 1e-30))
    return float(least) if np.isfinite(least) else None


def elbow_folds(facts: SceneFacts, node: int) -> tuple[int, int]:
    """Edges that a bend by 150 degrees folds, in the worst of four ways, and those of
    them that are further from the joint, along its bone, than the body is thick there.
    """
    folds = far = 0
    for own, row in _bodies(facts, node):
        shape = own.shape_by_place
        radius = float(shape.sections.thickness[row, 0])
        for axis, sign in ((1, 1), (1, -1), (2, 1), (2, -1)):
            turn = np.array([0, 0, 0, np.cos(BEND / 2)])
            turn[axis] = sign * np.sin(BEND / 2)
            places = _turned(facts, own, row, turn)
            form = make_form(own.body, own.by_place, places[0])
            strain = find_strain(form, places)
            folded = strain.folded[1] & ~strain.folded[0]
            middles = own.by_place.positions[form.faces[form.sides[:, 0]]].mean(1)
            away = np.abs(shape.bones.local(row, middles)[:, 0])
            folds = max(folds, int(np.count_nonzero(folded)))
            far = max(far, int(np.count_nonzero(folded & (away > radius))))
    return folds, far
