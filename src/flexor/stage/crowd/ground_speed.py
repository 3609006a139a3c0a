"""How fast a clip that walks on the spot would carry its character over the ground.

Whatever walks without sliding stands on something, and what it stands on moves as the
ground does, seen from the character. So the lowest point of the skin is looked at, at
many moments: if nearly all of them agree, that is how fast the ground goes by. No names
of joints are needed, and no legs: two, four or eight are the same.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Floats, check_input
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.scene.character.light import Vector

__all__ = ["ground_velocity"]

NEAR = 0.02  # of the height: what is lower than this over the lowest stands
SLOW = 0.12  # heights a second: slower is no walk
ALONG = (0.25, 2.5)  # of the speed: moments whose speed is between agree
ASIDE = 0.5  # of the speed: and go no faster to the side
MOST = 0.7  # of the moments at which it stands have to agree
LEAST = 0.2  # of all moments: it stands for so long, at least
APART = 0.08  # of the height: steps are taken at two places that are so far apart
LOOP = 0.25  # of the height: a clip that ends further from its beginning is no walk


def ground_velocity(before: Floats, after: Floats, seconds: float) -> Vector | None:
    """The velocity at which a character should go on to not slide; None: not certain.

    before, after: float32 (T, V, 3), its vertices on the spot at T moments that are
    spread evenly over a clip, and `seconds` later: the first of `before` is the clip's
    beginning, the last of `after` its end. Gives metres a second along x, y and z of
    the character's own frame, y 0.
    """
    check_input(before, np.float32, (None, None, 3), "before")
    check_input(after, np.float32, before.shape, "after")
    if not seconds > 0:
        raise SettingError(f"seconds: {seconds!r}, expected above 0")
    if not before.size or not (np.isfinite(before).all() and np.isfinite(after).all()):
        return None
    rows = np.arange(len(before))
    low = before[..., 1].argmin(1)
    places = before[rows, low].astype(np.float64)
    tall = float(before[..., 1].max() - places[:, 1].min())
    ways = (after[rows, low].astype(np.float64) - places)[:, [0, 2]] / seconds
    stands = places[:, 1] <= places[:, 1].min() + NEAR * tall
    if np.count_nonzero(stands) < LEAST * len(rows):
        return None
    ways, places = ways[stands], places[stands]
    middle = np.median(ways, axis=0)
    speed = exact.hypot(*middle)
    if speed <= SLOW * tall or np.abs(after[-1] - before[0]).max() > LOOP * tall:
        return None
    along, aside = middle / speed, np.array([-middle[1], middle[0]]) / speed
    ahead = exact.multiply(ways, along) / speed
    agrees = (ahead >= ALONG[0]) & (ahead <= ALONG[1])
    agrees &= np.abs(exact.multiply(ways, aside)) <= ASIDE * speed
    if np.count_nonzero(agrees) < MOST * len(ways):
        return None
    # One foot that is pushed along the ground has no second place to stand.
    if np.ptp(exact.multiply(places[agrees][:, [0, 2]], aside)) < APART * tall:
        return None
    x, z = np.median(ways[agrees], axis=0)
    return -float(x), 0.0, -float(z)
