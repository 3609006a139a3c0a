"""A scene as envelopes: with all weights, and with one weight a vertex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.envelope.build import Ids, build_envelope
from flexor.convert.envelope.join_pieces import join_pieces
from flexor.convert.envelope.one_weight import one_weight
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
    visits is looked for; order, ids: see plan_envelope and build_envelope.
    """

    split: bool = True
    search: bool = True
    order: Order = "joints"
    ids: Ids = "places"


DEFAULTS = EnvelopeSettings()


def convert_scene(
    scene: Scene, settings: EnvelopeSettings = DEFAULTS
) -> tuple[Envelopes, list[Finding]]:
    """The envelopes of what is shown of a scene, and what was odd about its weights."""
    parts, findings = scene_parts(scene)
    parents = scene.skeleton.parents
    multi, trace = convert_parts(parents, parts, settings)
    single = [one_weight(part, trace) for part in parts]
    one, _ = convert_parts(parents, single, settings)
    return Envelopes(multi, one), findings


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
    rank = check_trace(parents, trace)
    pieces = cut_parts(parts, rank) if settings.split else whole_parts(parts)
    if settings.search:
        trace = search_trace(parents, piece_lives(pieces))
        rank = np.argsort(trace)
    if settings.split:
        pieces = join_pieces(pieces, rank)
        whole = whole_parts(parts)
        if _peak(whole, rank) <= _peak(pieces, rank):
            pieces = whole  # the cuts save nothing
    own = make_parts(parts, pieces)
    plan = plan_envelope(parents, own, trace=trace, order=settings.order)
    return build_envelope(own, plan, ids=settings.ids), trace
