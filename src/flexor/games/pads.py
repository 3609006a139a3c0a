"""Keys and gamepads to what the two pads hold.

A stick gives how far it is tilted, and directions like keys beside that; a stick that
is nearly upright gives neither. Keys and crosses count before sticks.

Keys are told by their place and not by their letter: WASD is where it is on a US
keyboard, also where other letters are printed there. A press that is shorter than a
tick is held for one tick, so that none is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexor.games.game import COIN, PADS
from flexor.maths import exact
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import ALL_BUTTONS, button_mask
from flexor.scene.stage.sticks import ALL_STICK, stick_mask, stick_of

__all__ = [
    "KEYS",
    "KEY_HELP",
    "PAD_HELP",
    "Device",
    "PadWish",
    "Pads",
    "clean_mask",
    "join_masks",
    "key_masks",
    "stick_ways",
    "tilt_mask",
]

PadWish = Literal["pause", "title"]
# Places of keys by the names of SDL's scancodes, for each player. The first has the
# number pad too, where there is one. R and P are not here: the window has them.
KEYS: tuple[Mapping[str, str], ...] = (
    {
        "UP": "up",
        "DOWN": "down",
        "LEFT": "left",
        "RIGHT": "right",
        "J": "A",
        "K": "B",
        "L": "C",
        "U": "X",
        "I": "Y",
        "O": "Z",
        "M": "L",
        "COMMA": "R",
        "KP_1": "A",
        "KP_2": "B",
        "KP_3": "C",
        "KP_4": "X",
        "KP_5": "Y",
        "KP_6": "Z",
        "KP_7": "L",
        "KP_9": "R",
    },
    {
        "W": "up",
        "S": "down",
        "A": "left",
        "D": "right",
        "F": "A",
        "G": "B",
        "H": "C",
        "V": "X",
        "B": "Y",
        "N": "Z",
        "Q": "L",
        "E": "R",
    },
)
KEY_HELP = (
    "player 1: arrows,  J K L = A B C,  U I O = X Y Z,  M , = L R",
    "or on the number pad:  1 2 3 = A B C,  4 5 6 = X Y Z,  7 9 = L R",
    "player 2: W A S D,  F G H = A B C,  V B N = X Y Z,  Q E = L R",
)
PAD_HELP = (
    "gamepad: stick or cross,  lower A, right B, left C, upper X",
    "triggers Y Z,  shoulders L R,  start: pause,  back: title or coin",
)
# Gamepads that SDL knows, by the place of the button and not by what is printed on it.
MAPPED = {
    "DPAD_UP": "up",
    "DPAD_DOWN": "down",
    "DPAD_LEFT": "left",
    "DPAD_RIGHT": "right",
    "A": "A",
    "B": "B",
    "X": "C",
    "Y": "X",
    "LEFTSHOULDER": "L",
    "RIGHTSHOULDER": "R",
}
MAPPED_WISHES: dict[str, PadWish] = {"START": "pause", "BACK": "title"}
# Others: what most of them have at these numbers.
PLAIN = ("A", "B", "C", "X", "L", "R", "Y", "Z")
PLAIN_WISHES: dict[int, PadWish] = {8: "title", 9: "pause"}
PRESS, RELEASE = 0.5, 0.35  # of a stick's way: no trembling between the two
# Parts of a stick's way: up to the first it stands upright, sticks seldom come back to
# the middle; from the second on it is tilted all the way, as few reach the end.
DEAD, WHOLE = 0.18, 0.92
UP, DOWN, LEFT, RIGHT = (1 << BUTTONS.index(n) for n in ("up", "down", "left", "right"))
WAYS = UP | DOWN | LEFT | RIGHT
LEFT_TRIGGER, RIGHT_TRIGGER = button_mask("Y"), button_mask("Z")
MOST_COINS = 99  # that wait to be told
FULL = 32768  # of an axis of a gamepad that SDL knows


def clean_mask(mask: int) -> int:
    """Without directions that cancel each other."""
    for both in (UP | DOWN, LEFT | RIGHT):
        if mask & both == both:
            mask &= ~both
    return mask


def _against(mask: int) -> int:
    """The directions against those of a mask."""
    ways = ((UP, DOWN), (DOWN, UP), (LEFT, RIGHT), (RIGHT, LEFT))
    return sum(other for one, other in ways if mask & one)


def key_masks(held: Iterable[int], is_alone: bool = False) -> tuple[int, int]:
    """What the keys of both players hold; held: scancodes.

    is_alone: there is one player, who has all keys.
    """
    masks = [0, 0]
    table = _key_table()
    for code in held:
        player, mask = table.get(code, (0, 0))
        masks[0 if is_alone else player] |= mask
    return masks[0], masks[1]


def join_masks(masks: Iterable[int]) -> int:
    """What several things that belong to one player hold together.

    Of sticks the one that is tilted most counts; none where directions are held by
    something that has no stick.
    """
    buttons, stick, is_held, most = 0, 0, False, 0.0
    for mask in masks:
        buttons |= mask & ALL_BUTTONS
        if mask & ALL_STICK:
            far = exact.hypot(*stick_of(mask))
            if far > most:
                stick, most = mask & ALL_STICK, far
        elif mask & WAYS:
            is_held = True
    return buttons if is_held else buttons | stick


def tilt_mask(x: float, y: float) -> int:
    """How far a stick is tilted, as a pad's mask has it; x, y: -1 to 1, right, down."""
    size = exact.hypot(x, y)
    if not size > DEAD:
        return 0
    scale = min((size - DEAD) / (WHOLE - DEAD), 1.0) / size
    return stick_mask(x * scale, -y * scale)


def stick_ways(x: float, y: float, before: int = 0) -> int:
    """Directions of a stick; x, y: -1 to 1, right and down; before: those it had."""
    mask = 0
    for way, bit in ((-x, LEFT), (x, RIGHT), (-y, UP), (y, DOWN)):
        if way > (RELEASE if before & bit else PRESS):
            mask |= bit
    return mask


@cache
def _key_table() -> dict[int, tuple[int, int]]:
    """Player and mask of each scancode."""
    import pygame

    return {
        getattr(pygame, f"KSCAN_{key}"): (player, button_mask(button))
        for player, keys in enumerate(KEYS)
        for key, button in keys.items()
    }


@cache
def _mapped_tables() -> tuple[dict[int, int], dict[int, PadWish]]:
    """Masks and wishes of the buttons of gamepads that SDL knows."""
    import pygame

    def number(name: str) -> int:
        found: int = getattr(pygame, f"CONTROLLER_BUTTON_{name}")
        return found

    masks = {number(name): button_mask(button) for name, button in MAPPED.items()}
    return masks, {number(name): wish for name, wish in MAPPED_WISHES.items()}


@dataclass(slots=True, eq=False)
class Device:
    """A gamepad that is plugged in.

    number: its own while it is; is_mapped: whether SDL knows where its buttons are;
    player: whose it is, -1: nobody's; is_used: whether it was ever pressed; handles:
    what must stay open for events to come.
    """

    number: int
    is_mapped: bool
    player: int = -1
    is_used: bool = False
    handles: tuple[Any, ...] = ()
    _buttons: int = 0
    _stick: int = 0
    _hat: int = 0
    _triggers: int = 0
    _axes: list[float] = field(default_factory=lambda: [0.0, 0.0])

    @property
    def mask(self) -> int:
        """What it holds."""
        buttons = self._buttons | self._hat | self._triggers
        return join_masks((buttons, self._stick | tilt_mask(*self._axes)))

    def press(self, button: int, is_down: bool) -> PadWish | None:
        """Take a button; gives what it asks of the window, if anything."""
        if self.is_mapped:
            masks, wishes = _mapped_tables()
            mask, wish = masks.get(button, 0), wishes.get(button)
        else:
            mask = button_mask(PLAIN[button]) if button < len(PLAIN) else 0
            wish = PLAIN_WISHES.get(button)
        self._buttons = self._buttons | mask if is_down else self._buttons & ~mask
        self.is_used |= is_down
        return wish if is_down else None

    def tilt(self, axis: int, value: float) -> None:
        """Take an axis, -1 to 1: a stick's, or a trigger's (4 and 5, if mapped)."""
        if axis < 2:
            self._axes[axis] = value
            self._stick = stick_ways(self._axes[0], self._axes[1], self._stick)
        elif self.is_mapped and axis in (4, 5):
            bit = LEFT_TRIGGER if axis == 4 else RIGHT_TRIGGER
            is_down = value > (RELEASE if self._triggers & bit else PRESS)
            self._triggers = self._triggers | bit if is_down else self._triggers & ~bit
        self.is_used |= bool(self._stick | self._triggers)

    def turn_hat(self, x: float, y: float) -> None:
        """Take the cross of a gamepad that SDL does not know; y: 1 is up."""
        self._hat = stick_ways(x, -y)
        self.is_used |= bool(self._hat)


def open_device(index: int) -> Device:
    """Open a gamepad by its place in the list of those that are plugged in."""
    import pygame
    from pygame._sdl2 import controller

    stick = pygame.joystick.Joystick(index)
    number = stick.get_instance_id()
    if not controller.is_controller(index):
        return Device(number, False, handles=(stick,))
    return Device(number, True, handles=(stick, controller.Controller(index)))


@dataclass(slots=True, eq=False)
class Pads:
    """What two players hold, by keys and gamepads; `take` each event, `read` each tick.

    is_alone: there is one player, who has all keys and all gamepads; devices: the
    gamepads by number; lost: players whose gamepad was in use and is gone.
    """

    is_alone: bool = False
    open: Callable[[int], Device] = open_device
    devices: dict[int, Device] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    _keys: set[int] = field(default_factory=set)
    _fresh: list[int] = field(default_factory=lambda: [0] * PADS)
    _coins: list[int] = field(default_factory=lambda: [0] * PADS)
    _had_coin: list[bool] = field(default_factory=lambda: [False] * PADS)

    def insert_coin(self, player: int) -> None:
        """Put in a coin at the pad of a player, 0 or 1; it is told once, by `read`."""
        self._coins[player] = min(self._coins[player] + 1, MOST_COINS)

    def take(self, event: Any) -> PadWish | None:
        """Take an event of pygame; gives what a gamepad asks of the window."""
        import pygame

        kind = event.type
        before = self._masks()
        wish: PadWish | None = None
        if kind == pygame.KEYDOWN:
            self._keys.add(event.scancode)
        elif kind == pygame.KEYUP:
            self._keys.discard(event.scancode)
        elif kind == pygame.WINDOWFOCUSLOST:
            self._keys.clear()  # that they are let go is told to another window
        elif kind == pygame.JOYDEVICEADDED:
            self._add(event.device_index)
        elif kind == pygame.JOYDEVICEREMOVED:
            self._remove(event.instance_id)
        else:
            wish = self._take_device(event)
        for player, (now, old) in enumerate(zip(self._masks(), before, strict=True)):
            self._fresh[player] |= now & ~old & ALL_BUTTONS
        return wish

    def _take_device(self, event: Any) -> PadWish | None:
        import pygame

        device = self.devices.get(getattr(event, "instance_id", -1))
        if device is None:
            return None
        kind = event.type
        if device.is_mapped:  # it tells everything a second time, as a joystick
            if kind in (pygame.CONTROLLERBUTTONDOWN, pygame.CONTROLLERBUTTONUP):
                is_down = kind == pygame.CONTROLLERBUTTONDOWN
                return device.press(event.button, is_down)
            if kind == pygame.CONTROLLERAXISMOTION:
                device.tilt(event.axis, event.value / FULL)
        elif kind in (pygame.JOYBUTTONDOWN, pygame.JOYBUTTONUP):
            return device.press(event.button, kind == pygame.JOYBUTTONDOWN)
        elif kind == pygame.JOYAXISMOTION:
            device.tilt(event.axis, event.value)
        elif kind == pygame.JOYHATMOTION and event.hat == 0:
            device.turn_hat(*event.value)
        return None

    def _add(self, index: int) -> None:
        import pygame

        try:
            device = self.open(index)
        except pygame.error:
            return  # it was gone again before it could be opened
        if device.number in self.devices:
            return
        self.devices[device.number] = device
        self._share_out()

    def _remove(self, number: int) -> None:
        device = self.devices.pop(number, None)
        if device is None:
            return
        if device.is_used and device.player >= 0:
            self.lost.add(device.player)

    def go_on(self) -> None:
        """Do without lost gamepads; one that nobody had takes the place of each."""
        self.lost.clear()
        self._share_out()

    def _share_out(self) -> None:
        """Give gamepads that are nobody's to players who have none, or lost theirs."""
        for device in self.devices.values():
            if device.player >= 0:
                continue
            if self.is_alone:
                device.player = 0
            else:
                taken = {other.player for other in self.devices.values()}
                free = [player for player in range(PADS) if player not in taken]
                free.sort(key=lambda player: player not in self.lost)
                device.player = free[0] if free else -1
            self.lost.discard(device.player)

    def _masks(self) -> list[int]:
        masks = [[mask] for mask in key_masks(self._keys, self.is_alone)]
        for device in self.devices.values():
            if device.player >= 0:
                masks[device.player].append(device.mask)
        return [join_masks(own) for own in masks]

    def read(self) -> NDArray[np.uint32]:
        """What is held in this tick, uint32 (2,), see `flexor.scene.stage.sticks`.

        Short presses are told once.
        """
        masks = []
        for now, fresh in zip(self._masks(), self._fresh, strict=True):
            held = clean_mask(now)
            # What was let go already does not cancel what is held.
            masks.append(held | clean_mask(fresh & ~_against(held)))
        self._fresh = [0] * PADS
        for player in range(PADS):
            # A tick between two coins, so that they are two.
            has_coin = self._coins[player] > 0 and not self._had_coin[player]
            if has_coin:
                self._coins[player] -= 1
                masks[player] = (masks[player] & ~ALL_STICK) | COIN
            self._had_coin[player] = has_coin
        return np.array(masks, np.uint32)
