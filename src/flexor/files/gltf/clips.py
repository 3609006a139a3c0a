"""Animations out of glTF."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

import numpy as np

from flexor.arrays import Floats
from flexor.files import mend
from flexor.files.gltf.accessors import Accessors, check_finite
from flexor.files.gltf.carried import carried_of
from flexor.files.gltf.checked import Checked
from flexor.scene.character.clip import WIDTH, Clip, Interpolation, Path, Track
from flexor.scene.finding import Finding

__all__ = ["ClipReader"]

PATHS, INTERPOLATIONS = get_args(Path), get_args(Interpolation)


class ClipReader:
    """Reads animations.

    target_counts: number of morph targets of each node (J,), 0 for none; matrices: the
    nodes given by a matrix, which cannot be animated.
    """

    def __init__(
        self,
        accessors: Accessors,
        findings: list[Finding],
        target_counts: list[int],
        matrices: Mapping[int, Floats],
    ) -> None:
        self._accessors = accessors
        self._findings = findings
        self._target_counts = target_counts
        self._matrices = matrices
        self._times: dict[int, Floats] = {}

    def read(self, item: Checked, name: str) -> Clip:
        """One animation."""
        channels = item.table("channels")
        targets = channels.below("target")
        samplers = item.table("samplers")
        count = len(self._accessors)
        inputs = samplers.rows("input", count, "accessor")
        outputs = samplers.rows("output", count, "accessor")
        kinds = samplers.choices("interpolation", INTERPOLATIONS, "LINEAR")
        tracks: list[Track] = []
        sources: list[Checked] = []
        taken: set[tuple[int, str]] = set()
        for row, (node, path, source) in enumerate(
            zip(
                targets.rows("node", len(self._target_counts), "node", -1),
                targets.texts("path"),
                channels.rows("sampler", len(samplers), "sampler"),
                strict=True,
            )
        ):
            reason = self._reason(node, path, taken)
            if reason is not None:
                self._note(reason[0], channels[row], f"{reason[1]}; left out")
                continue
            if path != "weights" and node in self._matrices:
                text = f"node {node} has a matrix; its channel replaces that"
                self._note("channel-matrix", channels[row], text)
            taken.add((node, path))
            sampler = samplers[source]
            times = self._key_times(inputs[source], sampler)
            track = self._track(
                sampler, outputs[source], node, path, times, kinds[source]
            )
            tracks.append(track)
            sources.append(sampler)
        _check_values(tracks, sources)
        return Clip(name, tuple(tracks), carried_of(item, "extensions", "extras"))

    def _reason(
        self, node: int, path: str, taken: set[tuple[int, str]]
    ) -> tuple[str, str] | None:
        """Code and text why a channel cannot be used, or None."""
        if node < 0 or path not in PATHS:
            return "channel-unknown", f"a channel for {path!r}"
        if (node, path) in taken:
            return "channel-twice", f"a second channel for {path} of node {node}"
        if path == "weights" and not self._target_counts[node]:
            return "channel-unused", f"node {node} has no morph targets"
        return None

    def _note(self, code: str, item: Checked, text: str) -> None:
        self._findings.append(Finding("warning", code, item.pointer, text))

    def _track(
        self,
        sampler: Checked,
        row: int,
        node: int,
        path: str,
        times: Floats,
        kind: str,
    ) -> Track:
        """A track of which everything is checked but that its values are finite."""
        width = WIDTH.get(path) or self._target_counts[node]
        values = self._accessors.floats(row, 1 if path == "weights" else width)
        shape = (len(times), 3, width) if kind == "CUBICSPLINE" else (len(times), width)
        if values.shape != shape:
            expected = math.prod(shape)
            if values.size != expected:
                raise sampler.error(
                    f"{values.size} numbers for {len(times)} keys of {path}, expected "
                    f"{expected}",
                    "output",
                )
            values = values.reshape(shape)
        return Track.unchecked(node, path, times, values, kind)

    def _key_times(self, row: int, sampler: Checked) -> Floats:
        if row in self._times:
            times = self._times[row]
            self._accessors.charge(sampler, times.nbytes, "input")
            return times
        times = self._accessors.finite(sampler, "input", row, 1)[:, 0]
        try:
            times, repeated = mend.mend_times(times)
        except ValueError as error:
            raise sampler.error(str(error), "input") from None
        if repeated:
            text = f"{repeated} keys at the time of the key before moved up a little"
            self._note("times-repeated", self._accessors.place(row), text)
        times.flags.writeable = False
        self._times[row] = times
        return times


def _check_values(tracks: list[Track], sources: list[Checked]) -> None:
    """Refuse values that are not finite: all tracks at once, as most are small."""
    if not tracks:
        return
    if np.isfinite(np.concatenate([t.values for t in tracks], None)).all():
        return
    for track, sampler in zip(tracks, sources, strict=True):
        check_finite(sampler, "output", track.values.reshape(len(track.times), -1))
