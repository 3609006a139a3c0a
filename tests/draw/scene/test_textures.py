"""Pictures of files as textures: every kind that is read, and all that is refused."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from flexor.draw.scene.textures import CHECKER, decode_image, read_texture
from flexor.scene.character.material import CLAMP, MIRROR, Image, Sampler
from tests.draw.scenes import png, square_scene

Rng = np.random.Generator


def decode(data: bytes, **more: Any) -> tuple[Any, list[str]]:
    pixels, findings = decode_image(Image("picture", data, "", **more), "/images/3")
    assert all(f.where == "/images/3" for f in findings)
    assert all(f.level == "warning" for f in findings)
    return pixels, [f.code for f in findings]


def test_colours_and_alpha_come_through(rng: Rng) -> None:
    given = rng.integers(0, 256, (5, 7, 4), np.uint8)
    pixels, codes = decode(png(given))
    assert not codes
    np.testing.assert_array_equal(pixels, given)
    assert not pixels.flags.writeable


def test_without_alpha_it_is_opaque(rng: Rng) -> None:
    given = rng.integers(0, 256, (4, 4, 3), np.uint8)
    pixels, _ = decode(png(given))
    np.testing.assert_array_equal(pixels[..., :3], given)
    assert (pixels[..., 3] == 255).all()


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_other_kinds(kind: str) -> None:
    pixels, codes = decode(png(np.full((16, 16, 3), 200), kind))
    assert not codes
    assert np.abs(pixels[..., :3].astype(int) - 200).max() <= 3


@pytest.mark.parametrize("mode", ["P", "L", "LA", "1", "I;16"])
def test_modes_of_png(mode: str) -> None:
    from PIL import Image as Pillow

    stream = BytesIO()
    if mode == "I;16":
        Pillow.fromarray(np.full((4, 4), 0x80FF, np.uint16)).save(stream, "PNG")
    else:
        Pillow.new("RGBA", (4, 4), (128, 128, 128, 255)).convert(mode).save(
            stream, "PNG"
        )
    pixels, codes = decode(stream.getvalue())
    assert not codes
    assert pixels.shape == (4, 4, 4)
    if mode in ("L", "LA", "I;16"):
        np.testing.assert_array_equal(pixels[0, 0], (128, 128, 128, 255))


def test_large_ones_are_reduced() -> None:
    pixels, codes = decode(png(np.full((10, 5000, 3), 77)))
    assert not codes
    assert pixels.shape == (4, 2048, 4)
    assert (pixels[..., :3] == 77).all()


def huge_png(width: int, height: int) -> bytes:
    """A PNG that claims to be large and holds nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return len(data).to_bytes(4, "big") + kind + data + crc.to_bytes(4, "big")

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x06\0\0\0"
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 100))
        + chunk(b"IEND", b"")
    )


def test_bad_pictures_are_checkers(rng: Rng) -> None:
    whole = png(rng.integers(0, 256, (32, 32, 4), np.uint8))
    broken = bytearray(whole)
    broken[40:60] = bytes(20)
    for data in (
        b"",
        b"no picture",
        whole[: len(whole) // 2],
        whole[:20],
        bytes(broken),
        b"\xabKTX 20\xbb\r\n\x1a\n" + bytes(100),
        b"GIF89a" + bytes(50),
        huge_png(9000, 9000),
        huge_png(30_000, 30_000),
        huge_png(2**31 - 1, 2**31 - 1),
    ):
        pixels, codes = decode(data)
        assert codes == ["missing-texture"]
        np.testing.assert_array_equal(pixels, CHECKER)


def test_missing_file_is_named() -> None:
    image = Image("picture", b"", "image/png", uri="skin.png")
    (finding,) = decode_image(image, "/images/0")[1]
    assert "skin.png" in finding.text


def test_checker_has_two_colours() -> None:
    assert len(np.unique(CHECKER.reshape(-1, 4), axis=0)) == 2


@pytest.mark.parametrize(
    ("sampler", "wanted"),
    [
        (Sampler(), ("repeat", "repeat", False, True)),
        (Sampler(wrap_s=CLAMP, wrap_t=MIRROR), ("clamp", "mirror", False, True)),
        (
            Sampler(mag_filter=9728, min_filter=9728),
            ("repeat", "repeat", True, False),
        ),
        (
            Sampler(mag_filter=9729, min_filter=9987),
            ("repeat", "repeat", False, True),
        ),
        (Sampler(min_filter=9729), ("repeat", "repeat", False, False)),
    ],
)
def test_samplers(sampler: Sampler, wanted: tuple[Any, ...]) -> None:
    scene = square_scene(picture=png(np.zeros((2, 2, 4))), sampler=sampler)
    texture, findings = read_texture(scene, 0, {})
    assert not findings
    have = texture.wrap_s, texture.wrap_t, texture.is_nearest, texture.has_mipmaps
    assert have == wanted


def test_a_picture_is_decoded_once() -> None:
    scene = square_scene(picture=b"broken")
    pictures: dict[int, Any] = {}
    _, findings = read_texture(scene, 0, pictures)
    assert len(findings) == 1
    texture, findings = read_texture(scene, 0, pictures)
    assert not findings
    assert texture.pixels is pictures[0]
