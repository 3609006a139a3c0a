"""Steps of weights, edge by edge and joint by joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.shape.body import Pull
from flexor.convert.shape.surface import Surface


def edge_steps(surface: Surface, pull: Pull, thickness: Any) -> list[Any]:
    """(first end, second end, worst change, allowed) of every edge."""
    found = []
    for first in range(len(surface)):
        for at in range(surface.starts[first], surface.starts[first + 1]):
            second = int(surface.neighbours[at])
            if second <= first:
                continue
            rows = []
            for point in (first, second):
                weights: dict[int, float] = {}
                for joint, weight in zip(
                    pull.joints[point].tolist(), pull.weights[point], strict=True
                ):
                    if joint >= 0:
                        weights[joint] = weights.get(joint, 0.0) + float(weight)
                rows.append(weights)
            names = {*rows[0], *rows[1]}
            change = max(
                (abs(rows[0].get(n, 0.0) - rows[1].get(n, 0.0)) for n in names),
                default=0.0,
            )
            across = surface.positions[first].astype(float) - surface.positions[second]
            mean = (thickness[first] + thickness[second]) / 2
            allowed = float(np.linalg.norm(across)) / (2 * mean)
            found.append((first, second, change, allowed))
    return found
