"""Buttons recorded and played back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import SettingError, ShapeError
from flexor.files.text.moves import read_log, write_log
from flexor.scene.stage.moves import ALL_BUTTONS
from flexor.scene.stage.sticks import stick_mask
from flexor.stage.movement.buttons import (
    InputLog,
    buttons_at,
    find_pressed,
    init_recorder,
    init_replay,
    record,
    recorded,
)

STATES = st.integers(1, 4).flatmap(
    lambda count: st.lists(
        st.lists(
            st.sampled_from([0, 1, 32, 96, ALL_BUTTONS, stick_mask(-1, 0.5) | 3]),
            min_size=count,
            max_size=count,
        ),
        max_size=30,
    ).map(lambda rows: np.array(rows, np.uint32).reshape(-1, count))
)


def record_all(states: np.ndarray) -> InputLog:
    recorder = init_recorder(states.shape[1])
    for row in states:
        record(recorder, row)
    return recorded(recorder)


@given(STATES)
def test_what_is_recorded_is_played_back(states: np.ndarray) -> None:
    log = record_all(states)
    assert log.length == len(states)
    before = np.zeros(states.shape[1], np.uint32)
    assert len(log) == sum(
        int((row != last).sum())
        for row, last in zip(states, [before, *states], strict=False)
    )
    replay = init_replay(log, states.shape[1])
    out = np.full(states.shape[1], 99, np.uint32)
    for tick, row in enumerate(states):
        assert buttons_at(replay, tick, out=out) is out
        assert (out == row).all()


@given(STATES, st.lists(st.integers(0, 40), max_size=10))
def test_any_tick_in_any_order(states: np.ndarray, ticks: list[int]) -> None:
    log = record_all(states)
    replay = init_replay(log, states.shape[1])
    out = np.empty(states.shape[1], np.uint32)
    for tick in ticks:
        buttons_at(replay, tick, out=out)
        if len(states):
            assert (out == states[min(tick, len(states) - 1)]).all()
        else:
            assert not out.any()


@settings(max_examples=25)
@given(STATES)
def test_a_log_survives_its_file(
    tmp_path_factory: pytest.TempPathFactory, states: np.ndarray
) -> None:
    file = Path(tmp_path_factory.mktemp("log")) / "match.txt"
    log = record_all(states)
    write_log(file, log)
    again = read_log(file)
    for name in ("ticks", "who", "states"):
        assert (getattr(again, name) == getattr(log, name)).all()
    assert again.length == log.length


def test_a_log_for_more_characters() -> None:
    log = record_all(np.array([[1], [0]], np.uint32))
    out = np.empty(3, np.uint32)
    assert buttons_at(init_replay(log, 3), 0, out=out).tolist() == [1, 0, 0]


def test_recording_goes_on() -> None:
    recorder = init_recorder(1)
    record(recorder, np.array([32], np.uint32))
    first = recorded(recorder)
    record(recorder, np.array([0], np.uint32))
    assert (len(first), first.length) == (1, 1)
    assert recorded(recorder).ticks.tolist() == [0, 1]


def test_pressed_is_held_now_and_not_before() -> None:
    now = np.array([0b110, 0b001, ALL_BUTTONS], np.uint32)
    before = np.array([0b010, 0b011, 0], np.uint32)
    out = np.empty(3, np.uint32)
    assert find_pressed(now, before, out=out).tolist() == [0b100, 0, ALL_BUTTONS]
    assert find_pressed(now, before, out=before) is before
    assert before.tolist() == [0b100, 0, ALL_BUTTONS]


def test_what_is_refused() -> None:
    log = record_all(np.ones((1, 2), np.uint32))
    wrong: Any
    for wrong in (-1, 1.5, True, 2_000_000):
        with pytest.raises(SettingError, match=r"count: .*, expected 0 to 1,000,000"):
            init_recorder(wrong)
    with pytest.raises(SettingError, match="count: 1, expected 2 or more"):
        init_replay(log, 1)
    with pytest.raises(SettingError, match="log: str, expected an InputLog"):
        init_replay("log", 1)  # type: ignore[arg-type]
    replay, out = init_replay(log, 2), np.empty(2, np.uint32)
    for wrong in (-1, 0.5, 2**31):
        with pytest.raises(SettingError, match=r"tick: .*, expected 0 to"):
            buttons_at(replay, wrong, out=out)
    with pytest.raises(ShapeError, match=r"out: shape \(3,\), expected \(2,\)"):
        buttons_at(replay, 0, out=np.empty(3, np.uint32))
    with pytest.raises(ShapeError, match="states: int64, expected uint32"):
        record(init_recorder(2), np.zeros(2, np.int64))
    with pytest.raises(SettingError, match="states of character 1: 4096, expected"):
        record(init_recorder(2), np.array([0, 4096], np.uint32))
    with pytest.raises(ShapeError, match="before: shape"):
        find_pressed(out, np.zeros(3, np.uint32), out=np.zeros(2, np.uint32))
    with pytest.raises(ShapeError, match="out: is states"):
        find_pressed(out, np.zeros(2, np.uint32), out=out)
