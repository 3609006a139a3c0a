"""A peer of `flexor bench ik`: ikpy, which minimises the distance with SciPy.

It knows joints that turn about one axis; a ball joint is three of them in one place,
about Z, Y and X.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from flexor.arrays import Doubles
from flexor.maths.euler import to_euler

__all__ = ["solve_ikpy"]


def solve_ikpy(
    lengths: Doubles, starts: Doubles, targets: Doubles
) -> tuple[Doubles, float] | None:
    """Metres (N,) from the ends of chains to their targets, and seconds a solve.

    lengths (B,), starts (N, B, 4) and targets (N, 3) are as those of `solve_three`; the
    time is the median of the N solves, with ikpy's own settings. None where it is not
    installed.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        chain = _chain(lengths)
        if chain is None:
            return None
        count, bones = len(starts), len(lengths)
        places = np.zeros((count, 3 * bones + 2))  # with a fixed one at either end
        places[:, 1:-1] = to_euler(np.asarray(starts, float)).reshape(count, -1)
        errors, seconds = np.empty(count), np.empty(count)
        for row, (start, target) in enumerate(zip(places, targets, strict=True)):
            before = perf_counter()
            joints = chain.inverse_kinematics(target, initial_position=start)
            seconds[row] = perf_counter() - before
            end = chain.forward_kinematics(joints)[:3, 3]
            errors[row] = np.linalg.norm(end - target)
    return errors, float(np.median(seconds))


def _chain(lengths: Doubles) -> Any:
    """The bones as ikpy's links; None where it is not installed."""
    try:
        chain, link = import_module("ikpy.chain"), import_module("ikpy.link")
    except ImportError:
        return None

    links = [link.OriginLink()]
    start = [0.0, 0.0, 0.0]
    for row, length in enumerate(np.asarray(lengths).tolist()):
        for axis in ("Z", "Y", "X"):
            turn = [float(axis == letter) for letter in "XYZ"]
            name = f"bone{row}{axis}"
            links.append(
                link.URDFLink(
                    name=name,
                    origin_translation=start,
                    origin_orientation=[0.0, 0.0, 0.0],
                    rotation=turn,
                )
            )
            start = [0.0, 0.0, 0.0]
        start = [length, 0.0, 0.0]
    links.append(
        link.URDFLink(
            name="tip",
            origin_translation=start,
            origin_orientation=[0.0, 0.0, 0.0],
            joint_type="fixed",
        )
    )
    turns = [False, *[True] * (3 * len(lengths)), False]
    return chain.Chain(name="chain", links=links, active_links_mask=turns)
