"""What pictures need of a character.

Characters show a picture of themselves in notebooks, so pictures do not know the class
of characters, only what is asked of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import ArrayLike

from flexor.api.skins import Method, SkinnedPrimitive, Weights
from flexor.deform.bind import Bind
from flexor.errors import SettingError
from flexor.pose.clip_tables import ClipTables
from flexor.pose.pose import Pose
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene

__all__ = ["Drawable", "check_one"]

ASKED = ("scene", "clips", "binds", "pose", "deform_many")


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


def check_one(character: Any) -> None:
    """Refuse what is no character, and say what draws several."""
    if all(hasattr(character, name) for name in ASKED):
        return
    have = type(character).__name__
    if isinstance(character, list | tuple | set | frozenset):
        raise SettingError(
            f"character: {have} of {len(character)}, expected one; flexor.Crowd draws "
            "many, flexor.Stage those who play together, and a draw list any others "
            "(docs/guide/draw.md: two characters in one picture)"
        )
    raise SettingError(f"character: {have}, expected a Character, see flexor.load")
