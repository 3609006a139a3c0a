"""The runtime form of a character: its scene, and what was made of it to run fast."""

from __future__ import annotations

from collections.abc import Callable

from flexor.scene.envelope import Envelopes
from flexor.scene.scene import Scene

__all__ = ["Package"]


class Package:
    """A scene and its envelopes.

    Each may be given by a function, which is called when it is first asked for (that
    for the envelopes with the scene): few uses of a file need all that is in it.
    """

    def __init__(
        self,
        scene: Scene | Callable[[], Scene],
        envelopes: Envelopes | Callable[[Scene], Envelopes],
    ) -> None:
        self._scene = scene
        self._envelopes = envelopes

    @property
    def scene(self) -> Scene:
        """All that the file says, in the file's order."""
        if not isinstance(self._scene, Scene):
            self._scene = self._scene()
        return self._scene

    @property
    def envelopes(self) -> Envelopes:
        """With all weights, and with one."""
        if not isinstance(self._envelopes, Envelopes):
            self._envelopes = self._envelopes(self.scene)
        return self._envelopes
