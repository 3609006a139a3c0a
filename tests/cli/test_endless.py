"""`flexor endless`: folders read in order, loops written whole, refusals."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.cli import endless
from flexor.stage.effects.endless import (
    blend_series,
    loop_series,
    step_sizes,
    water_series,
)

Image: Any = pytest.importorskip("PIL.Image")
COUNT, SIZE = 6, (24, 16)


def write(folder: Path, pictures: Any, name: str = "{}.png") -> Path:
    folder.mkdir()
    for number, pixels in enumerate(pictures):
        Image.fromarray(pixels).save(folder / name.format(number))
    return folder


def read(folder: Path) -> Any:
    return np.stack([np.array(Image.open(file)) for file in sorted(folder.iterdir())])


@pytest.fixture(scope="module")
def water() -> Any:
    return water_series(2 * COUNT, SIZE, 5, rate=10.0)


@pytest.fixture
def folders(water: Any, tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "a", water[:COUNT]), write(tmp_path / "b", water[COUNT:])


@pytest.mark.parametrize("more", [(), ("--keep-contrast",)])
def test_two_folders(
    run: Any, folders: Any, water: Any, tmp_path: Path, more: Any
) -> None:
    out = tmp_path / "loop"
    done = run("endless", *folders, "-o", out, *more)
    assert (done.code, done.err) == (0, "")
    loop = blend_series(water[:COUNT], water[COUNT:], keep_contrast=bool(more))
    assert (read(out) == loop).all()
    steps = step_sizes(loop)
    assert f"{out}/: 6 frames of 24 x 16\n" in done.out
    assert f"largest step inside: {steps[:-1].max():.2f} levels" in done.out
    assert f"from last to first: {steps[-1]:.2f}\n" in done.out
    assert "note" not in done.out


@pytest.mark.parametrize("overlap", [2, 5, 6])
def test_one_folder(
    run: Any, water: Any, tmp_path: Path, overlap: int, monkeypatch: Any
) -> None:
    source = write(tmp_path / "long", water, "wave{}.png")  # wave2 before wave10
    monkeypatch.chdir(tmp_path)
    done = run("endless", source, "--overlap", overlap, "-o", "loop/")
    assert done.code == 0
    assert (read(tmp_path / "loop") == loop_series(water, overlap)).all()
    again = run("endless", "long", "--overlap", overlap, "-o", "loop")  # over it
    assert again.out == done.out


@pytest.mark.parametrize("ending", [".webp", ".apng", ".gif", ".npy"])
def test_movies(run: Any, folders: Any, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"loop{ending}"
    done = run("endless", *folders, "-o", out, "--rate", 12)
    assert done.code == 0
    assert "6 frames of 24 x 16, 0.50 s at 12 a second" in done.out
    if ending == ".npy":
        assert np.load(out).shape == (6, 16, 24, 4)
    else:
        with Image.open(out) as movie:
            assert movie.n_frames == 6
            assert movie.size == SIZE


def test_series_that_do_not_go_on_are_told(
    run: Any, water: Any, tmp_path: Path
) -> None:
    first = write(tmp_path / "a", water[:COUNT])
    second = write(tmp_path / "b", 255 - water[COUNT:])
    with_alpha = Image.open(second / "0.png")
    assert with_alpha.getextrema()[3] == (0, 0)
    done = run("endless", first, second, "-o", tmp_path / "loop")
    assert done.code == 0
    assert "note: the step from last to first is the largest" in done.out


def test_kinds_of_pictures(run: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    grey = Image.new("L", SIZE, 100)
    grey.save(first / "1.PNG")
    grey.convert("P").save(first / "2.png")
    Image.fromarray(np.full(SIZE[::-1], 100 << 8, np.uint16)).save(first / "3.png")
    grey.convert("RGB").save(second / "1.jpg", quality=100)
    grey.convert("RGB").save(second / "2.jpeg", quality=100)
    grey.convert("RGB").save(second / "3.webp", lossless=True)
    (first / "notes.txt").write_text("not a picture")
    assert run("endless", first, second, "-o", tmp_path / "loop").code == 0
    loop = read(tmp_path / "loop")
    assert loop.shape == (3, 16, 24, 4)
    assert (np.abs(loop[..., :3].astype(int) - 100) <= 1).all()


def test_order_of_names() -> None:
    wanted = ["9.png", "10.png", "A1.png", "a02.png", "a2.png", "a10.png", "b1.png"]
    mixed = wanted[3:] + wanted[:3]
    assert sorted(mixed, key=endless._order) == wanted
    assert len(sorted([*wanted, "9" * 5000], key=endless._order)) == 8


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it is large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + pixels + chunk(b"IEND", b"")


def animation(place: Path) -> None:
    pictures = [Image.new("RGB", SIZE, (n, 0, 0)) for n in (0, 200)]
    pictures[0].save(place, save_all=True, append_images=pictures[1:], lossless=True)


def pipe(place: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    place.unlink()
    os.mkfifo(place)


def spoil(place: Path, how: Any) -> None:
    if callable(how):
        how(place)
    else:
        place.write_bytes(how)


@pytest.mark.parametrize(
    ("how", "wrong"),
    [
        (b"", "cannot be read"),
        (b"no picture at all", "expected a picture: PNG, JPEG, WEBP"),
        (lambda p: p.write_bytes(p.read_bytes()[:-200]), "cannot be read"),
        (lambda p: Image.new("RGB", (24, 17)).save(p), "24 x 17 pixels, expected 24 x"),
        (bomb(5000, 5000), "5000 x 5000 pixels, expected at most 16383 a side and"),
        (bomb(100_000, 2), "100000 x 2 pixels, expected at most 16383"),
        (bomb(60_000, 60_000), "cannot be read"),
        (bomb(*SIZE), "cannot be read"),
        (animation, "holds 2 pictures, expected one a file"),
        (lambda p: Image.new("L", SIZE).save(p, "GIF"), "cannot be read"),
        (pipe, "is not a plain file, expected a picture"),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_bad_pictures(
    run: Any, folders: Any, tmp_path: Path, which: int, how: Any, wrong: str
) -> None:
    spoil(folders[which] / "4.png", how)
    out = tmp_path / "loop"
    out.mkdir()
    (out / "00000.png").write_bytes(b"what was there")
    done = run("endless", *folders, "-o", out)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert f"{folders[which] / '4.png'}: " in done.err
    assert wrong in done.err
    assert (out / "00000.png").read_bytes() == b"what was there"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "loop"]


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("a", "b"), "-o: give a folder, or a movie"),
        (("a", "-o", "x"), "B_DIR: not given; give a second folder, or --overlap N"),
        (("a", "b", "--overlap", 2, "-o", "x"), "--overlap: is for one folder"),
        (("a", "a/", "-o", "x"), "B_DIR: is A_DIR"),
        (("a", "--overlap", 4, "-o", "x"), "--overlap: 4, expected 2 to 3, half of"),
        (("a", "--overlap", 1, "-o", "x"), "--overlap: 1, expected 2 to 3"),
        (("few", "--overlap", 2, "-o", "x"), "few: 3 pictures, expected at least 4 fo"),
        (("a", "b", "-o", "x.png"), "-o x.png: unknown ending; movies are .mp4"),
        (("a", "b", "-o", "no/x"), "there is no folder no"),
        (("a", "b", "-o", "a"), "-o a/: its pictures are read; give another folder"),
        (("a", "b", "-o", "c/../b/"), "its pictures are read"),
        (("a", "b", "-o", "x.gif", "--rate", 0), "--rate: 0, expected 0.01 to 1000"),
        (("a", "b", "-o", "x.gif", "--rate", "nan"), "--rate: nan, expected"),
        (("a", "d", "-o", "x"), "d: cannot be read: No such file or directory; exp"),
        (("a", "a/1.png", "-o", "x"), "1.png: cannot be read: Not a directory"),
        (("a", "c", "-o", "x"), "c: 1 pictures (.png .jpg .jpeg .webp), expected 2"),
        (("a", "short", "-o", "x"), "short: 5 pictures, expected 6 as a has"),
        (("a", "b", "-o", "rest"), "rest: cannot be written: holds 'x.txt'"),
    ],
)
def test_refusals(
    run: Any,
    folders: Any,
    water: Any,
    words: tuple[object, ...],
    wrong: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "c", water[:1])
    write(tmp_path / "short", water[:5])
    write(tmp_path / "few", water[:3])
    (tmp_path / "rest").mkdir()
    (tmp_path / "rest" / "x.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    done = run("endless", *words)
    assert done.code == 2
    assert wrong in done.err
    assert done.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_picture_that_changes_while_it_is_read(
    run: Any, folders: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = endless._plan

    def slow(*words: Any) -> Any:
        found = plan(*words)
        Image.new("RGB", (9, 9)).save(folders[1] / "3.png")
        return found

    monkeypatch.setattr(endless, "_plan", slow)
    done = run("endless", *folders, "-o", tmp_path / "loop")
    assert done.code == 2
    assert "9 x 9 pixels, expected 24 x 16 as it had before" in done.err
    assert not (tmp_path / "loop").exists()


def test_help(run: Any) -> None:
    done = run("endless", "--help")
    assert done.code == 0
    assert "--overlap" in done.out
