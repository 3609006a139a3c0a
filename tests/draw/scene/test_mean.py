"""The colour that a character has on the whole."""

from __future__ import annotations

import numpy as np

import flexor
from flexor.draw.scene.mean import mean_colour
from flexor.scene.stage.plan import Actor, StagePlan


def test_the_mannequin_is_as_it_is_drawn() -> None:
    hero = flexor.samples.mannequin()
    mean = np.array(mean_colour(hero.scene))
    style = flexor.DrawStyle(style="unlit", background=(0, 0, 0, 0), samples=1)
    seen = flexor.draw(hero, hero.pose(), size=(200, 200), style=style)
    inside = seen[seen[..., 3] == 255][:, :3] / 255
    np.testing.assert_allclose(mean, (inside**2.2).mean(0), atol=0.04)


def test_a_stage_says_what_its_characters_look_like() -> None:
    red = Actor(name="red", place=(-1, 0), colour=(2.0, 0.5, 0.25))
    plain = Actor(name="plain", place=(1, 0))
    stage = flexor.Stage(StagePlan(cast=(red, plain)))
    mean = mean_colour(stage.cast[0].hero.scene)
    np.testing.assert_allclose(stage.colours[1], mean)
    np.testing.assert_allclose(stage.colours[0], np.array(mean) * (2.0, 0.5, 0.25))
