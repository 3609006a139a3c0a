"""Pictures of stages: styles, who plays, structures, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.stage import Stage
from flexor.errors import SettingError
from flexor.scene.stage.plan import (
    CameraRule,
    StageLook,
    StagePlan,
)
from flexor.scene.stage.structure import Structure
from tests.api.stage_play import (
    busy,
    fighters,
    hashed_pair,
    play,
    presses,
    run,
)

# Pictures.


def shot(stage: Stage, **more: Any) -> Any:
    return stage.draw((160, 120), **more).copy()


@pytest.mark.slow
def test_drawing_does_not_change_the_play() -> None:
    drawn, blind = play(busy()), play(busy())
    for tick, held in enumerate(presses(60, 3, 2)):
        drawn.step(held)
        blind.step(held)
        if tick % 10 == 0:
            shot(drawn)
            before = drawn.hash()
            shot(drawn, style="cel")
            assert drawn.hash() == before
    assert drawn.hash() == blind.hash()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smooth", ("head",)),
        ("order", "sort"),
        ("style", "cel"),
        ("background", (9, 8, 7)),
    ],
)
def test_looks_change_pictures_as_styles_do(name: str, value: Any) -> None:
    stage = hashed_pair()
    # A style with a background of its own has no backdrop.
    bare = {"backdrop": "none"} if name == "background" else {}
    look: Any = {name: value, **bare}
    seen = shot(play(replace(stage.plan, look=StageLook(**look))))
    assert (seen != shot(stage)).any()
    words: dict[str, Any] = {"background": (*stage.plan.look.background, 255)}
    words[name] = (*value, 255) if name == "background" else value
    style = flexor.DrawStyle(**words)
    np.testing.assert_array_equal(shot(stage, style=style), seen)


@pytest.mark.slow
def test_smooth_parts_are_smooth_and_the_rest_is_flat() -> None:
    stage = hashed_pair()
    camera = flexor.Camera((0.5, 1.2, 2.5), (0.3, 1.1, 0), fov=0.9)
    shots = [
        shot(stage, camera=camera, style=flexor.DrawStyle(smooth=smooth))
        for smooth in (None, ("head",), ())
    ]
    whole, part, none = (own[..., :3].astype(int) for own in shots)
    assert (part != none).any()
    assert (part != whole).any()
    changed = (part != none).any(-1)
    assert 0 < changed.sum() < (whole != none).any(-1).sum(), "of the heads alone"


@pytest.mark.slow
def test_pictures_show_who_plays() -> None:
    plan = fighters(2.0)
    red = replace(plan.cast[0], colour=(1.0, 0.05, 0.05))
    stage = play(replace(plan, cast=(red, plan.cast[1])))
    picture = shot(stage).astype(int)
    is_red = picture[..., 0] > 1.6 * picture[..., 2] + 10
    columns = np.flatnonzero(is_red.any(0))
    assert len(columns)
    assert columns.mean() < 80, "red stands to the left"
    dark = shot(stage, style=flexor.DrawStyle(shadow=False))
    assert (dark != shot(stage, style="shaded")).any(), "shadows"


@pytest.mark.slow
def test_structures_in_the_way_are_not_drawn() -> None:
    camera = CameraRule(rule="fixed", eye=(0, 1.5, 6), target=(0, 1, 0))
    pillar = Structure(
        name="pillar", middle=(0, 3), radius=0.4, high=3, colour=(9, 0, 9)
    )
    stage = play(fighters(camera=camera, structures=(pillar,)))

    def purple() -> int:
        picture = shot(stage).astype(int)
        return int((picture[..., 0] > 2 * picture[..., 1] + 60).sum())

    before = purple()
    assert before > 100
    run(stage, 30)
    assert purple() == 0
    stage.places[:, 0] += 30.0
    run(stage, 30)
    assert purple() > 100, "and comes back"


@pytest.mark.slow
def test_pictures_that_are_refused() -> None:
    stage = Stage(StagePlan())
    with pytest.raises(SettingError, match="a stage has no heat, bones, names or show"):
        stage.draw((32, 24), style=flexor.DrawStyle(bones=True))
    with pytest.raises(SettingError):
        stage.draw((0, 24))
    with pytest.raises(SettingError, match="style"):
        stage.draw((32, 24), style="oil")


@pytest.mark.slow
def test_no_camera_has_a_pillar_before_the_fighters() -> None:
    """Title and replay cameras too: each picture is as if the pillar were not there."""
    pillar = Structure(name="pillar", middle=(0, 2), radius=0.5, high=4)
    hut = Structure(
        name="hut", corners=((3, -1), (4, -1), (4, 2), (3, 2)), fit="segment", high=4
    )
    # Its shadow stays: it does stand there.
    look = StageLook(shadows=False)
    with_both = play(fighters(structures=(pillar, hut), look=look))
    without = play(fighters(look=look))
    own = with_both.camera
    for eye in ((0, 1.5, 5), (7, 1.5, 0.5), (5.5, 1.5, 3.5)):
        camera = replace(own, eye=eye, target=(0, 1, 0))
        seen = shot(with_both, camera=camera)
        hidden = eye[0] == 0, eye[0] > 0
        left = tuple(
            one
            for one, is_hidden in zip((pillar, hut), hidden, strict=True)
            if not is_hidden
        )
        wanted = shot(play(fighters(structures=left, look=look)), camera=camera)
        np.testing.assert_array_equal(seen, wanted)
    # From where it is not in the way, the pillar is seen.
    camera = replace(own, eye=(-4, 1.5, -4), target=(0, 1, 0))
    assert (shot(with_both, camera=camera) != shot(without, camera=camera)).any()
    # The stage's own camera fades as before, whether it is named or not.
    np.testing.assert_array_equal(shot(with_both), shot(with_both, camera=own))


@pytest.mark.slow
def test_a_hut_is_a_wall_as_it_is_drawn() -> None:
    """3 m by 1 m: nobody comes nearer to its sides than its radius, or is kept off."""
    corners = ((0.8, -1.5), (1.8, -1.5), (1.8, 1.5), (0.8, 1.5))
    hut = Structure(name="hut", corners=corners)
    assert hut.radius == pytest.approx(0.5, rel=1e-2)
    for z in (-1.2, 0.0, 1.2):  # beside the circle that stands for it, and before it
        stage = play(fighters(structures=(hut,)))
        stage.places[1] = (-3, 0, 0)
        stage.places[0] = (0, 0, z)
        stage.state.controls[:] = 2
        stage.headings[:] = np.pi / 2
        stage.asked[0] = (1.3, 0)
        for _ in range(60):
            stage.step()
        gap = 0.8 - stage.state.radii[0]
        assert stage.places[0, 0] == pytest.approx(gap, abs=1e-6)
