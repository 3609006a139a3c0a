"""How long a unit of a file is that does not say so: by the legs of who is in it."""

from __future__ import annotations

import numpy as np

from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.human.human import SIDES, find_human

__all__ = ["guess_unit"]

LEG = 0.84  # metres from hip to ankle of an adult
LIKE_METRES = (0.6, 1.7)  # units in which a person may be small or tall, and in metres


def guess_unit(skeleton: Skeleton) -> float | None:
    """Metres in one unit of a skeleton, such as that of a motion capture.

    1 where its legs could be those of a person in metres; None if it has none.
    """
    human = find_human(skeleton)
    places = rest_world(skeleton)[:, :, 3]
    lengths = []
    for side in SIDES:
        parts = [f"{side}{part}" for part in ("UpperLeg", "LowerLeg", "Foot")]
        if all(part in human for part in parts):
            steps = np.diff(places[[human[part] for part in parts]], axis=0)
            lengths.append(float(np.linalg.norm(steps, axis=1).sum()))
    if not lengths or not max(lengths) > 0:
        return None
    unit = LEG / float(np.mean(lengths))
    return 1.0 if LIKE_METRES[0] <= unit <= LIKE_METRES[1] else unit
