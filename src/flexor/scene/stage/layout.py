"""Numbers that descriptions of a stage and kernels share: no compiler is loaded.

What is named by a word has the number of its place in the list of words.
"""

from __future__ import annotations

__all__ = ["BUTTONS", "FARTHEST", "ROLES", "SURFACES"]

FARTHEST = 1e5  # metres, of any place from the origin

# What cells of the ground are made of.
SURFACES = ("plain", "sand", "water")
PLAIN, SAND, WATER = range(len(SURFACES))

# Buttons of a pad; masks have a bit for each.
BUTTONS = ("up", "down", "left", "right", "A", "B", "C", "X", "Y", "Z", "L", "R")
BUTTON_UP, BUTTON_DOWN, BUTTON_LEFT, BUTTON_RIGHT = 1, 2, 4, 8
BUTTON_L, BUTTON_R = 1 << 10, 1 << 11
# Above them, how far a stick is tilted: the first bits of two signed bytes, to the
# right and up, and how much is all the way.
STICK_RIGHT, STICK_UP, STICK_FULL = 16, 24, 127

# What a character is seen to do; moves come behind them.
ROLES = (
    *("stance", "walk", "run", "back", "left", "right", "air"),
    *("hit", "guarded", "recoil", "beaten", "won"),
)
STANCE, WALK, RUN, BACK, LEFT, RIGHT, AIR = range(7)
HIT, GUARDED, RECOIL, BEATEN, WON = range(7, 12)
ROLE_COUNT = len(ROLES)
