"""MP4 with H.264, which plays everywhere; through PyAV, the extra `video`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import numpy as np

from flexor.arrays import Pixels
from flexor.errors import BackendMissing
from flexor.output.format import Format
from flexor.output.frames import flatten

__all__ = ["FORMAT", "Mp4Encoder"]

OPTIONS = {"preset": "veryfast", "crf": "20"}
BT709, LIMITED = 1, 1  # how colours become brightness and two differences


class Mp4Encoder:
    """Encodes frames as they come; the encoder has threads of its own."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        try:
            import av
        except ImportError:
            raise BackendMissing(
                "writing .mp4 needs PyAV: pip install 'flexor[video]', or write .webp, "
                "which needs nothing more"
            ) from None
        # Colours are stored at half the size: an odd row or column comes twice.
        self._pad = ((0, size[1] % 2), (0, size[0] % 2), (0, 0))
        self._count = 0
        with _plain_errors():
            # The head goes to the front, so that browsers play before they have all.
            self._container = av.open(
                str(path),
                "w",
                format="mp4",
                container_options={"movflags": "faststart"},
            )
            rate = Fraction(fps).limit_denominator(30000)
            stream = self._container.add_stream("libx264", rate, options=OPTIONS)
        self._stream = stream
        stream.width, stream.height = size[0] + size[0] % 2, size[1] + size[1] % 2
        stream.pix_fmt = "yuv420p"
        # Without these, players guess by the size of the picture.
        about = stream.codec_context
        about.colorspace = about.color_primaries = about.color_trc = BT709
        about.color_range = LIMITED

    def add(self, frame: Pixels) -> None:
        """Encode the next frame."""
        from av import VideoFrame

        frame = flatten(frame)
        if self._pad != ((0, 0), (0, 0), (0, 0)):
            frame = np.pad(frame, self._pad, "edge")
        with _plain_errors():
            picture = VideoFrame.from_ndarray(frame, "rgba").reformat(
                format="yuv420p",
                dst_colorspace=BT709,
                dst_color_range=LIMITED,
                threads=1,  # faster than more, for pictures of usual sizes
            )
            picture.pts = self._count
            self._container.mux(self._stream.encode(picture))
        self._count += 1

    def finish(self) -> None:
        """Write the frames that the encoder still holds, and the head."""
        with _plain_errors():
            self._container.mux(self._stream.encode(None))
            self._container.close()

    def close(self) -> None:
        """Close the file."""
        with suppress(Exception):  # what could not be written is thrown away anyway
            self._container.close()


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Errors of FFmpeg that are neither OSError nor ValueError become the former."""
    from av import FFmpegError

    try:
        yield
    except FFmpegError as error:
        raise OSError(error.errno or 0, error.strerror or str(error)) from None


FORMAT = Format(endings=(".mp4",), open=Mp4Encoder, rank=30)
