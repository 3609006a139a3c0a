"""A new pass is one file and one row: all that users see follows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import flexor
from flexor.api.character import Character
from tests.convert.shape.tubes import tube_scene

pytestmark = pytest.mark.slow  # starts Python on a copy of the package
SOURCE = Path(flexor.__file__).parent

NEW_FILE = '''"""Weights rounded to steps."""

import numpy as np

from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import merge_same


def coarse_pass(task: BodyTask, *, coarse: float) -> Mended:
    """Weights that are multiples of `coarse`."""
    task.note("rounding")
    pull = task.body.pull
    steps = np.rint(pull.weights / coarse) * coarse
    return Mended(merge_same(pull.joints, steps))
'''
NEW_ROW = """    coarse: Annotated[
        float,
        Setting(
            float,
            0.0,
            "Round weights to multiples of this.",
            bounds=Bounds(0, 1, "0 to 1"),
            option=Option("--coarse", low=0, high=1),
            word="coarse",
        ),
        Pass(
            "coarse",
            "weights",
            "flexor.convert.weights.coarse_weights:coarse_pass",
            told="to {coarse:g}",
        ),
    ]
"""
SCRIPT = """
import contextlib, inspect, io, json, sys
from pathlib import Path
import numpy as np
import flexor
from flexor.cli.repair_settings import read_settings
from flexor.cli.main import main
from flexor.errors import AssetError

def said(words):
    "What the command says, which ends well."
    sys.argv = ["flexor", *words]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as ended:
            assert not ended.code, ended.code
    return out.getvalue()

tube, settings = Path(sys.argv[1]), Path(sys.argv[2])
hero = flexor.load(tube)
better, report = flexor.repair(hero, coarse=0.5, has_measures=False)
weights = better.meshes[0].primitives[0].skin.weights
try:
    flexor.repair(hero, coarse=2)
except flexor.FlexorError as error:
    fault = str(error)
settings.write_text("coarse = 7")
try:
    read_settings(settings)
except AssetError as error:
    line = str(error)
settings.write_text("coarse = 0.5")
print(json.dumps({
    "keyword": str(inspect.signature(flexor.repair).parameters["coarse"]),
    "told": "coarse: Round weights to multiples of this." in flexor.repair.__doc__,
    "passes": report.passes,
    "weights": np.unique(weights).tolist(),
    "fault": fault,
    "line": line,
    "from file": read_settings(settings).passes(),
    "commands": [said(words) for words in json.loads(sys.argv[3])],
}))
"""


def run(folder: Path, *words: str | Path) -> str:
    """What Python says with the package in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pass_is_one_file_and_one_row(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    unseen = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tree / "flexor", ignore=unseen)
    convert = tree / "flexor" / "convert"
    (convert / "weights" / "coarse_weights.py").write_text(NEW_FILE, "utf-8")
    table = convert / "repair" / "passes.py"
    before, mark, after = table.read_text("utf-8").partition("    mirror: Annotated[")
    table.write_text(before + NEW_ROW + mark + after, "utf-8")
    tube, settings = tmp_path / "tube.glb", tmp_path / "settings.toml"
    flexor.save(Character(tube_scene(3)), tube)

    one, other, page = tmp_path / "1.glb", tmp_path / "2.glb", tmp_path / "out.html"
    commands = [
        ("repair", "--help"),
        ("repair", tube, "-o", one, "--coarse", "0.5"),
        ("repair", tube, "--settings", settings, "-o", other, "--report", page),
    ]
    words = json.dumps([[str(word) for word in command] for command in commands])
    told = json.loads(run(tree, "-c", SCRIPT, tube, settings, words))
    helped, by_option, by_file = told.pop("commands")
    assert told == {
        "keyword": "coarse: float = 0.0",
        "told": True,
        "passes": ["coarse"],
        "weights": [0, 0.5, 1],
        "fault": "coarse: 2, expected 0 to 1",
        "line": f"{settings} at line 1: coarse: 7, expected 0 to 1",
        "from file": ["coarse"],
    }
    shown = " ".join(helped.split())
    assert "--coarse <float range> [0<=x<=1] Round weights to multiples" in shown
    assert "tube.glb: coarse; " in by_option
    assert "tube.glb: coarse; " in by_file
    assert other.read_bytes() == one.read_bytes()
    assert "to 0.5" in page.read_text("utf-8")
