"""Whatever goes wrong, the old file stays, and nothing half-written is left."""

from __future__ import annotations

import builtins
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.arrays import Pixels
from flexor.errors import AssetError, BackendMissing
from flexor.output.movie import open_movie, save_movie
from tests.output.moving import ENDINGS, SIZE, moving, read_back

OLD = b"what was there before"


def put_old(folder: Path, name: str) -> Path:
    """Something under the name already: for a folder, frames of an earlier run."""
    path = folder / name
    if name.endswith("/"):
        path.mkdir()
        for i in range(9):
            (path / f"{i:05d}.png").write_bytes(OLD)
    else:
        path.write_bytes(OLD)
    return path


def is_old(path: Path) -> bool:
    if path.is_dir():
        names = sorted(os.listdir(path))
        same = all((path / name).read_bytes() == OLD for name in names)
        return same and names == [f"{i:05d}.png" for i in range(9)]
    return path.read_bytes() == OLD


def write(path: str, frames: Iterator[Pixels]) -> None:
    with open_movie(path, SIZE) as movie:
        for frame in frames:
            movie.add(frame)


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("after", [0, 1, 7])
def test_an_error_in_the_middle(
    tmp_path: Path, name: str, error: type[BaseException], after: int
) -> None:
    path = put_old(tmp_path, name)

    def frames() -> Iterator[Pixels]:
        yield from moving(after)
        raise error

    with pytest.raises(error):
        write(f"{tmp_path}/{name}", frames())
    assert is_old(path)
    assert os.listdir(tmp_path) == [path.name]
    assert not [t for t in threading.enumerate() if t.name.startswith("flexor-out")]


@pytest.mark.parametrize("name", ENDINGS)
def test_what_is_complete_takes_the_place_of_the_old(tmp_path: Path, name: str) -> None:
    path = put_old(tmp_path, name)
    save_movie(f"{tmp_path}/{name}", moving(4))
    assert len(read_back(path)[0]) == 4
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", ENDINGS)
def test_it_has_its_name_only_when_it_is_complete(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with open_movie(f"{tmp_path}/{name}", SIZE) as movie:
        movie.add(moving(1)[0])
        assert not path.exists()
    assert path.exists()


@pytest.mark.parametrize("name", ENDINGS)
def test_permissions_are_those_of_any_new_file(tmp_path: Path, name: str) -> None:
    plain = tmp_path / "plain"
    plain.mkdir() if name.endswith("/") else plain.touch()
    save_movie(f"{tmp_path}/{name}", moving(1))
    path = tmp_path / name
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o700)
    save_movie(f"{tmp_path}/{name}", moving(2))
    assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ENDINGS)
def test_a_missing_folder_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(AssetError, match=f"there is no folder {tmp_path}/none$"):
        save_movie(f"{tmp_path}/none/{name}", moving(1))
    assert not list(tmp_path.iterdir())


def test_names_that_are_taken_or_impossible(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(AssetError, match="is a file, expected a folder"):
        save_movie(f"{tmp_path}/file/", moving(1))
    os.mkfifo(tmp_path / "pipe.gif")
    with pytest.raises(AssetError, match="is not a plain file"):
        save_movie(tmp_path / "pipe.gif", moving(1))
    for name in ("a\0b.gif", "a\0b/"):
        with pytest.raises(AssetError, match="cannot be written"):
            save_movie(f"{tmp_path}/{name}", moving(1))
    with pytest.raises(AssetError, match="cannot be written: File name too long"):
        save_movie(tmp_path / ("a" * 300 + ".gif"), moving(1))
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe.gif"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "link.npy").symlink_to("real.npy")
    save_movie(tmp_path / "link", moving(1))
    save_movie(tmp_path / "link.npy", moving(1))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "link.npy").is_symlink()
    assert os.listdir(tmp_path / "real") == ["00000.png"]
    assert (tmp_path / "real.npy").is_file()


@pytest.mark.parametrize("stranger", ["holiday.png", "00001.jpg", "00001.png"])
def test_a_folder_with_other_things_is_not_touched(
    tmp_path: Path, stranger: str
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "00000.png").write_bytes(OLD)
    if stranger == "00001.png":
        (folder / stranger).mkdir()  # named like a frame, but it is none
    else:
        (folder / stranger).write_bytes(OLD)
    with pytest.raises(AssetError, match=f"holds '{stranger}', which is no frame"):
        save_movie(folder, moving(3))
    assert sorted(os.listdir(folder)) == sorted(["00000.png", stranger])
    assert os.listdir(tmp_path) == ["pictures"]


def test_other_things_that_come_while_writing(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"

    def frames() -> Iterator[Pixels]:
        yield moving(1)[0]
        folder.mkdir()
        (folder / "holiday.png").write_bytes(OLD)

    with pytest.raises(AssetError, match=r"holds 'holiday\.png'"):
        write(f"{folder}/", frames())
    assert os.listdir(folder) == ["holiday.png"]
    assert os.listdir(tmp_path) == ["pictures"]


@pytest.mark.parametrize("name", ENDINGS)
def test_two_writers_of_one_name(tmp_path: Path, name: str) -> None:
    """The last one wins, and the file is always one of theirs, whole."""
    errors: list[BaseException] = []

    def write_some(level: int) -> None:
        frame = np.full((20, 20, 4), 255, np.uint8)
        frame[..., :3] = level
        try:
            for _ in range(4):
                save_movie(f"{tmp_path}/{name}", [frame] * (2 + level // 100))
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=write_some, args=(level,)) for level in (0, 100, 200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    frames, _ = read_back(tmp_path / name)
    assert len(frames) == 2 + round(frames.mean((1, 2))[0, 0] / 100)
    assert os.listdir(tmp_path) == [name.rstrip("/")]


FULL_DISK = """
import resource, sys
import numpy as np
from flexor.errors import AssetError
from flexor.output.movie import save_movie

# No file may grow beyond this: like a disk that is full, for every way of writing.
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
rng = np.random.default_rng(1)
frames = (rng.integers(0, 256, (64, 64, 4), np.uint8) for _ in range(40))
try:
    save_movie(sys.argv[1], frames)
except AssetError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ENDINGS)
def test_a_full_disk(tmp_path: Path, name: str) -> None:
    path = put_old(tmp_path, name)
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, f"{tmp_path}/{name}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == f"{path}: cannot be written: File too large\n"
    assert is_old(path)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", ENDINGS)
def test_a_rename_that_fails(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put_old(tmp_path, name)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(AssetError, match="cannot be written: No space left on device"):
        save_movie(f"{tmp_path}/{name}", moving(2))
    assert is_old(path)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(AssetError, match="cannot be written: Permission denied"):
        save_movie(tmp_path / "a.gif", moving(2))


def test_errors_of_the_caller_are_left_alone(tmp_path: Path) -> None:
    def frames() -> Iterator[Pixels]:
        yield from moving(2)
        raise FileNotFoundError("a texture")

    with pytest.raises(FileNotFoundError, match="a texture"):
        save_movie(tmp_path / "a.webp", frames())
    assert not os.listdir(tmp_path)


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def no_av(name: str, *rest: Any) -> Any:
        if name == "av" or name.startswith("av."):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_av)
    with pytest.raises(BackendMissing) as caught:
        save_movie(tmp_path / "a.mp4", moving(1))
    assert "pip install 'flexor[video]'" in str(caught.value)
    assert ".webp" in str(caught.value)
    assert not os.listdir(tmp_path)


# Not quite for ever, and slowly: nobody ends it if the tests themselves are stopped.
FOR_EVER = """
import signal
import sys
import time
import numpy as np
from flexor.output.movie import open_movie

# Jobs in the background of a shell ignore interrupts, and so do their children.
signal.signal(signal.SIGINT, signal.default_int_handler)
frame = np.full((64, 64, 4), 255, np.uint8)
with open_movie(sys.argv[1], (64, 64)) as movie:
    for i in range(20_000):
        frame[..., 0] = i % 256
        movie.add(frame)
        time.sleep(0.005 if i > 20 else 0)
        if i == 20:
            print("ready", flush=True)
"""


@pytest.mark.parametrize("name", ENDINGS)
def test_a_real_interrupt(tmp_path: Path, name: str) -> None:
    path = put_old(tmp_path, name)
    process = subprocess.Popen(
        [sys.executable, "-c", FOR_EVER, f"{tmp_path}/{name}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) != 0
    process.stdout.close()
    assert is_old(path)
    assert os.listdir(tmp_path) == [path.name]
