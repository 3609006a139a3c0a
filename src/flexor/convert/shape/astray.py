"""Skin that goes astray in clips: far from where it was, though nothing looks bad."""

from __future__ import annotations

import numpy as np

from flexor.convert.shape.deform_body import bind_body, deform_body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.thickness import point_thickness

__all__ = ["find_astray"]

BATCH = 16  # poses at once


def find_astray(
    before: tuple[SceneFacts, BodyFacts],
    after: tuple[SceneFacts, BodyFacts],
    far: float,
) -> set[int]:
    """Joints (rows of the body before) that hold skin which moves far in some clip.

    before, after: a body of a scene, and the same with links after its joints; far: in
    thicknesses of the body there. A point is its heaviest joint's; none without clips.
    """
    facts, own = before
    if not len(facts.poses):
        return set()
    shape, vertices = own.shape_by_place, own.by_place.vertex_of_point
    pull = own.body.pull.take(vertices)
    thick = point_thickness(own.by_place.positions, pull, shape.bones, shape.sections)
    thick = np.maximum(thick * _growth(facts, own), 1e-30)
    most = np.zeros(len(vertices))
    binds = [bind_body(one.scene, body.body) for one, body in (before, after)]
    for start in range(0, len(facts.poses), BATCH):
        part = slice(start, start + BATCH)
        old, new = (
            deform_body(one.layout, bind, one.poses[part])[0][:, vertices]
            for (one, _), bind in zip((before, after), binds, strict=True)
        )
        away = np.linalg.norm(new.astype(np.float64) - old, axis=2) / thick
        most = np.maximum(most, away.max(0, initial=0))
    heaviest = pull.joints[np.arange(len(pull)), np.argmax(pull.weights, axis=1)]
    return set(heaviest[(most > far) & (heaviest >= 0)].tolist())


def _growth(facts: SceneFacts, own: BodyFacts) -> float:
    """How much larger the body is at rest than in its bind pose."""
    rest, _ = deform_body(
        facts.layout, bind_body(facts.scene, own.body), facts.layout.rest[None]
    )
    now = float(np.ptp(rest[0], axis=0).max(initial=0))
    return now / max(own.body.size, 1e-30)
