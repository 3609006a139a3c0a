"""Links after their joints: local transforms of nodes that follow others."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Floats, check_array
from flexor.pose.kernels import links as kernel_links
from flexor.pose.layout import Layout

__all__ = ["follow_links"]


def follow_links(layout: Layout, local: Floats) -> Floats:
    """Put every link where its joint wants it, in local transforms (N, 10 * L).

    To be called when all other nodes stand right, and before world matrices are made.
    A link is between the joint's rest and the joint: its rotation on the shortest arc,
    at unit length, its translation and scale on a straight line. A twist link is the
    joint but for a part of what it has turned about an axis. What was in their lanes is
    overwritten; without links nothing is done.
    """
    links = layout.links
    if links is None:
        return local
    check_array(local, np.float32, (len(local), len(layout.rest)), "local")
    # Made on each call: one layout serves several threads.
    work = np.empty(11 * len(links.joints) + 80, np.float32)
    kernel_links.follow_links(
        links.joints, links.blocks, links.rest, links.curves, links.axes, work, local
    )
    return local
