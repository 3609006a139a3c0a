"""What opponents of each skill can: how late they see, how often they err, and more."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SKILLS", "Traits"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What a skill is.

    delay: ticks until what happens is known; think: ticks between decisions, about;
    slip: how often it does not do what it should; guard, parry, answer: how often it
    guards, parries and answers what it could; attack: how often it decides to attack;
    wary: how often it guards before it sees anything; learn: how much of what it could
    know of others' habits it makes use of; misjudge: metres by which it misjudges how
    far it reaches, about.
    """

    delay: int
    think: int
    slip: float
    guard: float
    parry: float
    answer: float
    attack: float
    wary: float
    learn: float
    misjudge: float


SKILLS: dict[str, Traits] = {
    "low": Traits(26, 26, 0.35, 0.3, 0.05, 0.2, 0.4, 0.05, 0.15, 0.2),
    "middle": Traits(12, 12, 0.1, 0.6, 0.35, 0.8, 0.55, 0.25, 0.85, 0.06),
    "high": Traits(10, 7, 0.03, 0.7, 0.7, 1.0, 0.6, 0.35, 1.0, 0.02),
}
