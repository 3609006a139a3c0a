"""A scene as envelopes: with all weights, and with one weight a vertex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Ints
from flexor.convert.build_envelope import Ids, build_envelope
from flexor.convert.envelope_parts import EnvelopePart
from flexor.convert.one_weight import one_weight
from flexor.convert.plan_envelope import Order, check_trace, depth_first, plan_envelope
from flexor.convert.scene_parts import scene_parts
from flexor.convert.search_trace import search_trace
from flexor.convert.split_parts import (
    cut_parts,
    join_pieces,
    make_parts,
    piece_lives,
    whole_parts,
)
from flexor.scene.envelope import Envelope, Envelopes
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


def convert_scene(scene: Scene, settings: EnvelopeSettings = DEFAULTS) -> Envelopes:
    """The envelopes of what is shown of a scene."""
    parts = scene_parts(scene)
    parents = scene.skeleton.parents
    trace = depth_first(parents)
    single = [one_weight(part, trace) for part in parts]
    return Envelopes(
        convert_parts(parents, parts, settings),
        convert_parts(parents, single, settings),
    )


def convert_parts(
    parents: Ints, parts: Sequence[EnvelopePart], settings: EnvelopeSettings = DEFAULTS
) -> Envelope:
    """One envelope of parts that belong to a tree of models; parents: (M,)."""
    trace = depth_first(parents)
    rank = check_trace(parents, trace)
    pieces = cut_parts(parts, rank) if settings.split else whole_parts(parts)
    if settings.search:
        trace = search_trace(parents, piece_lives(pieces))
        rank = np.argsort(trace)
    if settings.split:
        pieces = join_pieces(pieces, rank)
    own = make_parts(parts, pieces)
    plan = plan_envelope(parents, own, trace=trace, order=settings.order)
    return build_envelope(own, plan, ids=settings.ids)
