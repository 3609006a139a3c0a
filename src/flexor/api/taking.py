"""One of a crowd, taken over by a player and given back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flexor.api.character import Character
from flexor.api.playing import Player
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.pose.play.kernels import player as kernel_player
from flexor.pose.play.kernels.voice import FREE, ONCE
from flexor.pose.play.layers import Layer
from flexor.pose.play.voices import leaders
from flexor.stage.crowd.crowd import CrowdState

__all__ = ["give_back", "take"]


def take(
    crowd: CrowdState,
    row: int,
    heroes: Sequence[Character],
    played: Sequence[Any],
    layers: Sequence[Layer | str] | None,
) -> Player:
    """A player that goes on with what one of a crowd does; that one is seen no more.

    heroes: by kind; played: by kind, its clips by name, and which of them carry it on.
    """
    kind = _kind_of(crowd, row)
    names = crowd.kinds[kind].motion.names
    if crowd.is_away[row]:
        raise SettingError(f"row: {row} is taken already")
    clips, root_motion = played[kind]
    player = Player(heroes[kind], layers=layers, root_motion=root_motion, clips=clips)
    heading, size = float(crowd.heading[row]), float(crowd.size[row])
    s, c = exact.sin(heading), exact.cos(heading)
    place = player.places[0]
    place[:, :3] = size * np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    place[:, 3] = crowd.place[row]
    number = int(crowd.clip[row])
    if number >= 0:
        name = names[number]
        speed, loops = float(crowd.speed[row]), bool(crowd.loops[row])
        length = float(player.state.motions.durations[player.state.motions.index(name)])
        time = float(crowd.time[row])
        if loops and length > 0 and not 0 <= time <= length:
            time %= length
        mode: Any = "loop" if loops else "once"
        start = min(max(time, 0.0), length)
        player.play(name, mode=mode, speed=speed, start=start)
    crowd.is_away[row] = True
    return player


def give_back(
    crowd: CrowdState, row: int, heroes: Sequence[Character], player: Player
) -> None:
    """Let one of a crowd go on where its player stands, with the clip that is heard
    most in its first layer; fades and further layers end.
    """
    kind = _kind_of(crowd, row)
    names = crowd.kinds[kind].motion.names
    if not isinstance(player, Player) or player.hero is not heroes[kind]:
        raise SettingError(f"player: expected one of the character of row {row}")
    if not crowd.is_away[row]:
        raise SettingError(f"row: {row} was not taken")
    state, first = player.state, np.zeros(1, np.int32)
    voices = len(state._voices) // len(state._targets)
    (voice,), _ = leaders(state, first, np.arange(voices)[None])
    clip = int(state._marks[voice, kernel_player.CLIP])
    name = "" if clip <= FREE or state._targets[0] < 0 else state.motions.names[clip]
    crowd.clip[row] = -1
    if name in names:
        length = float(state.motions.durations[clip])
        position = float(state._voices[voice, kernel_player.POSITION])
        crowd.clip[row] = names.index(name)
        # Who goes to and fro is beyond the end on its way back.
        crowd.time[row] = min(position, max(2 * length - position, 0.0))
        crowd.speed[row] = float(state._voices[voice, kernel_player.SPEED])
        crowd.loops[row] = int(state._marks[voice, kernel_player.MODE]) != ONCE
    place = player.places[0]
    crowd.place[row] = place[:, 3]
    crowd.heading[row] = float(exact.atan2_each(place[0, 2], place[2, 2]))
    crowd.size[row] = exact.norm(place[:, 1])
    crowd.is_away[row] = False


def _kind_of(crowd: CrowdState, row: Any) -> int:
    """The kind of one of a crowd; refuses what is no row of it."""
    is_whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
    if not is_whole or not 0 <= row < len(crowd):
        raise SettingError(f"row: {row!r}, expected 0 to {len(crowd) - 1}")
    return next(k for k, first in enumerate(crowd.firsts[1:]) if row < first)
