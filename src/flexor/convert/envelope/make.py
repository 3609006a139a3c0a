"""A scene as envelopes: with all weights, and with one weight a vertex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.envelope.build import Ids, build_envelope
from flexor.convert.envelope.join_pieces import join_pieces
from flexor.convert.envelope.one_weight import named_parts, one_weight
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import Order, check_trace, depth_first, plan_envelope
from flexor.convert.envelope.scene_parts import scene_parts
from flexor.convert.envelope.search_trace import placed_peak, search_trace
from flexor.convert.envelope.split_parts import (
    Piece,
    cut_parts,
    make_parts,
    piece_lives,
    whole_parts,
)
from flexor.errors import SettingError
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.finding import Finding
from flexor.scene.runtime.envelope import Envelope, Envelopes, SomeEnvelopes
from flexor.scene.scene import Scene

__all__ = [
    "EnvelopeSettings",
    "Kept",
    "complete_envelopes",
    "convert_parts",
    "convert_scene",
    "keep_envelopes",
]

# Which envelopes a package holds. Nothing but the drawing library, asked for by name,
# reads the one of all weights: characters are skinned vertex by vertex.
Kept = Literal["none", "one", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeSettings:
    """How envelopes are made.

    split: whether surfaces are cut into body parts; search: whether another order of
    visits is looked for; trace: that order as you want it: all nodes once, by names or
    numbers, parents before children; one_parts: patterns of names of joints and meshes
    that have one weight where it is asked for, while all others keep all weights;
    without any, all have one; order, ids: see plan_envelope and build_envelope.
    """

    split: bool = True
    search: bool = True
    trace: tuple[int | str, ...] | None = None
    one_parts: tuple[str, ...] = ()
    order: Order = "joints"
    ids: Ids = "places"


DEFAULTS = EnvelopeSettings()


def convert_scene(
    scene: Scene, settings: EnvelopeSettings = DEFAULTS
) -> tuple[Envelopes, list[Finding]]:
    """The envelopes of what is shown of a scene, and what was odd about its weights."""
    parts, findings = scene_parts(scene)
    parents = scene.skeleton.parents
    if settings.trace is not None:
        numbers = _numbers(scene.skeleton, settings.trace)
        settings = replace(settings, trace=numbers)
    multi, trace = convert_parts(parents, parts, settings)
    one, _ = convert_parts(parents, _single(scene, parts, trace, settings), settings)
    return Envelopes(multi, one), findings


def _single(
    scene: Scene,
    parts: Sequence[EnvelopePart],
    trace: Sequence[int],
    settings: EnvelopeSettings,
) -> list[EnvelopePart]:
    """The parts with one weight, as far as they are to have it."""
    if not settings.one_parts:
        return [one_weight(part, trace) for part in parts]
    joints, nodes = named_parts(scene, settings.one_parts)
    return [
        one_weight(part, trace, None if nodes[part.node] else joints) for part in parts
    ]


def _numbers(skeleton: Skeleton, trace: Sequence[int | str]) -> tuple[int, ...]:
    """An order of visits by numbers; refused where it is none."""
    names, count = skeleton.names, len(skeleton)
    numbers: list[int] = []
    for one in trace:
        if isinstance(one, str):
            if names.count(one) != 1:
                what = "no node has" if one not in names else "several nodes have"
                raise SettingError(f"trace: {what} the name {one!r}")
            numbers.append(names.index(one))
        else:
            numbers.append(int(one))
    place = {node: at for at, node in enumerate(numbers)}
    if len(place) < len(numbers):
        twice = next(node for at, node in enumerate(numbers) if place[node] != at)
        raise SettingError(f"trace: {_called(skeleton, twice)} stands there twice")
    for node in place:
        if not 0 <= node < count:
            raise SettingError(f"trace: there is no node {node}, only {count}")
    for node, parent in enumerate(skeleton.parents.tolist()):
        if node not in place:
            raise SettingError(f"trace: lacks {_called(skeleton, node)}")
        if parent >= 0 and place.get(parent, count) > place[node]:
            raise SettingError(
                f"trace: {_called(skeleton, node)} comes before its parent "
                f"{_called(skeleton, parent)}"
            )
    return tuple(numbers)


def _called(skeleton: Skeleton, node: int) -> str:
    known = 0 <= node < len(skeleton)
    return f"node {node}" + (f" ({skeleton.names[node]!r})" if known else "")


def complete_envelopes(
    scene: Scene, given: Envelopes | SomeEnvelopes | None
) -> Envelopes:
    """Both envelopes of a scene: those given, and what lacks made."""
    if isinstance(given, Envelopes):
        return given
    made = convert_scene(scene)[0]
    multi, one = (None, None) if given is None else (given.multi, given.one)
    return Envelopes(
        made.multi if multi is None else multi, made.one if one is None else one
    )


def keep_envelopes(envelopes: Envelopes, kept: Kept) -> Envelopes | SomeEnvelopes:
    """Both, that of one weight alone, or none."""
    if kept not in get_args(Kept):
        raise SettingError(f"envelopes: {kept!r}, expected one of {get_args(Kept)}")
    if kept == "both":
        return envelopes
    return SomeEnvelopes(one=envelopes.one if kept == "one" else None)


def _peak(pieces: Sequence[Piece], rank: NDArray[np.intp]) -> int:
    return placed_peak(piece_lives(pieces), rank)


def convert_parts(
    parents: Ints, parts: Sequence[EnvelopePart], settings: EnvelopeSettings = DEFAULTS
) -> tuple[Envelope, list[int]]:
    """One envelope of parts of a tree of models, and the trace; parents: (M,)."""
    trace = depth_first(parents)
    if settings.trace is not None:
        trace = [int(model) for model in settings.trace]
    rank = check_trace(parents, trace)
    pieces = cut_parts(parts, rank) if settings.split else whole_parts(parts)
    made = _joined(parts, pieces, rank, settings)
    if settings.search and settings.trace is None:
        found = search_trace(parents, piece_lives(pieces))
        if found != trace:
            # What was found is better before pieces are joined, and may not be after.
            other_rank = np.argsort(found)
            other = _joined(parts, pieces, other_rank, settings)
            if _peak(other, other_rank) <= _peak(made, rank):
                made, trace = other, found
    own = make_parts(parts, made)
    plan = plan_envelope(parents, own, trace=trace, order=settings.order)
    return build_envelope(own, plan, ids=settings.ids), trace


def _joined(
    parts: Sequence[EnvelopePart],
    pieces: list[Piece],
    rank: NDArray[np.intp],
    settings: EnvelopeSettings,
) -> list[Piece]:
    """Pieces joined where that costs no room; whole parts if cuts save nothing."""
    if not settings.split:
        return pieces
    joined, whole = join_pieces(pieces, rank), whole_parts(parts)
    return whole if _peak(whole, rank) <= _peak(joined, rank) else joined
