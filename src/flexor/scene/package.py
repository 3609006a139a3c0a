"""The runtime form of a character: its scene, and what was made of it to run fast."""

from __future__ import annotations

from collections.abc import Callable

from flexor.scene.envelope import Envelopes
from flexor.scene.scene import Scene

__all__ = ["Package"]


class Package:
    """A scene and its envelopes.

    The envelopes may be given by a function, which is called when they are first asked
    for: many uses of a file need none.
    """

    def __init__(
        self, scene: Scene, envelopes: Envelopes | Callable[[], Envelopes]
    ) -> None:
        self.scene = scene
        self._envelopes = envelopes

    @property
    def envelopes(self) -> Envelopes:
        """With all weights, and with one."""
        if not isinstance(self._envelopes, Envelopes):
            self._envelopes = self._envelopes()
        return self._envelopes
