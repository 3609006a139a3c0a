"""What the mannequin wears: regions of its texture, colours by who wears it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.errors import SettingError
from flexor.samples import outfits
from flexor.scene.stage.plan import Actor, Outfit, StagePlan

RED = (0.8, 0.05, 0.04)
STAGE = """
[[character]]
name = "red"
outfit = "gi"
colour = "#ff2020"
place = [-1, 0]
heading = 90

[[character]]
name = "blue"
outfit = "armour"
colour = "#2040ff"
place = [1, 0]
heading = -90
"""


def colour_at(outfit: str, colour: Any, *place: float) -> Any:
    """The painted colour of the texels nearest to a place of the body, 0 to 255."""
    scene = flexor.samples.fighter().scene
    body = outfits._surface(scene)
    away = np.stack([body.x, body.y, body.z], 1) - place
    near = np.argsort((away**2).sum(1))[:20]
    pixels = outfits.paint_outfit(scene, outfit, colour)
    return pixels[body.rows[near], body.columns[near], :3].astype(int).mean(0)


def test_names_are_those_of_plans() -> None:
    assert ("none", *outfits.OUTFITS) == get_args(Outfit)


@pytest.mark.parametrize(
    ("outfit", "place"),
    [
        ("gi", (0.12, 1.30, 0.10)),
        ("gi", (0.118, 0.40, 0.02)),
        ("shorts", (-0.10, 0.80, 0.08)),
        ("armour", (0.06, 1.34, 0.12)),
        ("armour", (-0.118, 0.30, 0.05)),
    ],
)
def test_cloth_has_the_colour(outfit: str, place: tuple[float, ...]) -> None:
    red, green, blue = colour_at(outfit, RED, *place)
    assert red > 2.5 * max(green, blue)
    red, green, blue = colour_at(outfit, (0.05, 0.1, 0.9), *place)
    assert blue > 1.8 * max(red, green)


@pytest.mark.parametrize(
    ("outfit", "place"),
    [
        ("gi", (0.0, 1.68, 0.11)),
        ("gi", (0.118, 0.03, 0.10)),
        ("shorts", (0.08, 1.30, 0.10)),
        ("shorts", (0.118, 0.45, 0.06)),
        ("armour", (0.0, 1.65, 0.11)),
    ],
)
def test_wood_keeps_its_own(outfit: str, place: tuple[float, ...]) -> None:
    red = colour_at(outfit, RED, *place)
    np.testing.assert_allclose(red, colour_at(outfit, (0.05, 0.1, 0.9), *place), atol=1)
    assert 1.1 < red[0] / red[2] < 2.6, "the brown of wood"


def test_the_same_twice() -> None:
    scene = flexor.samples.fighter().scene
    one = outfits.paint_outfit(scene, "gi", RED)
    outfits._made.clear()
    np.testing.assert_array_equal(one, outfits.paint_outfit(scene, "gi", RED))


def test_a_fighter_wears_it() -> None:
    plain, dressed = flexor.samples.fighter(), flexor.samples.fighter("gi", RED)
    pictures = [
        flexor.draw(hero, hero.pose("stance", 0), size=(60, 80))
        for hero in (plain, dressed)
    ]
    change = pictures[1][..., :3].astype(int) - pictures[0][..., :3]
    assert (change[..., 1] < -40).sum() > 100, "less green where it is red"
    with pytest.raises(SettingError, match=r"'toga', expected one of: gi, shorts"):
        flexor.samples.fighter("toga")


def test_those_of_different_outfits_are_posed_in_one_call(tmp_path: Any) -> None:
    path = tmp_path / "stage.toml"
    path.write_text(STAGE)
    stage = flexor.Stage(path)
    stage.step()
    assert len(stage.frame.bodies) == 1
    picture = stage.draw(size=(160, 120))[..., :3].astype(int)
    left, right = picture[:, :80], picture[:, 80:]
    for half, own, other in ((left, 0, 2), (right, 2, 0)):
        strong = half[..., own] > half[..., other] + 60
        wrong = half[..., other] > half[..., own] + 100
        assert strong.sum() > 100 > 3 * wrong.sum()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('outfit = "toga"', "'toga', expected one of none, gi, shorts, armour"),
        ('outfit = "gi"\nfile = "other.glb"', "only the mannequin has outfits"),
    ],
)
def test_outfits_that_are_not_there_are_refused(
    tmp_path: Any, line: str, fault: str
) -> None:
    (tmp_path / "other.glb").write_bytes(b"")
    path = tmp_path / "stage.toml"
    path.write_text(f'[[character]]\nname = "red"\n{line}\n')
    with pytest.raises(flexor.errors.AssetError) as found:
        flexor.Stage(path)
    assert fault in str(found.value)


def test_another_in_its_place_wears_nothing() -> None:
    plan = StagePlan(cast=(Actor(name="red", outfit="gi", colour=RED),))
    other = flexor.samples.mannequin()
    scene = other.scene
    copy = Character(replace(scene, meshes=tuple(replace(m) for m in scene.meshes)))
    stage = flexor.Stage(plan, characters={"mannequin": copy})
    stage.step()
    assert stage.draw(size=(60, 40)).any()
