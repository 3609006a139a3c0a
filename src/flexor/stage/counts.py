"""What a picture took: one record for crowds, stages and worlds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SeenCounts"]


@dataclass(slots=True)
class SeenCounts:
    """What the last picture took: characters shown, and the nodes, vertices and
    triangles that were touched for them.
    """

    shown: int = 0
    nodes: int = 0
    vertices: int = 0
    triangles: int = 0

    def __add__(self, other: SeenCounts) -> SeenCounts:
        return SeenCounts(
            self.shown + other.shown,
            self.nodes + other.nodes,
            self.vertices + other.vertices,
            self.triangles + other.triangles,
        )
