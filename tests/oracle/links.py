"""The slow twin of link weights: one vertex at a time, plain loops in float64."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flexor.convert.links.link_weights import LinkSettings
from flexor.convert.shape.body import Body
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import Sections


def below(parents: Any, joint: int) -> list[int]:
    """The joint and all that hang on it."""
    found = []
    for other in range(len(parents)):
        row = other
        while row >= 0:
            if row == joint:
                found.append(other)
                break
            row = int(parents[row])
    return found


def shares(
    parents: Any, bones: Bones, point: Any, weights: list[float]
) -> tuple[list[float], list[float]]:
    """For each joint what its parent's weight and its own face it with."""
    count = len(parents)
    deep = [sum(weights[j] for j in below(parents, c)) for c in range(count)]
    children = [[c for c in range(count) if parents[c] == p] for p in range(count)]
    facing = []
    for c in range(count):
        above = 1 - deep[c]
        above = 0.0 if above < 1e-6 else above
        under = sum(deep[k] for k in children[c])
        x = float((point - bones.bases[c]) @ bones.axes[c])
        if parents[c] < 0:
            facing.append(0.0)
        elif above + under > 0:
            facing.append(above / (above + under))
        else:
            near = not children[c] or x < bones.lengths[c] / 2
            facing.append(1.0 if near else 0.0)
    up, own = [0.0] * count, [0.0] * count
    for c in range(count):
        p = int(parents[c])
        if p < 0:
            continue
        under = sum(deep[k] for k in children[p])
        if under > 0:
            share = deep[c] / under
        else:
            share = 1.0 if len(children[p]) == 1 else 0.0
        up[c] = (1 - facing[p]) * share * weights[p]
        own[c] = facing[c] * weights[c]
    return up, own


def reach(
    body: Body, bones: Bones, sections: Sections, c: int, factor: float | None
) -> tuple[float, float]:
    """How far the chain of joint c reaches before and beyond it."""
    p = int(body.parents[c])
    length = 1.0 if factor is None else factor
    radii = [math.sqrt(float(sections.radii[c, 0].prod()))]
    if bones.tips[p] == c:
        radii.append(math.sqrt(float(sections.radii[p, 1].prod())))
    total = length * (0.3 * bones.lengths[c] + 1.5 * min(radii))
    apart = math.dist(bones.bases[c], bones.bases[p])
    least = 1e-4 * body.size
    up = max(min(total / 2, max(bones.lengths[p], apart) / 2), least)
    return up, max(min(total / 2, bones.lengths[c] / 2), least)


def place(
    body: Body, bones: Bones, sections: Sections, c: int, length: float, point: Any
) -> float:
    """Where a point is along the chain of joint c, 0 to 1."""
    p = int(body.parents[c])
    cos = float(bones.axes[p] @ bones.axes[c])
    axis = bones.axes[c] + max(0.0, cos) * bones.axes[p]
    axis = axis / math.sqrt(float(axis @ axis))
    up, down = reach(body, bones, sections, c, length)
    x = float((point - bones.bases[c]) @ axis)
    s = 0.5 + x / (2 * (up if x < 0 else down))
    return min(max(s, 0.0), 1.0)


def rise(value: float, low: float, high: float) -> float:
    part = min(max((value - low) / (high - low), 0.0), 1.0)
    return part * part * (3 - 2 * part)


def moving(
    body: Body,
    bones: Bones,
    sections: Sections,
    c: int,
    point: Any,
    up: float,
    own: float,
) -> float:
    """The part of what a joint's parent and child hold that is given out."""
    p = int(body.parents[c])
    axis = (
        bones.axes[c] + max(0.0, float(bones.axes[p] @ bones.axes[c])) * bones.axes[p]
    )
    axis = axis / math.sqrt(float(axis @ axis))
    radius = math.sqrt(float(sections.radii[c, 0].prod()))
    if bones.tips[p] == c:
        radius = min(radius, math.sqrt(float(sections.radii[p, 1].prod())))
    away = point - bones.bases[c]
    away = away - float(away @ axis) * axis
    far = math.sqrt(float(away @ away)) / max(radius, 1e-4 * body.size)
    share = own / (up + own)
    pure = max(rise(share, 0.6, 0.85), rise(1 - share, 0.9, 1))
    return 1 - pure * rise(far, 1.4, 2.2)


def link_row(
    body: Body,
    bones: Bones,
    sections: Sections,
    settings: Mapping[int, LinkSettings],
    normal: Any,
    vertex: int,
) -> list[float]:
    """The new weights of one vertex: of the S joints, then of the links.

    settings: by row; joints in rising order have their links one after another.
    """
    count = len(body.parents)
    point = body.positions[vertex]
    weights = [0.0] * count
    for joint, weight in zip(
        body.pull.joints[vertex], body.pull.weights[vertex], strict=True
    ):
        if joint >= 0:
            weights[joint] += float(weight)
    total = sum(weights)
    weights = [w / total for w in weights]
    up, own = shares(body.parents, bones, point, weights)
    new, links = list(weights), []
    for c in sorted(settings):
        p, n = int(body.parents[c]), settings[c].count
        if p < 0 or not n:
            continue
        if not up[c] + own[c] > 0:
            links += [0.0] * n
            continue
        part = moving(body, bones, sections, c, point, up[c], own[c])
        up[c], own[c] = part * up[c], part * own[c]
        amount = up[c] + own[c]
        new[p] -= up[c]
        new[c] -= own[c]
        length, fade = settings[c].length, settings[c].fade
        s = place(body, bones, sections, c, 1.0 if length is None else length, point)
        across = min(abs(float(bones.axes[c] @ normal)), 1.0)
        fade = (0.0 if fade is None else fade) * across
        given = [max(0.0, 1 - abs(s * (n + 1) - k)) * amount for k in range(n + 2)]
        new[p] += given[0] + sum(given[1:-1]) * fade
        new[c] += given[-1]
        links += [g * (1 - fade) for g in given[1:-1]]
    return new + links


def wind_row(
    body: Body,
    bones: Bones,
    sections: Sections,
    settings: Mapping[int, LinkSettings],
    vertex: int,
    bent: list[float],
) -> list[float]:
    """The weights of one vertex with twist links: of the S joints, then joint by joint
    of the links around it and of those along its bone.

    bent: what `link_row` gives.
    """
    count = len(body.parents)
    new, links = bent[:count], bent[count:]
    whole: list[float] = []
    for c in sorted(settings):
        n, twists = settings[c].count, settings[c].twists
        if int(body.parents[c]) < 0:
            continue
        whole += links[:n]
        links = links[n:]
        tip = int(bones.tips[c])
        if not twists or tip < 0:
            continue
        length = bones.lengths[c]
        start = reach(body, bones, sections, c, settings[c].length)[1] if n else 0.0
        stop = 0.0
        if tip in settings and settings[tip].count:
            stop = reach(body, bones, sections, tip, settings[tip].length)[0]
        start, end = min(start, 0.3 * length), length - min(stop, 0.3 * length)
        x = float((body.positions[vertex] - bones.bases[c]) @ bones.axes[c])
        part = min(max((x - start) / max(end - start, 1e-30), 0.0), 1.0) * twists
        given = [max(0.0, 1 - abs(part - k)) * new[c] for k in range(twists + 1)]
        whole += given[:-1]
        new[c] = given[-1]
    return new + whole
