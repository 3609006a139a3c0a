"""Whether new weights let skin fly: parts of it that go where the rest does not.

With clips the report of a repair says so; without, random poses are tried here.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from flexor.convert.shape.body import Body
from flexor.convert.shape.deform_body import bind_body, deform_body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.random_poses import lay_out_rotations, random_rotations
from flexor.scene.finding import Finding

__all__ = ["find_flight", "is_bound"]

POSES, SEED = 8, 0
FAR_MEAN, FAR_MOST = 0.02, 0.15  # of the size, from where the old weights put it
TORN = 0.10  # of the size: an edge that grows by as much is torn


def is_bound(body: Body) -> bool:
    """Whether a body has weights to compare with: not all of it on one joint."""
    if len(body.joints) < 2 or not len(body):
        return True
    first = body.pull.joints[0, 0]
    alone = (body.pull.joints[:, 0] == first) & (body.pull.weights[:, 0] >= 1)
    return not bool(alone.all())


def find_flight(before: SceneFacts, after: SceneFacts) -> list[Finding]:
    """Warnings where new weights let skin fly in random poses, seeded and within the
    limits of joints.

    The skin is compared with where it was; a body that had no weights, by how far its
    edges are torn apart.
    """
    rng = np.random.default_rng(SEED)
    rotations = random_rotations(before.scene.skeleton, POSES, rng)
    found = []
    for old, new in zip(before.bodies, after.bodies, strict=True):
        skin, rest = _skin(after, new, rotations)
        size = max(float(np.ptp(rest, axis=0).max(initial=0)), 1e-30)
        if is_bound(old.body):
            was, _ = _skin(before, old, rotations)
            away = np.linalg.norm(skin - was, axis=2) / size
            away = away[np.isfinite(away)]
            mean, most = float(away.mean()), float(away.max(initial=0))
            if mean <= FAR_MEAN and most <= FAR_MOST:
                continue
            how = f"{mean:.1%} of its size from where it was on average, {most:.0%}"
        else:
            torn = _torn(new, skin, rest) / size
            if torn <= TORN:
                continue
            how = f"torn at its edges by {torn:.0%} of its size"
        text = (
            f"in random poses the skin is {how} at most: look at it, part of it may "
            "hang on wrong bones"
        )
        where = new.body.names[0] if new.body.names else "skin"
        found.append(Finding("warning", "weights-far", where, text))
    return found


def _skin(
    facts: SceneFacts, body: BodyFacts, rotations: Doubles
) -> tuple[Doubles, Doubles]:
    """Vertices (N, V, 3) in poses, and (V, 3) at rest."""
    binds = bind_body(facts.scene, body.body)
    local = lay_out_rotations(facts.layout, rotations)
    local = np.concatenate([facts.layout.rest[None], local])
    skin = deform_body(facts.layout, binds, local)[0].astype(np.float64)
    return skin[1:], skin[0]


def _torn(facts: BodyFacts, skin: Doubles, rest: Doubles) -> float:
    """By how much any edge grows at most, metres."""
    first, second, _ = facts.by_place.edges()
    a, b = (facts.by_place.vertex_of_point[end] for end in (first, second))
    lengths = np.linalg.norm(rest[a] - rest[b], axis=1)
    longer = np.linalg.norm(skin[:, a] - skin[:, b], axis=2) - lengths
    return float(longer[np.isfinite(longer)].max(initial=0))
