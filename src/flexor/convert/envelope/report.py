"""What an envelope costs and saves, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import (
    DRAW,
    DRAW_DEFERRED,
    FACES,
    NODE,
    OP,
    PRIMITIVE,
    VERTICES,
)

__all__ = ["PLACE_BYTES", "EnvelopeReport", "report_envelope"]

PLACE_BYTES = 24  # x y z nx ny nz


@dataclass(frozen=True, slots=True)
class EnvelopeReport:
    """Numbers of one envelope.

    vertices: of all surfaces; worked: with those on cuts, which are worked once for
    each part; native, start, middle, end: distributed vertices of each group; parts,
    faces; draws: parts drawn when their model is visited; deferred: drawn later; runs:
    how many runs of places with one matrix; peak: places in the common buffer, the most
    that are needed at once; buffer_bytes: what they take; data_bytes: of all arrays.
    """

    vertices: int
    worked: int
    native: int
    start: int
    middle: int
    end: int
    parts: int
    faces: int
    draws: int
    deferred: int
    runs: int
    peak: int
    buffer_bytes: int
    data_bytes: int


def report_envelope(envelope: Envelope) -> EnvelopeReport:
    """Count what is in an envelope."""
    op = envelope.steps[:, OP]
    groups = envelope.group_counts()
    return EnvelopeReport(
        _distinct(envelope),
        len(envelope.order),
        groups["native"],
        groups["start"],
        groups["middle"],
        groups["end"],
        len(envelope.parts),
        int(envelope.parts[:, FACES].sum()),
        int((op == DRAW).sum()),
        int((op == DRAW_DEFERRED).sum()),
        int((op < len(groups)).sum()),
        envelope.peak,
        envelope.peak * PLACE_BYTES,
        envelope.nbytes,
    )


def _distinct(envelope: Envelope) -> int:
    """Vertices of the file: pairs of a surface and a row."""
    places = envelope.parts[:, [NODE, PRIMITIVE]]
    _, surface = np.unique(places, axis=0, return_inverse=True)
    counts = envelope.parts[:, VERTICES]
    rows = np.repeat(surface.reshape(-1).astype(np.int64), counts) << 32
    return len(np.unique(rows | envelope.order))
