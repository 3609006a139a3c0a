"""What an opponent learns of others while it plays: what follows on what, and whether
they strike as soon as they can.

    habits = Habits(count)
    habits.watch(sight, tick - age, strikes, throws)  # in every tick
    habits.pressure(who)                    # 0: waits, 1: strikes at once
    habits.next_after(who, move, began)     # what it did after that, last time
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Bools
from flexor.games.match.senses import Sight

__all__ = ["FORGET", "Habits"]

SOON = 18  # ticks after it could act: who strikes by then has not waited
LEARN = 0.35  # of the way from what was thought to what is seen
# Ticks: what comes later does not follow, and who could strike and has not for so long
# has waited once more. Without that, two who have pressed each other would stand behind
# their guards for ever.
FORGET = 120
ANY = -2  # whatever was before


class Habits:
    """Of N characters what each is known to do.

    began: int64 (N,), the tick in which the last strike began that was seen; strikes:
    int32 (N,), its move, -1 for none yet.
    """

    def __init__(self, count: int) -> None:
        self.began = np.full(count, -FORGET, np.int64)
        self.strikes = np.full(count, -1, np.int32)
        self._free_since = np.zeros(count, np.int64)
        self._is_free = np.zeros(count, np.bool_)
        self._pressure = np.zeros(count)
        self._throws = np.zeros(count)
        self._idle = np.zeros(count, np.int64)  # ticks since it could strike
        # The strike before that, and what followed on one strike, and on two.
        self._before = np.full(count, -1, np.int32)
        self._after: dict[tuple[int, int, int], tuple[int, int]] = {}

    def set_back(self) -> None:
        """Time begins anew; what was learned stays."""
        self.began[:], self.strikes[:], self._before[:] = -FORGET, -1, -1
        self._free_since[:], self._is_free[:] = 0, False
        self._idle[:] = 0

    def watch(self, sight: Sight, tick: int, strikes: Bools, throws: Bools) -> None:
        """Take in what was so in a tick; strikes, throws: bool (M,), which moves are
        attacks of any kind, and which of those are throws.
        """
        for who in range(len(self.began)):
            move = int(sight.moves[who])
            is_free = bool(sight.can_act[who]) and move < 0
            if is_free and not self._is_free[who]:
                self._free_since[who] = tick
            self._is_free[who] = is_free
            if move < 0 or not strikes[move]:
                # Behind a guard it could strike, too; who is stunned or lies could not.
                could = sight.alive[who] and (is_free or move >= 0)
                self._idle[who] = self._idle[who] + 1 if could else 0
                if self._idle[who] == FORGET:
                    self._idle[who] = 0
                    self._pressure[who] -= LEARN * self._pressure[who]
                continue
            self._idle[who] = 0
            began = tick - round(float(sight.at[who]))
            if began <= self.began[who] + 2:
                continue
            last, gap = int(self.strikes[who]), began - int(self.began[who])
            if last >= 0 and gap < FORGET:
                self._after[who, ANY, last] = move, gap
                self._after[who, int(self._before[who]), last] = move, gap
            # Since it was free, if it was since its last strike; else it did not wait.
            free = int(self._free_since[who])
            is_soon = began - max(free, int(self.began[who])) <= SOON
            is_soon = is_soon or free <= self.began[who]
            self._pressure[who] += LEARN * (float(is_soon) - self._pressure[who])
            self._throws[who] += LEARN * (float(throws[move]) - self._throws[who])
            self.began[who], self.strikes[who] = began, move
            self._before[who] = last if gap < FORGET else -1

    def pressure(self, who: int) -> float:
        """How sure it is that somebody strikes as soon as it can: 0 to 1; less, the
        longer it has not.
        """
        return float(self._pressure[who])

    def throws(self, who: int) -> float:
        """What part of its strikes are throws: 0 to 1."""
        return float(self._throws[who])

    def next_after(self, who: int, move: int, began: int) -> tuple[int, int] | None:
        """The strike that followed on one last time, and after how many ticks.

        began: of the strike, which may have been felt and not been seen yet. What was
        before it counts, if that is known.
        """
        gap = began - int(self.began[who])
        before = int(self._before[who])
        if gap > 2:
            before = int(self.strikes[who]) if gap < FORGET else -1
        known = self._after.get((who, before, move))
        return self._after.get((who, ANY, move)) if known is None else known
