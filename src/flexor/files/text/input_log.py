"""Logs of what pads held, in lines of text: read and written.

A log of buttons is a line for each change: tick, character, what it holds from then on.

    flexor inputs 1
    ticks 600
    120 0 left+B
    131 0 -

Where the camera was given another rule, there is a line for that too, and the log is of
version 2: tick, "camera", the row of whom it is about, and the rule.

    flexor inputs 2
    140 camera 0 {"rule": "behind", "distance": 3.4}

Where a stick was tilted, it is of version 3: how far right and how far up, -1 to 1,
stand behind the buttons.

    flexor inputs 3
    150 0 B+stick(0.504,0)
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np

from flexor.errors import AssetError, SettingError, ShapeError, VersionError
from flexor.files.replace import replace_file
from flexor.scene.checks import check_kind
from flexor.scene.stage.camera_rule import CameraChange, CameraRule
from flexor.scene.stage.input_log import InputLog
from flexor.scene.stage.sticks import ALL_STICK, pad_mask, pad_text

__all__ = ["log_text", "read_log", "write_log"]

WORD = "flexor inputs"
VERSION, CAMERA_VERSION, STICK_VERSION = VERSIONS = 1, 2, 3
CAMERA = "camera"
MOST_BYTES = 64_000_000  # of a log
LINE = "'120 0 B+left', or '131 0 -' for no button"


def log_text(log: InputLog) -> str:
    """A log of buttons as the text of a file."""
    words = {int(mask): pad_text(int(mask)) for mask in np.unique(log.states)}
    rows = zip(log.ticks.tolist(), log.who.tolist(), log.states.tolist(), strict=True)
    version = CAMERA_VERSION if log.cameras else VERSION
    if log.has_sticks:
        version = STICK_VERSION
    lines = [f"{WORD} {version}", f"ticks {log.length}"]
    lines += [f"{tick} {who} {words[mask]}" for tick, who, mask in rows]
    lines += [f"{one.tick} {CAMERA} {one.row} {_say(one.rule)}" for one in log.cameras]
    return "\n".join(lines) + "\n"


def _say(rule: CameraRule) -> str:
    """What a rule has that is not usual, in one line without comments."""
    told = {
        own.name: getattr(rule, own.name)
        for own in fields(CameraRule)
        if getattr(rule, own.name) != own.default
    }
    return json.dumps(told).replace("#", "\\u0023")


def _read_camera(file: Path, place: str, words: list[str]) -> CameraChange:
    """A line of a change of the camera: tick, "camera", row, rule."""
    tick, row = _whole(file, place, words[0]), _whole(file, place, words[2])
    try:
        told = json.loads(words[3])
        known = {own.name for own in fields(CameraRule)}
        if not isinstance(told, dict) or not told.keys() <= known:
            raise SettingError(f"expected {', '.join(sorted(known))} in braces")
        return CameraChange(tick, row, CameraRule(**told))
    except (SettingError, ShapeError, ValueError, RecursionError) as error:
        raise AssetError(file, place, f"camera: {str(error)[:200]}") from None


def write_log(path: str | Path, log: InputLog) -> None:
    """Write a log of buttons, all of it or nothing."""
    check_kind(log, InputLog, "log")
    replace_file(Path(path), log_text(log).encode("ascii"))


def read_log(path: str | Path) -> InputLog:
    """A log of buttons; AssetError with the line where the file is wrong.

    Empty lines, and what is behind a #, are passed over.
    """
    file = Path(path)
    lines = _read_lines(file)
    head = lines[0].split() if lines else []
    if head[:-1] != WORD.split():
        raise AssetError(file, "line 1", f"expected '{WORD} {VERSION}': is no such log")
    if head[-1] not in map(str, VERSIONS):
        *first, last = map(str, VERSIONS)
        text = f"version {head[-1]!r}, expected {', '.join(first)} or {last}"
        raise VersionError(file, "line 1", text)
    version = int(head[-1])
    length = -1
    ticks, who, states = list[int](), list[int](), list[int]()
    masks: dict[str, int] = {"-": 0}
    before, cameras = (-1, -1), list[CameraChange]()
    for number, line in enumerate(lines[1:], 2):
        words = line.partition("#")[0].split(None, 3)
        if not words:
            continue
        place = f"line {number}"
        if words[0] == "ticks" and length < 0 and not ticks and len(words) == 2:
            length = _whole(file, place, words[1])
            continue
        if words[1:2] == [CAMERA] and len(words) == 4:
            cameras.append(_read_camera(file, place, words))
            continue
        if len(words) != 3:
            raise AssetError(file, place, f"{line[:80]!r}, expected {LINE}")
        now = _whole(file, place, words[0]), _whole(file, place, words[1])
        if now <= before:
            fault = f"tick {now[0]} of character {now[1]}, expected them to rise"
            raise AssetError(file, place, fault)
        if words[2] not in masks:
            try:
                masks[words[2]] = _read_pad(words[2][:80], version)
            except SettingError as error:
                raise AssetError(file, place, str(error)) from None
        before = now
        ticks.append(now[0])
        who.append(now[1])
        states.append(masks[words[2]])
    try:
        return InputLog(
            np.array(ticks, np.int32),
            np.array(who, np.int32),
            np.array(states, np.uint32),
            length,
            tuple(cameras),
        )
    except (SettingError, ShapeError) as error:
        raise AssetError(file, "line 2", str(error)) from None


def _read_pad(word: str, version: int) -> int:
    """What a pad holds; sticks are of later logs than buttons are."""
    try:
        mask = pad_mask(word)
    except SettingError as error:
        none = "; or - for none" if str(error).startswith("no button") else ""
        raise SettingError(f"{error}{none}") from None
    if mask & ALL_STICK and version < STICK_VERSION:
        raise SettingError(
            f"{word!r} has a stick, expected '{WORD} {STICK_VERSION}' in line 1"
        )
    return mask


def _read_lines(file: Path) -> list[str]:
    try:
        if file.exists() and not file.is_file():
            raise AssetError(file, "", "is a directory or no plain file")
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise AssetError(file, "", f"is larger than {MOST_BYTES:,} bytes")
        return data.decode("utf-8-sig").split("\n")
    except OSError as error:
        raise AssetError(file, "", error.strerror or str(error)) from None
    except ValueError as error:
        raise AssetError(file, "", f"is no text: {error}") from None


def _whole(file: Path, place: str, word: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", word) or int(word) >= 2**31 - 1:
        raise AssetError(file, place, f"{word[:80]!r}, expected a whole number")
    return int(word)
