"""Animations out of glTF."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from flexor.arrays import Floats
from flexor.files import mend
from flexor.files.gltf.accessors import Accessors, check_finite
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.materials import carried_of
from flexor.scene.clip import WIDTH, Clip, Path, Track
from flexor.scene.finding import Finding

__all__ = ["ClipReader"]

PATHS = ("translation", "rotation", "scale", "weights")
INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")


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
        self._count = len(accessors)
        self._findings = findings
        self._target_counts = target_counts
        self._matrices = matrices
        self._times: dict[int, Floats] = {}

    def read(self, item: Checked, name: str) -> Clip:
        """One animation."""
        samplers = item.items("samplers")
        tracks: list[Track] = []
        sources: list[Checked] = []
        taken: set[tuple[int, str]] = set()
        for channel in item.items("channels"):
            target = channel.child("target")
            path = target.text("path")
            node = target.index("node", len(self._target_counts), "node")
            sampler = samplers[channel.row("sampler", len(samplers), "sampler")]
            if node is None or path not in PATHS:
                text = f"a channel for {path!r} was left out"
                self._note("channel-unknown", channel, text)
                continue
            if (node, path) in taken:
                text = f"a second channel for {path} of node {node} was left out"
                self._note("channel-twice", channel, text)
                continue
            if path == "weights" and not self._target_counts[node]:
                text = f"node {node} has no morph targets; left out"
                self._note("channel-unused", channel, text)
                continue
            if path != "weights" and node in self._matrices:
                text = f"node {node} has a matrix; its channel replaces that"
                self._note("channel-matrix", channel, text)
            taken.add((node, path))
            tracks.append(self._track(sampler, node, path))  # type: ignore[arg-type]
            sources.append(sampler)
        _check_values(tracks, sources)
        return Clip(name, tuple(tracks), carried_of(item, "extensions", "extras"))

    def _note(self, code: str, item: Checked, text: str) -> None:
        self._findings.append(Finding("warning", code, item.pointer, text))

    def _track(self, sampler: Checked, node: int, path: Path) -> Track:
        """A track of which everything is checked but that its values are finite."""
        accessors = self._accessors
        kind = sampler.choice("interpolation", INTERPOLATIONS, "LINEAR")
        times = self._key_times(sampler.row("input", self._count, "accessor"), sampler)
        row = sampler.row("output", self._count, "accessor")
        width = WIDTH.get(path) or self._target_counts[node]
        values = accessors.floats(row, 1 if path == "weights" else width)
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
        return _make_track(node, path, times, values, kind)

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


def _make_track(
    node: int, path: Path, times: Floats, values: Floats, interpolation: str
) -> Track:
    """A Track without its own checks: three times as long as reading the track."""
    track = object.__new__(Track)
    put = object.__setattr__
    put(track, "node", node)
    put(track, "path", path)
    put(track, "times", times)
    put(track, "values", values)
    put(track, "interpolation", interpolation)
    return track


def _check_values(tracks: list[Track], sources: list[Checked]) -> None:
    """Refuse values that are not finite: all tracks at once, as most are small."""
    if not tracks:
        return
    if np.isfinite(np.concatenate([t.values for t in tracks], None)).all():
        return
    for track, sampler in zip(tracks, sources, strict=True):
        check_finite(sampler, "output", track.values.reshape(len(track.times), -1))
