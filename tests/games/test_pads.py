"""Keys and gamepads to masks: by made-up events, and by a gamepad that SDL makes up."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from flexor.games.pads import (
    KEYS,
    Device,
    Pads,
    clean_mask,
    join_masks,
    key_masks,
    stick_ways,
    tilt_mask,
)
from flexor.games.window import COMMANDS
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import ALL_BUTTONS, button_mask, button_text
from flexor.scene.stage.sticks import pad_mask, pad_text, stick_of

pygame = pytest.importorskip("pygame")


def scan(name: str) -> int:
    code: int = getattr(pygame, f"KSCAN_{name}")
    return code


def key(name: str, is_down: bool = True) -> Any:
    kind = pygame.KEYDOWN if is_down else pygame.KEYUP
    return SimpleNamespace(type=kind, scancode=scan(name))


def texts(pads: Pads) -> tuple[str, str]:
    held = pads.read()
    return button_text(int(held[0]) & ALL_BUTTONS), button_text(
        int(held[1]) & ALL_BUTTONS
    )


def plug(pads: Pads, index: int) -> None:
    pads.take(SimpleNamespace(type=pygame.JOYDEVICEADDED, device_index=index))


def unplug(pads: Pads, number: int) -> None:
    pads.take(SimpleNamespace(type=pygame.JOYDEVICEREMOVED, instance_id=number))


def press(pads: Pads, number: int, name: str = "A", is_down: bool = True) -> Any:
    kind = pygame.CONTROLLERBUTTONDOWN if is_down else pygame.CONTROLLERBUTTONUP
    button = getattr(pygame, f"CONTROLLER_BUTTON_{name}")
    return pads.take(SimpleNamespace(type=kind, instance_id=number, button=button))


def fake_pads(*, is_alone: bool = False, is_mapped: bool = True) -> Pads:
    return Pads(is_alone, open=lambda index: Device(index, is_mapped))


@pytest.mark.parametrize("player", [0, 1])
def test_each_player_has_every_button_on_the_keyboard(player: int) -> None:
    assert set(KEYS[player].values()) == set(BUTTONS)
    for name, button in KEYS[player].items():
        masks = key_masks([scan(name)])
        assert masks[player] == button_mask(button)
        assert masks[1 - player] == 0
        assert key_masks([scan(name)], is_alone=True) == (button_mask(button), 0)


def test_no_key_does_two_things() -> None:
    names = [*KEYS[0], *KEYS[1], *COMMANDS]
    assert len({scan(name) for name in names}) == len(names)
    assert key_masks([scan("F5"), 0, 511]) == (0, 0)


@pytest.mark.parametrize(
    ("mask", "left"),
    [("left+right", "-"), ("up+down+A", "A"), ("up+left", "up+left"), ("B", "B")],
)
def test_directions_that_cancel(mask: str, left: str) -> None:
    assert button_text(clean_mask(button_mask(mask))) == left


def test_a_stick_does_not_tremble() -> None:
    assert stick_ways(0.45, -0.45) == 0
    assert button_text(stick_ways(0.55, -0.72)) == "up+right"
    assert button_text(stick_ways(-1, 1)) == "down+left"
    right = button_mask("right")
    assert stick_ways(0.45, 0, right) == right
    assert stick_ways(0.3, 0, right) == 0


def test_how_far_a_stick_is_tilted() -> None:
    """None near the middle; then without a jump up to all the way, in any way."""
    assert tilt_mask(0.1, -0.12) == 0
    assert tilt_mask(float("nan"), 0) == 0
    right, up = stick_of(tilt_mask(0.55, 0))
    assert right == pytest.approx(0.5, abs=0.01)
    assert up == 0
    assert stick_of(tilt_mask(0, 0.95)) == (0, -1)
    assert stick_of(tilt_mask(-1, -1)) == pytest.approx((-0.71, 0.71), abs=0.01)
    sizes = [stick_of(tilt_mask(0.01 * step, 0))[0] for step in range(101)]
    assert max(after - now for now, after in itertools.pairwise(sizes)) < 0.03
    assert sizes[0] == 0
    assert sizes[-1] == 1


def test_a_stick_gives_amounts_and_keys_do_not() -> None:
    pads = fake_pads()
    plug(pads, 0)

    def tilt(axis: int, value: int) -> None:
        kind = pygame.CONTROLLERAXISMOTION
        pads.take(SimpleNamespace(type=kind, instance_id=0, axis=axis, value=value))

    tilt(0, 14000)  # slightly: no direction yet, as menus have them
    mask = int(pads.read()[0])
    assert button_text(mask & ALL_BUTTONS) == "-"
    assert stick_of(mask)[0] == pytest.approx(0.335, abs=0.01)
    tilt(0, 20000)
    mask = int(pads.read()[0])
    assert button_text(mask & ALL_BUTTONS) == "right"
    assert 0.5 < stick_of(mask)[0] < 0.7
    pads.take(key("LEFT"))  # a key has no amount: both ways cancel
    assert stick_of(int(pads.read()[0])) == (0, 0)
    pads.take(key("LEFT", False))
    assert stick_of(int(pads.read()[0]))[0] > 0.5
    press(pads, 0, "DPAD_UP")
    assert pad_text(int(pads.read()[0])) == "up+right"
    press(pads, 0, "DPAD_UP", False)
    tilt(0, 900)
    assert texts(pads)[0] == "-"
    masks = map(pad_mask, ("A+stick(0.2,0)", "B+stick(0,-0.7)"))
    assert pad_text(join_masks(masks)) == "A+B+stick(0,-0.701)"


def test_keys_are_held_until_they_are_let_go() -> None:
    pads = Pads()
    for name in ("LEFT", "J", "W", "G"):
        pads.take(key(name))
    assert texts(pads) == ("left+A", "up+B")
    assert texts(pads) == ("left+A", "up+B")
    pads.take(key("J", False))
    assert texts(pads) == ("left", "up+B")
    pads.take(SimpleNamespace(type=pygame.WINDOWFOCUSLOST))
    assert texts(pads) == ("-", "-")


def test_short_presses_are_not_missed() -> None:
    pads = Pads()
    pads.take(key("K"))
    pads.take(key("K", False))
    assert texts(pads) == ("B", "-")
    assert texts(pads) == ("-", "-")
    # A tap to the left just before right is held does not stop it.
    for event in (key("LEFT"), key("LEFT", False), key("RIGHT")):
        pads.take(event)
    assert texts(pads) == ("right", "-")


def test_gamepads_are_given_out_in_order() -> None:
    pads = fake_pads()
    for index in (4, 7, 9):
        plug(pads, index)
    assert [device.player for device in pads.devices.values()] == [0, 1, -1]
    press(pads, 4, "A")
    press(pads, 7, "X")
    press(pads, 9, "B")
    pads.take(key("D"))
    assert texts(pads) == ("A", "right+C")
    plug(pads, 4)  # told twice
    assert len(pads.devices) == 3


def test_all_of_a_gamepad_that_is_known() -> None:
    pads = fake_pads()
    plug(pads, 0)
    for name in ("DPAD_UP", "B", "Y", "LEFTSHOULDER", "RIGHTSHOULDER", "GUIDE"):
        assert press(pads, 0, name) is None
    axes = {
        "LEFTX": -30000,
        "LEFTY": 4000,
        "RIGHTX": 32767,
        "TRIGGERLEFT": 32767,
        "TRIGGERRIGHT": 20000,
    }
    for name, value in axes.items():
        axis = getattr(pygame, f"CONTROLLER_AXIS_{name}")
        kind = pygame.CONTROLLERAXISMOTION
        pads.take(SimpleNamespace(type=kind, instance_id=0, axis=axis, value=value))
    # It tells the same as a joystick, by other numbers: that is passed over.
    pads.take(SimpleNamespace(type=pygame.JOYBUTTONDOWN, instance_id=0, button=2))
    assert texts(pads)[0] == "up+left+B+X+Y+Z+L+R"
    for name in ("DPAD_UP", "B", "Y", "LEFTSHOULDER"):
        press(pads, 0, name, False)
    assert texts(pads)[0] == "left+Y+Z+R"
    assert press(pads, 0, "START") == "pause"
    assert press(pads, 0, "START", False) is None
    assert press(pads, 0, "BACK") == "title"


def test_all_of_a_gamepad_that_is_not_known() -> None:
    pads = fake_pads(is_mapped=False)
    plug(pads, 0)

    def take(kind: int, **more: Any) -> Any:
        return pads.take(SimpleNamespace(type=kind, instance_id=0, **more))

    for button in range(8):
        assert take(pygame.JOYBUTTONDOWN, button=button) is None
    take(pygame.JOYHATMOTION, hat=0, value=(-1, 1))
    take(pygame.JOYHATMOTION, hat=1, value=(1, -1))
    take(pygame.JOYAXISMOTION, axis=4, value=1.0)
    assert texts(pads)[0] == "up+left+A+B+C+X+Y+Z+L+R"
    take(pygame.JOYHATMOTION, hat=0, value=(0, 0))
    take(pygame.JOYAXISMOTION, axis=1, value=0.9)
    take(pygame.JOYBUTTONUP, button=0)
    assert texts(pads)[0] == "down+B+C+X+Y+Z+L+R"
    assert take(pygame.JOYBUTTONDOWN, button=9) == "pause"
    assert take(pygame.JOYBUTTONDOWN, button=8) == "title"
    assert take(pygame.JOYBUTTONDOWN, button=30) is None


def test_a_gamepad_in_use_that_goes_is_lost() -> None:
    pads = fake_pads()
    plug(pads, 0)
    plug(pads, 1)
    press(pads, 1, "A")
    unplug(pads, 0)  # never pressed: nobody misses it
    assert not pads.lost
    unplug(pads, 1)
    assert pads.lost == {1}
    assert texts(pads)[1] == "A"  # pressed before it went, and for one tick
    assert texts(pads) == ("-", "-")
    plug(pads, 2)  # it comes back to who lost it, not to the first
    assert pads.devices[2].player == 1
    assert not pads.lost
    unplug(pads, 77)
    assert not pads.lost


def test_a_third_gamepad_takes_the_place_of_a_lost_one() -> None:
    pads = fake_pads()
    for index in range(3):
        plug(pads, index)
    press(pads, 0, "A")
    unplug(pads, 0)
    assert pads.lost == {0}
    assert pads.devices[2].player == -1
    pads.go_on()
    assert not pads.lost
    assert pads.devices[2].player == 0


def test_who_plays_alone_has_all_gamepads() -> None:
    pads = fake_pads(is_alone=True)
    plug(pads, 0)
    plug(pads, 1)
    press(pads, 0, "A")
    press(pads, 1, "B")
    pads.take(key("W"))
    assert texts(pads) == ("up+A+B", "-")
    unplug(pads, 1)
    assert pads.lost == {0}


def test_a_gamepad_that_cannot_be_opened_is_passed_over() -> None:
    def refuse(index: int) -> Device:
        raise pygame.error("gone again")

    pads = Pads(open=refuse)
    plug(pads, 0)
    assert not pads.devices
    press(pads, 0)
    assert texts(pads) == ("-", "-")
