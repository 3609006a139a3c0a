"""Rogue patches by plain search: one bone, one piece, one point at a time."""

from __future__ import annotations

from typing import Any


def find_rogues(
    edges: dict[int, dict[int, float]],
    weights: list[dict[int, float]],
    scores: list[dict[int, float]],
    joints: set[int] | None = None,
) -> set[tuple[int, int]]:
    """Every rogue tie (point, bone).

    edges: length by neighbour, by point; weights, scores: by bone, for each point.
    """
    rogue = set()
    for piece in pieces(edges):
        bones = {bone for point in piece for bone in weights[point]}
        for bone in bones if joints is None else bones & joints:
            tied = [point for point in sorted(piece) if bone in weights[point]]
            surest = max(tied, key=lambda point: (scores[point][bone], -point))
            reached, left = {surest}, [surest]
            while left:
                for beside in edges[left.pop()]:
                    if bone in weights[beside] and beside not in reached:
                        reached.add(beside)
                        left.append(beside)
            rogue |= {(point, bone) for point in tied if point not in reached}
    return rogue


def pieces(edges: dict[int, dict[int, float]]) -> list[set[int]]:
    """Points that hang together."""
    found: list[set[int]] = []
    for start in edges:
        if any(start in piece for piece in found):
            continue
        piece, left = {start}, [start]
        while left:
            new = set(edges[left.pop()]) - piece
            piece |= new
            left += new
        found.append(piece)
    return found


def mend(
    edges: dict[int, dict[int, float]],
    weights: list[dict[int, float]],
    rogue: set[tuple[int, int]],
) -> list[dict[int, float]]:
    """The weights without rogue ties; rows that have none are the same objects."""
    sound = [
        {bone: w for bone, w in row.items() if (point, bone) not in rogue}
        for point, row in enumerate(weights)
    ]
    nearest = nearest_sound(edges, [bool(row) for row in sound])
    out = []
    for point, row in enumerate(weights):
        if len(sound[point]) == len(row):
            out.append(row)
            continue
        taken: dict[int, float] = sound[nearest[point][1]]
        whole = sum(taken.values())
        out.append({bone: w / whole for bone, w in taken.items()})
    return out


def nearest_sound(edges: dict[int, dict[int, float]], is_sound: list[bool]) -> Any:
    """(distance, point) of the nearest sound point of each, relaxed until it rests."""
    nearest = {p: (0.0, p) for p in edges if is_sound[p]}
    moved = True
    while moved:
        moved = False
        for point, ways in edges.items():
            for beside, length in ways.items():
                if is_sound[point] or beside not in nearest:
                    continue
                away, source = nearest[beside]
                new = (away + length, source)
                if point not in nearest or new < nearest[point]:
                    nearest[point] = new
                    moved = True
    return nearest
