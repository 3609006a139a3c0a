"""Small moving pictures, and how to read back what was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from flexor.arrays import Pixels

SIZE = (40, 28)
ENDINGS = ("movie.mp4", "movie.webp", "movie.gif", "movie.apng", "movie.npy", "movie/")


def moving(
    count: int, size: tuple[int, int] = SIZE, has_alpha: bool = False
) -> list[Pixels]:
    """A shaded square that goes over a background that slowly changes from left on."""
    width, height = size
    frames = []
    for i in range(count):
        frame = np.full((height, width, 4), 255, np.uint8)
        frame[..., 0] = np.linspace(40, 200, width)
        frame[..., 1] = np.linspace(200, 90, height)[:, None]
        frame[..., 2] = 120
        if has_alpha:
            frame[: height // 2, :, 3] = 0
            frame[height // 2, :, 3] = 128
        left = i % max(width - 12, 1)
        frame[4:16, left : left + 12] = (200, 40 + 2 * i, 30, 255)
        frames.append(frame)
    return frames


def read_back(path: Path) -> tuple[Pixels, list[float]]:
    """Every frame, uint8 (N, H, W, 4), and how many seconds each is shown."""
    if path.is_dir():
        names = sorted(file.name for file in path.iterdir())
        assert names == [f"{i:05d}.png" for i in range(len(names))]
        return np.concatenate([_pillow(path / name)[0] for name in names]), []
    if path.suffix == ".npy":
        return np.load(path), []
    return _video(path) if path.suffix == ".mp4" else _pillow(path)


def _pillow(path: Path) -> tuple[Pixels, list[float]]:
    from PIL import Image, ImageSequence

    frames, seconds = [], []
    with Image.open(path) as picture:
        for frame in ImageSequence.Iterator(picture):
            frame.load()
            frames.append(np.array(frame.convert("RGBA")))
            seconds.append(float(frame.info.get("duration", 0)) / 1000)
    return np.stack(frames), seconds


def _video(path: Path) -> tuple[Pixels, list[float]]:
    import av

    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert stream.average_rate is not None
        pictures = [
            frame.to_ndarray(format="rgba") for frame in container.decode(stream)
        ]
    return np.stack(pictures), [float(1 / stream.average_rate)] * len(pictures)
