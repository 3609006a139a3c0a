"""Modules by the names of version 0.1: the same objects, and a warning."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module

import pytest

import flexor
from flexor.moved import MOVED

GONE = [f"flexor.{old}" for old, new in MOVED.items() if new is not None]


@pytest.mark.parametrize("name", GONE)
def test_old_names_load_the_same_module(name: str) -> None:
    sys.modules.pop(name, None)
    new = f"flexor.{MOVED[name.partition('.')[2]]}"
    with pytest.warns(DeprecationWarning, match=rf"{name} is {new} now"):
        old = import_module(name)
    there = import_module(new)
    assert old is there
    assert there.__name__ == new
    assert there.__spec__ is not None
    assert there.__spec__.name == new


def test_a_room_that_was_a_module() -> None:
    from flexor.convert import levels
    from flexor.convert.levels.make import LevelSettings, make_levels

    with pytest.warns(DeprecationWarning, match=r"flexor\.convert\.levels\.make now"):
        assert levels.make_levels is make_levels
    with pytest.warns(DeprecationWarning, match="LevelSettings is in"):
        assert levels.LevelSettings is LevelSettings
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = levels.nonsense


def test_names_that_never_were() -> None:
    for name in ("flexor.nonsense", "flexor.app.nonsense", "flexor.scene.nonsense"):
        with pytest.raises(ModuleNotFoundError):
            import_module(name)


def test_pickles_of_old_programs_load() -> None:
    text = pickle.dumps(flexor.Camera, protocol=0)
    old = text.replace(b"flexor.scene.character.camera", b"flexor.scene.camera")
    assert old != text
    sys.modules.pop("flexor.scene.camera", None)
    with pytest.warns(DeprecationWarning, match=r"scene\.character\.camera now"):
        assert pickle.loads(old) is flexor.Camera


def test_a_program_of_version_0_1() -> None:
    """Both ways to import, in a process of its own, warnings shown once a module."""
    script = (
        "import flexor.draw.fit\n"
        "from flexor.draw.fit import direction_of\n"
        "from flexor.app.character import Character\n"
        "from flexor.scene.stage_plan import StagePlan\n"
        "import flexor\n"
        "assert Character is flexor.Character\n"
        "assert callable(direction_of) and callable(flexor.draw)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", script],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stderr.count("<string>:") == 3, done.stderr  # where it is imported
