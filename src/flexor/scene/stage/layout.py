"""Numbers that descriptions of a stage and kernels share: no compiler is loaded.

What is named by a word has the number of its place in the list of words.
"""

from __future__ import annotations

__all__ = ["BUTTONS", "FARTHEST", "KINDS", "ROLES", "SURFACES"]

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

# Kinds of moves.
KINDS = ("attack", "guard", "parry", "jump", "other", "crouch", "throw")
ATTACK, GUARD, PARRY, JUMP, OTHER, CROUCH, THROW = range(len(KINDS))

# What a character is seen to do; moves come behind them. "Back" and "front" are what
# one who is struck down lies on, or falls onto.
ROLES = (
    *("stance", "walk", "run", "back", "left", "right", "air"),
    *("hit", "guarded", "recoil", "beaten", "won"),
    *("down back", "down front", "lie back", "lie front", "rise back", "rise front"),
    *("thrown", "beaten back", "beaten front", "beaten left", "beaten right"),
)
STANCE, WALK, RUN, BACK, LEFT, RIGHT, AIR = range(7)
HIT, GUARDED, RECOIL, BEATEN, WON = range(7, 12)
DOWN_BACK, LIE_BACK, RISE_BACK, THROWN, BEATEN_BACK = 12, 14, 16, 18, 19
ROLE_COUNT = len(ROLES)
