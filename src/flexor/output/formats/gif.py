"""GIF with one palette for all frames.

A palette for each frame, as Pillow chooses by default, makes colours flicker and is
some twenty times slower. One for all can be chosen only when all have been seen, so
frames are kept until then: of each what changed, compressed. Pixels that stay are
stored as transparent, which compresses well.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flexor.arrays import Pixels
from flexor.errors import SettingError
from flexor.output.format import Format
from flexor.output.frames import Box, changed_box, flatten, ticks
from flexor.output.ordered import Ordered

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["FORMAT", "GifEncoder"]

MOST_FPS = 50  # browsers show frames of less than 1/50 s for 1/10 s
COLOURS = 255
STAYS = 255  # the number of the colour that lets the frame before show
MOST_TILES = 64  # pictures from which the palette is chosen
TILE_PIXELS = 16384


class GifEncoder:
    """Keeps frames compressed, and writes them when the palette is known."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        if fps > MOST_FPS:
            raise SettingError(
                f"fps: {fps:g}; a GIF shows at most {MOST_FPS} frames a second, "
                "a .webp shows more"
            )
        self._path, self._size, self._fps = path, size, fps
        self._count = 0
        self._before: Pixels | None = None
        self._kept: list[bytes] = []
        self._tiles: list[Pixels] = []
        self._every = 1  # of how many frames one gives a tile
        self._step = int(np.ceil(np.sqrt(size[0] * size[1] / TILE_PIXELS)))
        self._ordered = Ordered(self._kept.append)

    def add(self, frame: Pixels) -> None:
        """Keep the next frame."""
        now = flatten(frame)
        if now is frame:
            now = frame.copy()
        if self._count % self._every == 0:
            self._keep_tile(now)
        self._ordered.add(partial(_pack, self._before, now))
        self._before = now
        self._count += 1

    def finish(self) -> None:
        """Choose the palette and write the file."""
        from PIL import GifImagePlugin, Image

        self._ordered.finish()
        palette = _choose_palette(self._tiles)
        shown = np.full((self._size[1], self._size[0]), STAYS, np.uint8)
        with open(self._path, "wb") as file:
            file.write(_head(self._size, palette))
            for i, packed in enumerate(self._kept):
                (left, top, right, bottom), pixels = _unpack(packed)
                numbers = _nearest(pixels, palette)
                part = shown[top:bottom, left:right]
                stored = np.where(numbers == part, np.uint8(STAYS), numbers)
                part[:] = numbers
                blocks = GifImagePlugin.getdata(
                    Image.fromarray(stored),
                    (left, top),
                    duration=10 * ticks(i, self._fps, 100),
                    transparency=STAYS,
                    disposal=1,  # stays for the next frame
                )
                file.write(b"".join(blocks))
            file.write(b";")

    def close(self) -> None:
        """End the threads."""
        self._ordered.close()

    def _keep_tile(self, frame: Pixels) -> None:
        """Keep some pixels, spread over the picture, as a sample of its colours."""
        if len(self._tiles) == MOST_TILES:
            self._tiles = self._tiles[::2]
            self._every *= 2
            if self._count % self._every:
                return
        start = self._count % self._step  # others in other frames
        self._tiles.append(frame[start :: self._step, start :: self._step].copy())


def _pack(before: Pixels | None, now: Pixels) -> bytes:
    """The box that changed, then its pixels, compressed."""
    left, top, right, bottom = box = changed_box(before, now)
    part = now[top:bottom, left:right].copy()
    return struct.pack("<4H", *box) + zlib.compress(part.data, 1)


def _unpack(packed: bytes) -> tuple[Box, Pixels]:
    left, top, right, bottom = struct.unpack_from("<4H", packed)
    flat = np.frombuffer(zlib.decompress(memoryview(packed)[8:]), np.uint8)
    return (left, top, right, bottom), flat.reshape(bottom - top, right - left, 4)


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """Colours for all frames. picture: as Pillow wants them; common: (4,), the colour
    that most pixels have; number: its place.
    """

    picture: Image
    common: Pixels
    number: int


def _choose_palette(tiles: list[Pixels]) -> Palette:
    """Colours for all frames, from some of their pixels."""
    from PIL import Image

    pixels = np.concatenate([tile.reshape(-1, 4) for tile in tiles])
    picture = Image.fromarray(pixels[None]).convert("RGB")
    chosen = picture.quantize(COLOURS, Image.Quantize.MEDIANCUT)
    # Colours are means of similar ones; the most common one, the background, is exact.
    colours = np.array(chosen.getpalette(), np.int64).reshape(-1, 3)
    words, counts = np.unique(pixels.view(np.uint32)[:, 0], return_counts=True)
    common = words[counts.argmax() :][:1].view(np.uint8)
    number = int(np.abs(colours - common[:3]).sum(1).argmin())
    colours[number] = common[:3]
    chosen.putpalette(colours.astype(np.uint8).tobytes())
    return Palette(chosen, common, number)


def _nearest(pixels: Pixels, palette: Palette) -> Pixels:
    """The number of the nearest colour of each pixel: (H, W, 4) to (H, W).

    Without dithering, which would flicker and hardly compress.
    """
    from PIL import Image

    picture = Image.fromarray(pixels).convert("RGB")
    chosen = picture.quantize(palette=palette.picture, dither=Image.Dither.NONE)
    # Pillow looks colours up by their upper 6 bits, and so may miss the exact one.
    is_common = pixels.view(np.uint32)[..., 0] == palette.common.view(np.uint32)
    return np.where(is_common, np.uint8(palette.number), np.asarray(chosen))


def _head(size: tuple[int, int], palette: Palette) -> bytes:
    """Everything before the first frame: size, palette, played for ever."""
    colours = bytes(palette.picture.getpalette() or b"")[: 3 * COLOURS]
    screen = struct.pack("<6s2HBBB", b"GIF89a", *size, 0xF7, 0, 0)
    loop = b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
    return screen + colours.ljust(3 * 256, b"\0") + loop


FORMAT = Format(endings=(".gif",), open=GifEncoder, rank=50)
