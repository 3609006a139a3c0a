"""What is heard of a stage: steps by the ground, blows, guards, parries, splashes."""

from __future__ import annotations

import numpy as np

from flexor.api.stage import Stage
from flexor.scene.stage.layout import SURFACES
from flexor.scene.stage.moves import KINDS
from flexor.stage.effects.layout import CHECKED
from flexor.stage.movement.layout import BROKEN, GUARDED, HIT, PARRIED, THROWN

__all__ = ["StageEars"]

OUTCOMES = {
    HIT: "hit",
    GUARDED: "guard",
    PARRIED: "parry",
    THROWN: "throw",
    BROKEN: "guard",
}
ATTACK, JUMP = KINDS.index("attack"), KINDS.index("jump")
FEET = slice(0, 2)  # of CHECKED
LIFTED, DOWN = 0.06, 0.03  # metres above where it rests: a foot is up, and down again
SPLASH, QUIET = 8, 15  # drops of water that come at once, and ticks to the next splash


class StageEars:
    """Remembers what feet and drops were like, to tell what is new."""

    def __init__(self, stage: Stage) -> None:
        count = len(stage)
        self._is_up = np.zeros((count, 2), bool)
        self._rest = np.array([0.0, 0.0])
        for body in stage.state.bodies[:1]:
            rest = body.plan.feet
            self._rest[:] = [rest.get(part, 0.08) for part in CHECKED[FEET]]
        self._quiet = 0  # ticks in which no splash is heard

    def listen(self, stage: Stage) -> list[str]:
        """Names of sounds of the last tick."""
        state, found = stage.state, list[str]()
        for outcome in state.fight.outcomes[state.fight.outcomes > 0].tolist():
            found.append(OUTCOMES[outcome])
        for move in state.started[state.started >= 0].tolist():
            kind = int(state.tables.kinds[move])
            if kind in (ATTACK, JUMP):
                found.append("swing" if kind == ATTACK else "jump")
        if state.standing.landed.any():
            found.append("land")
        found += self._steps(stage)
        if self._splashes(stage):
            found.append("splash")
        return found

    def _splashes(self, stage: Stage) -> bool:
        """Whether water is thrown up that is to be heard, and was not just now."""
        churn = stage.state.scenery.churn
        self._quiet = max(self._quiet - 1, 0)
        if churn is None or not churn.live_count or self._quiet:
            return False
        new = np.count_nonzero((churn.ages == 0) & churn.is_water)
        if new < SPLASH:
            return False
        self._quiet = QUIET
        return True

    def _steps(self, stage: Stage) -> list[str]:
        """Feet that come down, by what is under them."""
        state = stage.state
        feet = state.scenery.parts[:, FEET, 1]
        over = feet - state.places[:, None, 1] - self._rest
        is_down = self._is_up & (over < DOWN)
        self._is_up = (self._is_up | (over > LIFTED)) & ~is_down
        heard = is_down.any(1) & state.standing.grounded & state.alive
        kinds = state.footing.surfaces[heard]
        return [f"step_{SURFACES[kind]}" for kind in np.unique(kinds).tolist()]
