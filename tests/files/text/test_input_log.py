"""Logs of what pads held as text: what they say, and faults by line."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.errors import AssetError, SettingError, VersionError
from flexor.files.text import input_log, moves
from flexor.files.text.input_log import log_text, read_log, write_log
from flexor.scene.stage.camera_rule import CameraChange, CameraRule
from flexor.scene.stage.input_log import InputLog
from flexor.scene.stage.sticks import stick_mask, stick_of

LOG = "flexor inputs 1\nticks 600\n120 0 left+B\n120 2 A\n131 0 -\n"


def test_a_log_in_lines(tmp_path: Path) -> None:
    file = tmp_path / "match.txt"
    log = InputLog([120, 120, 131], [0, 2, 0], [36, 16, 0], 600)  # type: ignore[arg-type]
    assert log_text(log) == LOG
    write_log(file, log)
    assert file.read_bytes() == LOG.encode()
    again = read_log(str(file))
    assert again.ticks.tolist() == [120, 120, 131]
    assert again.who.tolist() == [0, 2, 0]
    assert again.states.tolist() == [36, 16, 0]
    assert again.length == 600


def test_a_log_that_someone_wrote(tmp_path: Path) -> None:
    file = tmp_path / "match.txt"
    text = "flexor inputs 1\r\n# a match\r\n\r\n3 0 B+left # now\r\n 7  0 - \r\n"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    log = read_log(file)
    assert log.ticks.tolist() == [3, 7]
    assert log.states.tolist() == [36, 0]
    assert log.length == 8
    file.write_text("flexor inputs 1")
    assert len(read_log(file)) == 0


def test_cameras_survive_the_text_of_a_log(tmp_path: Path) -> None:
    """Of version 2; logs without any are as they were."""
    rules = (
        CameraRule(rule="behind", of="a # 'b\u00e9'", fov=0.1 + 0.2, distance=1 / 3),
        CameraRule(rule="fixed", eye=(0.1, 2, 3), target=(4, 5, 1e-7), ease=0),
        CameraRule(),
    )
    cameras = tuple(CameraChange(9, row, rule) for row, rule in enumerate(rules))
    log = InputLog([5, 12], [0, 1], [1, 0], 20, cameras)  # type: ignore[arg-type]
    file = tmp_path / "match.txt"
    write_log(file, log)
    assert file.read_text().startswith("flexor inputs 2\nticks 20\n")
    again = read_log(file)
    assert again.cameras == cameras
    assert (again.ticks.tolist(), again.length) == ([5, 12], 20)


def test_sticks_survive_the_text_of_a_log(tmp_path: Path) -> None:
    """Of version 3; logs without any are as they were, and may not have any."""
    masks = [
        stick_mask(right / 127, up / 127) | (number % 4096)
        for number, (right, up) in enumerate(
            itertools.product((*range(-127, 128, 7), 1, 127), repeat=2)
        )
    ]
    count = len(masks)
    cameras = (CameraChange(9, 0, CameraRule()),)
    log = InputLog(range(count), [0] * count, masks, -1, cameras)  # type: ignore[arg-type]
    assert log.has_sticks
    file = tmp_path / "match.txt"
    write_log(file, log)
    assert file.read_text().startswith("flexor inputs 3\n")
    again = read_log(file)
    assert again.states.tolist() == masks
    assert again.cameras == cameras
    line = "140 0 B+stick(0.5,-1)\n"
    for version in (1, 2):
        file.write_text(LOG.replace("inputs 1", f"inputs {version}") + line)
        with pytest.raises(AssetError, match="has a stick, expected 'flexor inputs 3'"):
            read_log(file)
    file.write_text(LOG.replace("inputs 1", "inputs 3") + line)
    assert stick_of(int(read_log(file).states[-1])) == (64 / 127, -1)
    for wrong in ("nan,0", "0,1.5", "-2,0", "0", "1,2,3", "a,b", "inf,0", ""):
        file.write_text(f"flexor inputs 3\n140 0 B+stick({wrong})\n")
        with pytest.raises(AssetError) as caught:
            read_log(file)
        assert caught.value.pointer == "line 2"
        assert "stick" in str(caught.value)
        assert "expected" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("140 camera x {}", "'x', expected a whole number"),
        ("140 camera 0", "'camera', expected a whole number"),
        ("140 camera 0 {", "camera: Expecting property name"),
        ("140 camera 0 []", "camera: expected distance, ease, eye"),
        ('140 camera 0 {"far": 3}', "camera: expected distance, ease, eye"),
        ('140 camera 0 {"fov": 7}', "camera: fov: 7, expected 0.01 to 3"),
        ('140 camera 0 {"fov": NaN}', "camera: fov: nan, expected 0.01 to 3"),
        ('140 camera 0 {"rule": [1]}', "camera: rule: [1], expected one of fixed"),
        ('140 camera 0 {"eye": "abc"}', "camera: eye: 'abc', expected"),
        ("140 camera 0 " + "[" * 99999, "camera: "),
    ],
)
def test_faults_of_cameras_in_logs(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "match.txt"
    file.write_text(LOG.replace("inputs 1", "inputs 2") + line, "utf-8")
    with pytest.raises(AssetError) as caught:
        read_log(file)
    assert words in str(caught.value)
    assert caught.value.pointer == "line 6"
    assert len(str(caught.value)) < 400 + len(str(file))


def test_a_log_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    log = InputLog([], [], [])  # type: ignore[arg-type]
    with pytest.raises(AssetError, match="there is no folder"):
        write_log(tmp_path / "none" / "match.txt", log)
    with pytest.raises(AssetError, match="is not a plain file"):
        write_log(tmp_path, log)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "line 1", "expected 'flexor inputs 1': is no such log"),
        ("\n", "line 1", "is no such log"),
        ("1", "line 1", "is no such log"),
        ("other inputs 1", "line 1", "is no such log"),
        (LOG.replace("120 0 left", "12 left"), "line 3", "expected '120 0 B+left'"),
        (LOG + "140 0 B extra", "line 6", "expected '120 0 B+left'"),
        (LOG + "140 0", "line 6", "or '131 0 -' for no button"),
        (LOG + "140 0 none", "line 6", "there are: 'down', ...; or - for none"),
        (LOG + "ticks 700", "line 6", "expected '120 0 B+left'"),
        (LOG + "x 0 B", "line 6", "'x', expected a whole number"),
        (LOG + "-1 0 B", "line 6", "'-1', expected a whole number"),
        (LOG + "1e9 0 B", "line 6", "'1e9', expected a whole number"),
        (LOG + "140 99999999999 B", "line 6", "expected a whole number"),
        (LOG + "2147483647 0 B", "line 6", "expected a whole number"),
        (LOG + "9" * 9999 + " 0 B", "line 6", "expected a whole number"),
        (LOG + "\u0663 0 B", "line 6", "expected a whole number"),
        (LOG + "131 0 B", "line 6", "tick 131 of character 0, expected them to rise"),
        (LOG + "5 1 B", "line 6", "expected them to rise"),
        (LOG + "140 0 Q", "line 6", "no button 'Q'; there are: 'up'"),
        (LOG + "140 0 rigt", "line 6", "no button 'rigt'; there are: 'right'"),
        (LOG + "140 0 B+B", "line 6", "names the button 'B' twice"),
        (LOG + "140 0 B+" + "x" * 9999, "line 6", "no button 'xxx"),
        (LOG.replace("600", "131"), "line 2", "length: 131, expected whole ticks, 132"),
        (LOG.replace("600", "many"), "line 2", "'many', expected a whole number"),
    ],
)
def test_faults_of_logs(tmp_path: Path, text: str, place: str, words: str) -> None:
    file = tmp_path / "match.txt"
    file.write_text(text, "utf-8")
    with pytest.raises(AssetError) as caught:
        read_log(file)
    assert words in str(caught.value)
    assert caught.value.pointer == place
    assert len(str(caught.value)) < 400 + len(str(file))


def test_logs_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "match.txt"
    with pytest.raises(AssetError, match="No such file"):
        read_log(file)
    with pytest.raises(AssetError, match="is a directory"):
        read_log(tmp_path)
    file.write_bytes(b"flexor inputs 1\n\xff")
    with pytest.raises(AssetError, match="is no text"):
        read_log(file)
    file.write_text(LOG.replace("inputs 1", "inputs 4"))
    with pytest.raises(VersionError, match="version '4', expected 1, 2 or 3"):
        read_log(file)
    file.write_text(LOG)
    monkeypatch.setattr(input_log, "MOST_BYTES", 10)
    with pytest.raises(AssetError, match="is larger than 10 bytes"):
        read_log(file)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = Path(tmp_path_factory.mktemp("log")) / "match.txt"
    file.write_bytes(b"flexor inputs 1\n" + data)
    try:
        log = read_log(file)
    except AssetError:
        return
    assert isinstance(log.states, np.ndarray)


def test_logs_are_found_where_they_were() -> None:
    """Programs that were written before name the module of moves."""
    assert (moves.read_log, moves.write_log) == (read_log, write_log)


def test_what_is_no_log_is_not_written(tmp_path: Path) -> None:
    for what in (None, "120 0 B", np.zeros(3)):
        with pytest.raises(SettingError, match=r"log: .*, expected InputLog"):
            write_log(tmp_path / "a.log", what)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
