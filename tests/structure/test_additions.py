"""How little an addition touches.

A copy of the package gets one addition of each kind: the files below, and a row in a
table of a file that is there, where the design says so. Then they are used in another
process through the same functions and commands as everything else of their kind.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import flexor
from tests.gltf_builder import mini, write_glb

pytestmark = pytest.mark.jit  # a whole picture is drawn

Outcome = dict[str, Any]

# The additions: whole files, by where they go.
FORMAT = {
    "output/formats/ppm.py": '''
"""PPM: a picture without alpha or compression."""

from flexor.output.format import Format
from flexor.output.frames import flatten


def encode_ppm(pixels):
    height, width = pixels.shape[:2]
    return b"P6 %d %d 255\\n" % (width, height) + flatten(pixels)[..., :3].tobytes()


FORMAT = Format(endings=(".ppm",), encode=encode_ppm)
''',
}
EXTENSION = {
    "files/gltf/extensions/test_materials_glow.py": '''
"""TEST_materials_glow: a surface that glows, where a texture says."""

from flexor.files.gltf.extension import Extension, LookForm
from flexor.files.gltf.texture_refs import read_ref, ref_json


def read_glow(body, texture_count):
    ref = read_ref(body, "glowTexture", texture_count)
    return {"level": body.number("glowLevel", 1.0), "texture": ref}


def write_glow(values):
    return {"glowLevel": values["level"], "glowTexture": ref_json(values["texture"])}


EXTENSION = Extension(
    names=("TEST_materials_glow",), look=LookForm(read_glow, write_glow)
)
''',
}
BACKEND = {
    "draw/paint/__init__.py": '"""A backend of one colour."""\n',
    "draw/paint/backend.py": '''
"""Fills the picture with the light that the first surface gives off."""


class PaintBackend:
    def upload(self, asset):
        return 0

    def draw(self, draw_list, target):
        glow = draw_list.items[0].look.emissive
        target.colour[..., :3] = [255 * level for level in glow]
        target.colour[..., 3] = 255
        return target.colour

    def close(self):
        pass


open = PaintBackend
''',
}
SOLVER = {
    "pose/ik/point.py": '''
"""A root that turns so that its only bone points to a target."""

from dataclasses import dataclass

import numpy as np

from flexor.pose.ik.kernels import point as kernel_point
from flexor.pose.ik.reach import as_floats


@dataclass
class PointState:
    off: np.ndarray
    rows: np.ndarray
    bone: np.ndarray


def init_point(layout, root, tip, count):
    skeleton = layout.skeleton
    nodes = [skeleton.index(root), skeleton.index(tip)]
    rows = np.array([nodes[0], layout.lane_of_node[nodes[0]], layout.lane_count], "i4")
    return PointState(np.zeros(count, "f4"), rows, skeleton.translations[nodes[1]])


def solve_point(state, local, world, targets):
    count = len(state.off)
    at = as_floats(targets, (count, 3), "targets")
    matrices = world.matrices.reshape(count, -1)
    kernel_point.solve_point(state.rows, state.bone, matrices, at, state.off, local)
''',
    "pose/ik/kernels/point.py": '''
"""One bone to a target: the shortest turn from where it points at rest."""

import math

from flexor.maths.kernels.jit import jit


@jit("void(i4[::1], f4[::1], f4[:, ::1], f4[:, ::1], out f4[::1], out f4[:, ::1])")
def solve_point(rows, bone, matrices, targets, off, local):
    node, lane, lanes = rows[0], rows[1], rows[2]
    ax, ay, az = bone[0], bone[1], bone[2]
    length = math.sqrt(ax * ax + ay * ay + az * az)
    for n in range(len(off)):
        bx = targets[n, 0] - matrices[n, 12 * node + 3]
        by = targets[n, 1] - matrices[n, 12 * node + 7]
        bz = targets[n, 2] - matrices[n, 12 * node + 11]
        away = math.sqrt(bx * bx + by * by + bz * bz)
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        w = length * away + ax * bx + ay * by + az * bz
        size = math.sqrt(x * x + y * y + z * z + w * w)
        local[n, 3 * lanes + lane] = x / size
        local[n, 4 * lanes + lane] = y / size
        local[n, 5 * lanes + lane] = z / size
        local[n, 6 * lanes + lane] = w / size
        off[n] = abs(away - length)
''',
}
RULE = {
    "stage/movement/drift.py": '''
"""Everybody drifts along x."""


def drift(state):
    state.places[:, 0] += state.plan.drift.amount
''',
    # Where it can be set: the class of its settings, and a field of the plan for it.
    "scene/stage/drift.py": '''
"""How everybody drifts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DriftSettings:
    """amount: metres a tick."""

    amount: float = 0.01
''',
}
NEW = {**FORMAT, **EXTENSION, **BACKEND, **SOLVER, **RULE}
# What is put before a line of a file that is there; the line must stand there once.
ROWS = {
    "draw/scene/looks.py": (
        ("ALPHAS: dict", "from dataclasses import replace\n"),
        (
            "ALPHAS: dict",
            'EXTENSION_LOOKS["TEST_materials_glow"] = lambda look, values: replace(\n'
            '    look, emissive=(0.0, values["level"], 0.0)\n)\n',
        ),
    ),
    "scene/stage/plan.py": (
        (
            "from flexor.scene.stage.effect_settings import",
            "from flexor.scene.stage.drift import DriftSettings\n",
        ),
        (
            "    effects: EffectPlan = field(",
            "    drift: DriftSettings = field(default_factory=DriftSettings)\n",
        ),
    ),
    "stage/step.py": (
        (
            "from flexor.stage.movement.ground import",
            "from flexor.stage.movement.drift import drift\n",
        ),
        ('        ("standing",', '        ("drift", drift, has_any),\n'),
    ),
}

# Everything below is done by the copy.
USE = """
import json, sys
from pathlib import Path
import numpy as np
import flexor
from typer.testing import CliRunner
from flexor.api.solving import Solver
from flexor.cli.main import app
from flexor.errors import FlexorError
from flexor.output.image import save_image
from flexor.pose.ik.point import init_point, solve_point

out = {"package": flexor.__file__}

run = CliRunner().invoke(app, ["render", "mini.glb", "--time", "0", "-o", "still.ppm",
                               "--size", "32x24"])
out["render"] = [run.exit_code, Path("still.ppm").read_bytes()[:11].decode("latin-1")]
pixels = np.zeros((2, 3, 4), np.uint8)
pixels[..., 1:] = 255
save_image("plain.ppm", pixels)
out["plain"] = Path("plain.ppm").read_bytes().hex()
wrong = CliRunner().invoke(app, ["render", "mini.glb", "-o", "still.xyz"])
out["endings"] = wrong.output + str(wrong.exception)

hero = flexor.load("mini.glb")
flexor.save(hero, "again.glb")
flexor.save(hero, "again.flexor")
out["looks"] = {}
for name in ("mini.glb", "again.glb", "again.flexor"):
    own = flexor.load(name)
    look = own.scene.materials[0].looks["TEST_materials_glow"]
    drawer = flexor.Drawer(own, (4, 3), backend="paint")
    colour = drawer.draw(own.pose(), drawer.fit())[0, 0].tolist()
    out["looks"][name] = [look["level"], look["texture"].texture, colour]
try:
    flexor.load("wrong.glb")
except FlexorError as error:
    out["wrong"] = str(error)
try:
    flexor.Drawer(hero, (4, 3), backend="pencil")
except FlexorError as error:
    out["pencil"] = str(error)

point = Solver(hero, init_point(hero.layout, "hip", "knee", 1), solve_point)
posed = point.solve(hero.pose(), [[0.5, 1.0, 0.0]])
out["knee"] = posed.world[hero.skeleton.index("knee"), :, 3].tolist()
out["off"] = point.off.tolist()

out["places"] = []
for settings in ("", "[drift]\\namount = 0.02\\n"):
    Path("stage.toml").write_text(settings + '[[character]]\\nname = "red"\\n')
    stage = flexor.Stage("stage.toml")
    for _ in range(10):
        stage.step()
    out["places"].append(stage.places[0].tolist())
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What a copy of the package with all additions does."""
    folder = tmp_path_factory.mktemp("additions")
    source = Path(flexor.__file__).parent
    skipped = shutil.ignore_patterns("__pycache__")
    copy = Path(shutil.copytree(source, folder / "flexor", ignore=skipped))
    for name, text in NEW.items():
        assert not (copy / name).exists()
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(text.lstrip("\n"))
    for name, rows in ROWS.items():
        text = (copy / name).read_text()
        for before, row in rows:
            assert text.count(before) == 1, f"{name}: {before!r}"
            text = text.replace(before, row + before)
        (copy / name).write_text(text)
    for name, level in (("mini.glb", 0.4), ("wrong.glb", "much")):
        gltf, data = mini()
        body = {"glowLevel": level, "glowTexture": {"index": 0}}
        gltf["materials"][0]["extensions"] = {"TEST_materials_glow": body}
        write_glb(folder / name, gltf, data)
    done = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    told: Outcome = json.loads(done.stdout.splitlines()[-1])
    assert Path(told["package"]).parent == copy
    return told


def test_format_is_one_file(outcome: Outcome) -> None:
    assert outcome["render"] == [0, "P6 32 24 25"]
    assert outcome["plain"] == (b"P6 3 2 255\n" + b"\0\xff\xff" * 6).hex()
    assert "pictures are .png, .jpg, .jpeg, .webp, .ppm, movies" in " ".join(
        outcome["endings"].split()
    )


def test_extension_is_one_file_and_one_look(outcome: Outcome) -> None:
    read = [0.4, 0, [0, 102, 0, 255]]
    assert outcome["looks"] == dict.fromkeys(
        ("mini.glb", "again.glb", "again.flexor"), read
    )
    place = "/materials/0/extensions/TEST_materials_glow/glowLevel"
    assert place in outcome["wrong"]


def test_backend_is_one_folder(outcome: Outcome) -> None:
    # That it draws is seen in the looks above.
    there = "no backend 'pencil'; there are: paint, raster, record"
    assert there in outcome["pencil"]


def test_solver_is_one_file_and_its_kernel(outcome: Outcome) -> None:
    assert outcome["knee"] == pytest.approx([0.5, 1.0, 0.0], abs=1e-6)
    assert outcome["off"] == pytest.approx([0.0], abs=1e-6)


def test_rule_is_one_file_and_one_row(outcome: Outcome) -> None:
    assert outcome["places"][0] == pytest.approx([0.1, 0.0, 0.0])
    assert outcome["places"][1] == pytest.approx([0.2, 0.0, 0.0])
