"""Pictures of every feature against those in tests/golden, which were looked at.

Exact for the level of processor that made them; elsewhere a few pixels may differ by
more than one level. `pytest tests/draw/test_golden.py --regenerate` makes them again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.maths.machine.target import find_target
from tests.draw.golden_scenes import SCENES, SIZE, draw_buffers, draw_scene
from tests.made import HAS_JIT

GOLDEN = Path(__file__).parent.parent / "golden"
MACHINE = GOLDEN / "machine.json"


def level() -> str:
    """What the last bit of a colour depends on: the level of processor that kernels are
    compiled for, or that they are not.
    """
    return find_target().key if HAS_JIT else "plain Python"


def read(path: Path) -> Any:
    from PIL import Image

    with Image.open(path) as picture:
        return np.array(picture.convert("RGBA"))


def write(path: Path, pixels: Any) -> None:
    from PIL import Image

    Image.fromarray(np.ascontiguousarray(pixels)).save(path)


def compare(name: str, have: Any, folder: Path, is_exact: bool) -> None:
    """Fail, and leave what was drawn and where it differs in `folder`."""
    wanted = read(GOLDEN / f"{name}.png")
    assert have.shape == wanted.shape
    wrong = abs(have.astype(int) - wanted).max(-1)
    if is_exact:
        # One pixel by one level: Python code around kernels rounds numbers of cameras
        # and lights, and not on every kind of processor alike.
        is_good = wrong.max() <= 1 and (wrong > 0).sum() <= 1
    else:
        is_good = (wrong <= 1).mean() >= 0.999
    if is_good:
        return
    shown = np.full(have.shape, 255, np.uint8)
    shown[..., :3] = 255 - np.minimum(wrong * 32, 255)[..., None]
    write(folder / f"{name}.png", have)
    write(folder / f"{name}-diff.png", shown)
    pytest.fail(
        f"{name}: {(wrong > 0).sum()} pixels differ, by {wrong.max()} at most; "
        f"see {folder / name}.png, {folder / name}-diff.png and {GOLDEN / name}.png"
    )


@pytest.fixture
def check(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Compare a picture with the kept one, or keep it."""

    def run(name: str, have: Any) -> None:
        if request.config.getoption("--regenerate"):
            GOLDEN.mkdir(exist_ok=True)
            write(GOLDEN / f"{name}.png", have)
            MACHINE.write_text(json.dumps({"level": level()}) + "\n")
            return
        is_exact = json.loads(MACHINE.read_text()) == {"level": level()}
        compare(name, have, tmp_path, is_exact)

    return run


@pytest.mark.parametrize("name", SCENES)
def test_picture(raster: Backend, check: Any, name: str) -> None:
    check(name, draw_scene(raster, name))


def test_buffers(raster: Backend, check: Any) -> None:
    check("buffers", draw_buffers(raster))


def test_every_picture_has_a_scene() -> None:
    names = {path.stem for path in GOLDEN.glob("*.png")}
    assert names == {*SCENES, "buffers"}


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_changed_picture_is_noticed(tmp_path: Path, is_exact: bool) -> None:
    """And written beside what it differs in."""
    picture = read(GOLDEN / "by_pixel.png")
    compare("by_pixel", picture, tmp_path, is_exact)
    picture[:3, :8, 1] -= 9
    with pytest.raises(pytest.fail.Exception, match="24 pixels differ, by 9 at most"):
        compare("by_pixel", picture, tmp_path, is_exact)
    assert (read(tmp_path / "by_pixel.png") == picture).all()
    assert (read(tmp_path / "by_pixel-diff.png")[0, 0] == [0, 0, 0, 255]).all()


@pytest.mark.parametrize("two", [((5, 5, 0), (6, 5, 0)), ((5, 5, 0), (5, 5, 0))])
def test_two_levels_are_noticed_on_the_same_level_only(
    two: tuple[tuple[int, int, int], ...], tmp_path: Path
) -> None:
    """In two pixels, or in one; one level of one pixel may differ."""
    picture = read(GOLDEN / "by_pixel.png")
    assert picture.shape == (SIZE[1], SIZE[0], 4)
    picture[two[0]] -= 1
    compare("by_pixel", picture, tmp_path, is_exact=True)
    picture[two[1]] -= 1
    compare("by_pixel", picture, tmp_path, is_exact=False)
    with pytest.raises(pytest.fail.Exception, match="pixels differ, by"):
        compare("by_pixel", picture, tmp_path, is_exact=True)
