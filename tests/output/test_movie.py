from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flexor.arrays import Pixels
from flexor.errors import SettingError, ShapeError
from flexor.output.movie import is_folder, open_movie, save_movie
from tests.output.moving import ENDINGS, SIZE, moving, read_back

LOSSLESS = ("movie.apng", "movie.npy", "movie/")


def over_white(frames: list[Pixels]) -> Pixels:
    many = np.stack(frames).astype(float)
    alpha = many[..., 3:] / 255
    flat = np.full_like(many, 255)
    flat[..., :3] = many[..., :3] * alpha + 255 * (1 - alpha)
    return flat.round().astype(np.uint8)


def distance(a: Pixels, b: Pixels) -> float:
    return float(np.abs(a.astype(int) - b).mean())


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("count", [1, 2, 30])
def test_what_is_written_comes_back(tmp_path: Path, name: str, count: int) -> None:
    frames = moving(count)
    with open_movie(f"{tmp_path}/{name}", SIZE, 25) as movie:
        for frame in frames:
            movie.add(frame)
        assert movie.count == count
    back, seconds = read_back(tmp_path / name)
    if name in LOSSLESS:
        np.testing.assert_array_equal(back, frames)
    else:
        assert back.shape == np.shape(frames)
        assert (back[..., 3] == 255).all()
        assert distance(back, np.stack(frames)) < 6
    if name != "movie.gif" or count > 1:  # Pillow gives one picture no duration
        assert all(second == pytest.approx(0.04) for second in seconds)
    assert [path.name for path in tmp_path.iterdir()] == [name.rstrip("/")]


@pytest.mark.parametrize("name", ENDINGS)
def test_alpha_is_kept_or_over_white(tmp_path: Path, name: str) -> None:
    frames = moving(5, has_alpha=True)
    assert save_movie(f"{tmp_path}/{name}", iter(frames)) == 5
    back, _ = read_back(tmp_path / name)
    if name in LOSSLESS:
        np.testing.assert_array_equal(back, frames)
    elif name == "movie.webp":
        assert distance(back[..., 3], np.stack(frames)[..., 3]) < 1
        assert distance(over_white(list(back)), over_white(frames)) < 6
    else:
        assert distance(back, over_white(frames)) < 6


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (33, 27), (2, 2), (16, 255)])
def test_odd_and_tiny_sizes(tmp_path: Path, name: str, size: tuple[int, int]) -> None:
    frames = moving(3, size)
    save_movie(f"{tmp_path}/{name}", frames)
    back, _ = read_back(tmp_path / name)
    width, height = size
    if name == "movie.mp4":
        assert back.shape == (3, height + height % 2, width + width % 2, 4)
        back = back[:, :height, :width]
    assert back.shape == (3, height, width, 4)
    if max(size) > 2:  # of four pixels, videos keep hardly a colour
        assert distance(back, np.stack(frames)) < 12


@pytest.mark.parametrize("name", ["movie.webp", "movie.gif", "movie.apng", "movie.mp4"])
@pytest.mark.parametrize("fps", [0.5, 12, 23.976, 30, 50])
def test_a_long_movie_does_not_drift(tmp_path: Path, name: str, fps: float) -> None:
    save_movie(tmp_path / name, moving(31, (12, 20)), fps)
    _, seconds = read_back(tmp_path / name)
    assert len(seconds) == 31
    assert sum(seconds) == pytest.approx(31 / fps, rel=2e-3, abs=0.006)
    assert max(seconds) - min(seconds) <= 0.0101


@pytest.mark.parametrize("name", ["movie.webp", "movie.gif", "movie.apng"])
def test_frames_that_do_not_change_are_frames_too(tmp_path: Path, name: str) -> None:
    frames = [*moving(2), *[moving(2)[1]] * 3, moving(1)[0]]
    save_movie(tmp_path / name, frames)
    back, _ = read_back(tmp_path / name)
    assert len(back) == 6
    assert distance(back, np.stack(frames)) < 6


@pytest.mark.parametrize("background", [(255, 255, 255), (234, 237, 240)])
def test_the_background_of_a_gif_is_exact(
    tmp_path: Path, background: tuple[int, int, int]
) -> None:
    rng = np.random.default_rng(1)
    frame = np.full((64, 64, 4), (*background, 255), np.uint8)
    frame[40:, :, :3] -= rng.integers(0, 4, (24, 64, 3), np.uint8)
    frame[20:40, 20:40, :3] = rng.integers(0, 255, (20, 20, 3))
    save_movie(tmp_path / "a.gif", [frame])
    back, _ = read_back(tmp_path / "a.gif")
    assert (back[0, :20] == (*background, 255)).all()


def test_a_gif_has_colours_of_late_frames(tmp_path: Path) -> None:
    frames = [np.full((20, 20, 4), 255, np.uint8) for _ in range(300)]
    for i, frame in enumerate(frames):
        frame[..., :3] = (255, 0, 0) if i > 280 else (0, 0, 255 - i % 9)
    save_movie(tmp_path / "a.gif", frames)
    back, _ = read_back(tmp_path / "a.gif")
    assert distance(back[:280], np.stack(frames[:280])) < 3
    assert distance(back[281:], np.stack(frames[281:])) < 3


def test_the_array_may_be_used_again(tmp_path: Path) -> None:
    for name in ENDINGS:
        frame = np.full((20, 20, 4), 255, np.uint8)
        with open_movie(f"{tmp_path}/{name}", (20, 20)) as movie:
            for level in range(0, 200, 10):
                frame[..., :3] = level
                movie.add(frame)
                frame[..., :3] = 7
        back, _ = read_back(tmp_path / name)
        levels = back[:, 10, 10, 0].astype(int)
        assert np.abs(levels - np.arange(0, 200, 10)).max() < 12, name


def test_views_and_other_orders(tmp_path: Path) -> None:
    frames = moving(3)
    turned = [frame[::-1, ::-1] for frame in frames]
    save_movie(tmp_path / "a.npy", turned)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), turned)


def test_the_same_frames_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.webp", "a.gif", "a.apng", "a.npy"):
        written = []
        for _ in range(2):
            save_movie(tmp_path / name, moving(20))
            written.append((tmp_path / name).read_bytes())
        assert written[0] == written[1], name


def test_mp4_can_be_played_before_it_is_all_there(tmp_path: Path) -> None:
    save_movie(tmp_path / "a.mp4", moving(10))
    data = (tmp_path / "a.mp4").read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_colours_of_mp4_are_marked(tmp_path: Path) -> None:
    import av

    frame = np.full((64, 64, 4), 255, np.uint8)
    frame[32:, :, :3] = (220, 30, 40)
    save_movie(tmp_path / "a.mp4", [frame] * 4)
    with av.open(str(tmp_path / "a.mp4")) as container:
        about = container.streams.video[0].codec_context
        assert (about.colorspace, about.color_range, about.pix_fmt) == (1, 1, "yuv420p")
    back, _ = read_back(tmp_path / "a.mp4")
    assert np.abs(back[-1, 16, 32].astype(int) - frame[16, 32]).max() <= 2
    assert np.abs(back[-1, 48, 32].astype(int) - frame[48, 32]).max() <= 6


def test_endings_in_capitals(tmp_path: Path) -> None:
    save_movie(tmp_path / "A.GIF", moving(2))
    assert (tmp_path / "A.GIF").read_bytes()[:3] == b"GIF"


def test_what_is_a_folder(tmp_path: Path) -> None:
    assert is_folder(tmp_path)
    assert is_folder(f"{tmp_path}/new/")
    assert not is_folder(tmp_path / "new")
    assert not is_folder("a\0b")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.avi", "unknown ending for a movie, there are: .mp4, .webp"),
        ("frames", '"name/" for a folder'),
        ("a.png", "it holds one picture"),
    ],
)
def test_unknown_endings(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        save_movie(tmp_path / name, moving(1))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ENDINGS)
def test_no_frames(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingError, match="no frame was added"):
        with open_movie(f"{tmp_path}/{name}", SIZE):
            pass
    with pytest.raises(SettingError, match="no frame was given"):
        save_movie(f"{tmp_path}/{name}", [])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ENDINGS)
def test_frames_of_another_size_or_kind(tmp_path: Path, name: str) -> None:
    wrong = moving(1, (SIZE[0] + 1, SIZE[1]))[0]
    with pytest.raises(ShapeError, match=r"frame 1: shape \(28, 41, 4\), expected"):
        save_movie(f"{tmp_path}/{name}", [moving(1)[0], wrong])
    with pytest.raises(ShapeError, match="frame 0: float64, expected an array of uint"):
        save_movie(f"{tmp_path}/{name}", [np.zeros((4, 4, 4))])  # type: ignore[list-item]
    with pytest.raises(ShapeError, match="frame 0: list"):
        save_movie(f"{tmp_path}/{name}", [[1, 2]])  # type: ignore[list-item]
    with pytest.raises(ShapeError, match=r"expected \(H, W, 4\)"):
        save_movie(f"{tmp_path}/{name}", [np.zeros((4, 4, 3), np.uint8)])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [(0, 4), (4, -1), (20000, 4), (4.5, 4), (4,), None])
def test_wrong_sizes(tmp_path: Path, size: tuple[int, int]) -> None:
    with pytest.raises(SettingError, match=r"size: .* each 1 to 16383 pixels"):
        with open_movie(tmp_path / "a.webp", size):
            pass


@pytest.mark.parametrize("fps", [0, -1, float("nan"), 2000, float("inf"), "many"])
def test_wrong_rates(tmp_path: Path, fps: float) -> None:
    with pytest.raises(SettingError, match=r"fps: .* expected 0.01 to 1000"):
        save_movie(tmp_path / "a.webp", moving(1), fps)


def test_a_gif_is_not_faster_than_browsers_show(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="at most 50 frames a second"):
        save_movie(tmp_path / "a.gif", moving(1), 60)
    assert not list(tmp_path.iterdir())


def test_a_movie_that_is_closed(tmp_path: Path) -> None:
    with open_movie(tmp_path / "a.npy", SIZE) as movie:
        movie.add(moving(1)[0])
    with pytest.raises(SettingError, match="is closed"):
        movie.add(moving(1)[0])
