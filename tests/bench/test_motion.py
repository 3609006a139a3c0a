"""The bench of motion: its figures, and that they are those of the report."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.bench import motion
from flexor.convert.motion.reduce import reduce_motion
from tests.bodies import make_body
from tests.packed_clips import arm, wave, wave_scene
from tests.scenes import plain_scene

KINDS = ("ratio", "worst_mm", "p99_mm")


@pytest.mark.slow
def test_figures_of_a_character() -> None:
    scene = wave_scene(np.random.default_rng(3))
    results = {r.name: r for r in motion.run({"wave": Character(scene)})}
    report = reduce_motion(scene)[1][0]
    wanted = (report.ratio, 1e3 * (report.worst or 0), 1e3 * (report.p99 or 0))
    for kind, value in zip(KINDS, wanted, strict=True):
        assert results[f"motion/{kind}/wave"].value == pytest.approx(value)
    for crowd in ("single", "crowd256"):
        for kind in ("sample_ns", "cost", "seek"):
            assert results[f"motion/{kind}/{crowd}/wave"].value > 0


def test_captures_are_measured_in_what_unit_their_legs_tell() -> None:
    clip = wave(np.random.default_rng(3))
    hero = Character(plain_scene(make_body(size=20.0), clip))
    # The first figure says it; the others, which come later, are not asked for.
    first = next(iter(motion.run({"big": hero})))
    assert first.name == "motion/ratio/big"
    assert "0.0499" in first.note


def test_nothing_to_measure() -> None:
    assert list(motion.run({"still": Character(plain_scene(arm()))})) == []
