"""Settings of pictures."""

from __future__ import annotations

import pytest

from flexor.draw.scene.style import DrawStyle, style_of
from flexor.errors import SettingError


def test_names_are_styles() -> None:
    assert style_of("cel") == DrawStyle(style="cel")
    style = DrawStyle(samples=1)
    assert style_of(style) is style


def test_styles_choose_paper_and_shadow() -> None:
    assert DrawStyle().has_shadow
    assert not DrawStyle(shadow=False).has_shadow
    assert not style_of("lines").has_shadow
    assert DrawStyle(style="lines", shadow=True).has_shadow
    assert style_of("lines").paper == (255, 255, 255, 255)
    assert DrawStyle().paper != (255, 255, 255, 255)
    assert DrawStyle(background=(0, 0, 0, 0)).paper == (0, 0, 0, 0)


def test_lines_grow_with_the_picture() -> None:
    widths = [DrawStyle().for_height(height).line_width for height in (50, 480, 2160)]
    assert widths[0] == 1.2
    assert 1.5 < (widths[1] or 0) < 2.5
    assert widths[2] == 6
    fixed = DrawStyle(line_width=1.25)
    assert fixed.for_height(2160) is fixed


def test_lists_are_kept_as_tuples() -> None:
    style = DrawStyle(smooth=["a"], background=[1, 2, 3, 4])  # type: ignore[arg-type]
    assert style.smooth == ("a",)
    assert hash(style) == hash(DrawStyle(smooth=("a",), background=(1, 2, 3, 4)))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"style": "oil"}, "style: 'oil', expected one of shaded"),
        ({"style": "heat"}, "say which joint"),
        ({"smooth": "head"}, "smooth: 'head', expected several"),
        ({"buffers": "depth"}, "buffers"),
        ({"floor": float("inf")}, "floor"),
        ({"show": "areas"}, "show: 'areas', expected several"),
        ({"show": ("area",)}, "'area', expected one of sections, areas, ties, limits"),
        ({"joints": "knee"}, "joints: 'knee', expected several"),
        ({"style": "heat", "heat": "a", "show": ("areas",)}, "both colour the skin"),
    ],
)
def test_refusals(settings: dict[str, object], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        DrawStyle(**settings)  # type: ignore[arg-type]
