"""A scene as envelopes: with all weights, and with one weight a vertex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from flexor.scene.finding import Finding
from flexor.scene.runtime.envelope import Envelope, Envelopes
from flexor.scene.scene import Scene

__all__ = ["EnvelopeSettings", "convert_parts", "convert_scene"]


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
