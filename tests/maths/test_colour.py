"""sRGB and linear light."""

from __future__ import annotations

import numpy as np

from flexor.maths.colour import linear_from_srgb, srgb_from_linear


def test_known_levels() -> None:
    np.testing.assert_allclose(
        linear_from_srgb([0, 10, 188, 255]), [0, 0.003035, 0.502886, 1], atol=1e-6
    )


def test_there_and_back() -> None:
    levels = np.linspace(0, 255, 511)
    back = srgb_from_linear(linear_from_srgb(levels))
    np.testing.assert_allclose(back, levels, atol=1e-4)


def test_the_curve_has_no_step() -> None:
    assert (np.diff(srgb_from_linear(np.linspace(0, 1, 5000))) > 0).all()
