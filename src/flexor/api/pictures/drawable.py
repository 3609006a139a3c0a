"""What pictures need of a character.

Characters show a picture of themselves in notebooks, so pictures do not know the class
of characters, only what is asked of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from numpy.typing import ArrayLike

from flexor.api.skins import Method, SkinnedPrimitive, Weights
from flexor.deform.bind import Bind
from flexor.pose.clip_tables import ClipTables
from flexor.pose.pose import Pose
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene

__all__ = ["Drawable"]


class Drawable(Protocol):
    """A character as pictures see it: see `flexor.Character`, which is one."""

    @property
    def scene(self) -> Scene:
        """All that the file says."""

    @property
    def clips(self) -> Mapping[str, Clip | PackedClip]:
        """The clips by name."""

    @property
    def binds(self) -> list[Bind]:
        """The primitives that are deformed."""

    def clip_tables(self, name: str) -> ClipTables:
        """A clip, laid out for sampling."""

    def pose(self, clip: str | None = None, time: float = 0.0) -> Pose:
        """The pose at a time, seconds; without a clip the rest pose."""

    def pose_many(self, clip: str | None, times: ArrayLike) -> Pose:
        """Poses at N times, seconds."""

    def deform(
        self, pose: Pose, *, weights: Weights = "multi", method: Method = "linear"
    ) -> list[SkinnedPrimitive]:
        """The skin at a pose."""

    def deform_many(
        self,
        poses: Pose,
        out: list[SkinnedPrimitive] | None = None,
        *,
        weights: Weights = "multi",
        method: Method = "linear",
    ) -> list[SkinnedPrimitive]:
        """The skin at N poses."""
