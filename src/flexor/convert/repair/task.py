"""What a pass of a repair is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from flexor.arrays import Ints
from flexor.convert.shape.body import Body, Pull
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.errors import SettingError
from flexor.scene.finding import Finding

__all__ = ["BodyTask", "Mended", "Note", "SceneTask", "refuse_pattern"]

Note = Callable[[str], None]  # takes a few words before each part of the work


@dataclass(frozen=True, slots=True, eq=False)
class BodyTask:
    """A body whose weights are to be changed.

    number: of the body in its scene; scene: as it was before its weights were changed,
    for its skeleton and clips; joints: rows of the joints that may be changed, None for
    all; influences: the most joints that pulled any vertex of the scene as it came.
    """

    number: int
    scene: SceneFacts
    facts: BodyFacts
    joints: Ints | None
    influences: int
    note: Note

    @property
    def body(self) -> Body:
        """The body itself."""
        return self.facts.body

    @property
    def where(self) -> str:
        """What findings about the whole body are told of."""
        names = self.facts.body.names
        return names[0] if len(names) else "skin"


@dataclass(frozen=True, slots=True, eq=False)
class Mended:
    """New weights of a body's V vertices, and what was found."""

    pull: Pull
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SceneTask:
    """A scene that is to be changed.

    given: the scene as it came, of the same bodies, which none of its joints is to look
    worse than; rows: of each body, joints that may be changed.
    """

    facts: SceneFacts
    given: SceneFacts
    rows: tuple[Ints, ...]
    note: Note


def refuse_pattern(bodies: Iterable[BodyFacts], patterns: Sequence[str]) -> NoReturn:
    """Say that no joint of these bodies fits a pattern, and which there are."""
    names = [name for facts in bodies for name in facts.body.names]
    some = ", ".join(repr(name) for name in names[:8]) or "none"
    more = ", ..." if len(names) > 8 else ""
    asked = ", ".join(repr(pattern) for pattern in patterns)
    raise SettingError(f"joints: none fits {asked}; there are: {some}{more}")
