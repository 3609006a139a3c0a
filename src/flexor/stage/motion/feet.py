"""Feet that stand still on the ground, and make little steps where clips make none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.pose.play.kernels import player as kernel_player
from flexor.pose.play.player import PlayerState
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.motion.contacts import ClipContacts, join_contacts
from flexor.stage.motion.layout import (
    FOUND,
    FREE,
    STEP_NUMBERS,
    Contacts,
    Heard,
    Soles,
    Steps,
)

__all__ = ["FEET_POINTS", "Footwork", "init_footwork", "no_soles"]

FEET_POINTS = 8  # of a sole, at most


@dataclass(slots=True, eq=False)
class Footwork:
    """How n characters of a kind stand; M limbs, of which some are feet.

    phases: int32 (n, M), see `layout`; offsets: float64 (n, M, 4), metres along x, y
    and z of the world and radians about y by which feet are off where clips have them;
    spots: float64 (n, M, K, 2), where points of soles were in the last tick, x and z;
    steps: float64 (n, M, 7), see `layout`; paces: float64 (n, 2), metres a second,
    smooth; headings: float64 (n,), of the last tick; rests: float64 (n,), seconds since
    anything moved.
    """

    phases: Hashed[Ints]
    offsets: Hashed[Doubles]
    spots: Hashed[Doubles]
    steps: Hashed[Doubles]
    paces: Hashed[Doubles]
    headings: Hashed[Doubles]
    rests: Hashed[Doubles]
    soles: Unhashed[Soles]
    contacts: Unhashed[Contacts]
    has_feet: Unhashed[bool]
    # As kernels take them.
    own: Unhashed[Steps] = field(init=False, repr=False)
    heard: Unhashed[Heard] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.own = Steps(
            self.phases,
            self.offsets,
            self.spots,
            self.steps,
            self.paces,
            self.headings,
            self.rests,
            np.zeros((self.phases.shape[1], FOUND)),
        )


def no_soles(limbs: int) -> Soles:
    """Of a body of which no feet are known."""
    return Soles(
        np.full((limbs, FEET_POINTS), -1, np.int32),
        np.zeros((limbs, FEET_POINTS, 3)),
        np.zeros(limbs, np.int32),
        np.zeros(limbs),
    )


def init_footwork(
    player: PlayerState, soles: Soles, contacts: Mapping[str, ClipContacts]
) -> Footwork:
    """Feet of all characters of a player, as their clips have them."""
    count, limbs = player.count, len(soles.nodes)
    known: Sequence[ClipContacts | None] = [
        contacts.get(name) for name in player.motions.names
    ]
    made = Footwork(
        np.full((count, limbs), FREE, np.int32),
        np.zeros((count, limbs, 4)),
        np.zeros((count, limbs, FEET_POINTS, 2)),
        np.zeros((count, limbs, STEP_NUMBERS)),
        np.zeros((count, 2)),
        np.zeros(count),
        np.zeros(count),
        soles,
        join_contacts(known, limbs),
        bool((soles.nodes[:, 0] >= 0).any()) if limbs else False,
    )
    made.heard = Heard(
        player._marks,
        player._voices,
        player._targets,
        player.speeds,
        kernel_player.CLIP,
        kernel_player.POSITION,
        kernel_player.SPEED,
    )
    return made
