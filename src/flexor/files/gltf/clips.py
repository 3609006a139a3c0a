"""Animations out of glTF."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flexor.arrays import Floats
from flexor.files import mend
from flexor.files.gltf.accessors import Accessors
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.materials import carried_of
from flexor.scene.clip import WIDTH, Clip, Interpolation, Path, Track
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
        self._findings = findings
        self._target_counts = target_counts
        self._matrices = matrices
        self._times: dict[int, Floats] = {}

    def read(self, item: Checked, name: str) -> Clip:
        """One animation."""
        samplers = item.items("samplers")
        tracks: list[Track] = []
        taken: set[tuple[int, str]] = set()
        for channel in item.items("channels"):
            target = channel.child("target")
            path = target.text("path")
            node = target.index("node", len(self._target_counts), "node")
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
            if node in self._matrices and path != "weights":
                text = f"node {node} has a matrix; its channel replaces that"
                self._note("channel-matrix", channel, text)
            taken.add((node, path))
            row = channel.child("sampler").as_index(len(samplers), "sampler")
            tracks.append(self._track(samplers[row], node, path))  # type: ignore[arg-type]
        return Clip(name, tuple(tracks), carried_of(item, "extensions", "extras"))

    def _note(self, code: str, item: Checked, text: str) -> None:
        self._findings.append(Finding("warning", code, item.pointer, text))

    def _track(self, sampler: Checked, node: int, path: Path) -> Track:
        accessors = self._accessors
        kind = sampler.choice("interpolation", INTERPOLATIONS, "LINEAR")
        times_row = sampler.child("input").as_index(len(accessors), "accessor")
        times = self._key_times(times_row, sampler)
        row = sampler.child("output").as_index(len(accessors), "accessor")
        width = WIDTH.get(path, self._target_counts[node])
        values = accessors.floats(row, 1 if path == "weights" else width)
        if not np.isfinite(values).all():
            key = int(np.argmin(np.isfinite(values).all(1)))
            raise sampler.error(f"element {key} is not finite", "output")
        middle = (3,) if kind == "CUBICSPLINE" else ()
        shape = (len(times), *middle, width)
        if values.size != np.prod(shape):
            raise sampler.error(
                f"{values.size} numbers for {len(times)} keys of {path}, expected "
                f"{int(np.prod(shape))}",
                "output",
            )
        interpolation: Interpolation = kind  # type: ignore[assignment]
        return Track(node, path, times, values.reshape(shape), interpolation)

    def _key_times(self, row: int, sampler: Checked) -> Floats:
        if row in self._times:
            return self._times[row]
        times = self._accessors.floats(row, 1)[:, 0]
        if not np.isfinite(times).all():
            key = int(np.argmin(np.isfinite(times)))
            raise sampler.error(f"key time {key} is not finite", "input")
        try:
            times, repeated = mend.mend_times(times)
        except ValueError as error:
            raise sampler.error(str(error), "input") from None
        if repeated:
            text = f"{repeated} keys at the time of the key before moved up a little"
            self._note("times-repeated", self._accessors.place(row), text)
        self._times[row] = times
        return times
