from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from flexor.errors import AssetError
from flexor.files import replace


def test_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    replace.replace_file(tmp_path / "made", b"abc")
    assert (tmp_path / "made").read_bytes() == b"abc"
    assert (tmp_path / "made").stat().st_mode == plain.stat().st_mode


def test_an_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(0o640)
    replace.replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(AssetError, match="No space left on device"):
        replace.replace_file(path, b"new")
    assert os.listdir(tmp_path) == ["old"]
    assert path.read_bytes() == b"old"


def test_stopping_in_the_middle_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        replace.replace_file(tmp_path / "new", b"new")
    assert os.listdir(tmp_path) == []


def test_a_folder_under_that_name(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="cannot be written"):
        replace.replace_file(tmp_path, b"new")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    replace.replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_pipes_and_impossible_names(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AssetError, match="not a plain file"):
        replace.replace_file(tmp_path / "pipe", b"new")
    with pytest.raises(AssetError, match="cannot be written"):
        replace.replace_file(tmp_path / "a\0b", b"new")
