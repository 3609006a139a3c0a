"""Frames one after the other into one file, or a folder of numbered pictures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from flexor.arrays import Pixels
from flexor.errors import SettingError
from flexor.files.replace import new_file, writing
from flexor.output.folder import FolderEncoder
from flexor.output.format import Encoder, find_formats
from flexor.output.frames import check_frame, check_rate, check_size
from flexor.output.place import new_folder

__all__ = ["MOVIES", "Movie", "is_folder", "open_movie", "save_movie"]


# Each is called with the path, (width, height) and frames a second.
MOVIES: dict[str, Callable[[Path, tuple[int, int], float], Encoder]] = {
    ending: form.open
    for form in find_formats()
    if form.open is not None
    for ending in form.endings
}


class Movie:
    """A movie that is being written: `open_movie` gives it.

    path: where it will be; size: (width, height); fps: frames a second; count: of the
    frames so far.
    """

    def __init__(
        self, path: Path, size: tuple[int, int], fps: float, encoder: Encoder
    ) -> None:
        self.path, self.size, self.fps = path, size, fps
        self.count = 0
        self._encoder: Encoder | None = encoder

    def add(self, frame: Pixels) -> None:
        """Take the next frame, uint8 (H, W, 4); the array may be used again at once."""
        if self._encoder is None:
            raise SettingError(f"{self.path}: is closed, no frame can be added")
        pixels = check_frame(frame, self.size, f"frame {self.count}")
        with writing(self.path):
            self._encoder.add(pixels)
        self.count += 1

    def _finish(self) -> None:
        if self._encoder is None or not self.count:
            raise SettingError(f"{self.path}: no frame was added, nothing is written")
        with writing(self.path):
            self._encoder.finish()


@contextmanager
def open_movie(
    path: str | os.PathLike[str], size: tuple[int, int], fps: float = 30.0
) -> Iterator[Movie]:
    """Write frames to a file, by its ending, or to a folder.

    path: .mp4 (needs the extra `video`), .webp, .gif, .apng, .npy (uint8 (N, H, W, 4)),
    or a folder, which is one that exists or a name that ends in "/"; size: (width,
    height) of every frame; fps: frames a second.

    The file appears under its name when the block ends. When the block raises, nothing
    is written, and what was there before stays. WebP, APNG, .npy and folders keep the
    alpha; MP4 and GIF have none, and get the frames over white.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from flexor.output.movie import open_movie
    >>> frame = np.full((48, 64, 4), 255, np.uint8)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_movie(f"{folder}/fade.webp", (64, 48), fps=25) as movie:
    ...         for level in range(0, 250, 10):
    ...             frame[..., 0] = level
    ...             movie.add(frame)
    >>> movie.count
    25
    """
    size, fps = check_size(size), check_rate(fps)
    place = Path(path)
    make: Callable[[Path, tuple[int, int], float], Encoder] | None = FolderEncoder
    grow = new_folder
    if not is_folder(path):
        make, grow = MOVIES.get(place.suffix.lower()), new_file
    if make is None:
        known = ", ".join(MOVIES)
        one = " (it holds one picture)" if place.suffix.lower() == ".png" else ""
        raise SettingError(
            f"{place}: unknown ending for a movie{one}, there are: {known}, "
            'or "name/" for a folder of pictures'
        )
    with grow(place) as temporary:
        with writing(place):
            encoder = make(temporary, size, fps)
        with closing(encoder):
            movie = Movie(place, size, fps, encoder)
            try:
                yield movie
                movie._finish()
            finally:
                movie._encoder = None


def save_movie(
    path: str | os.PathLike[str], frames: Iterable[Pixels], fps: float = 30.0
) -> int:
    """Write frames, uint8 (H, W, 4), as `open_movie` does; gives their number.

    They are taken one at a time, so a generator can make them while it is written.
    """
    source = iter(frames)
    first = next(source, None)
    if first is None:
        raise SettingError(f"{Path(path)}: no frame was given, nothing is written")
    first = check_frame(first, None, "frame 0")
    with open_movie(path, (first.shape[1], first.shape[0]), fps) as movie:
        movie.add(first)
        for frame in source:
            movie.add(frame)
    return movie.count


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether frames written to `path` are to be numbered pictures in a folder."""
    text = os.fspath(path)
    ends = text.endswith(("/", os.sep))
    return ends or ("\0" not in text and os.path.isdir(text))
