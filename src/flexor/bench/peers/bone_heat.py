"""A peer of `flexor bench weights`: bone heat as Blender does it.

Baran and Popovic, "Automatic Rigging and Animation of 3D Characters", 2007. Blender as
a library (PyPI's bpy) pins versions of its own, so it runs by another Python that has
it, which FLEXOR_BPY names; else by this one. That process reads and writes .npz files
and is ended when it takes too long.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.errors import BackendMissing

__all__ = ["HeatTask", "solve_bone_heat"]

SIZE = 2.0  # metres: of the body as Blender sees it, whose tolerances are absolute
SHORT = 1e-3  # of the size: Blender drops bones of no length
SOURCE = Path(__file__).resolve().parents[3]  # the folder that the package lies in


@dataclass(frozen=True, slots=True, eq=False)
class HeatTask:
    """A surface and the bones in it.

    positions: float64 (P, 3); faces: int32 (F, 3); bases, tips: float64 (B, 3).
    """

    positions: NDArray[np.float64]
    faces: Ints
    bases: NDArray[np.float64]
    tips: NDArray[np.float64]


def solve_bone_heat(
    task: HeatTask, limit: float
) -> tuple[NDArray[np.float64], float, str]:
    """Weights (P, B) whose rows sum to 1, the seconds they took, which version.

    limit: seconds after which the process is ended. Points that it leaves without
    weights take the nearest bone; the note says how many. Raises BackendMissing where
    there is no bpy, it found no weights at all, or it took too long.
    """
    python = os.environ.get("FLEXOR_BPY") or sys.executable
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "task.npz", Path(folder) / "weights.npz"
        np.savez(
            given,
            positions=task.positions,
            faces=task.faces,
            bases=task.bases,
            tips=task.tips,
        )
        try:
            done = subprocess.run(
                [python, "-m", __spec__.name, str(given), str(made)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": str(SOURCE)},
                cwd=folder,
                timeout=limit,
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BackendMissing(f"heat: more than {limit:g} seconds") from None
        except OSError as error:
            raise BackendMissing(f"heat: {python}: {error.strerror}") from None
        if done.returncode or not made.exists():
            said = done.stderr.strip().splitlines() or ["its process ended"]
            raise BackendMissing(f"heat: {said[-1].removeprefix('heat: ')}")
        with np.load(made) as file:
            weights, seconds, note = file["weights"], file["seconds"], file["note"]
    sums = weights.sum(1)
    lost = sums <= 0
    if lost.all():
        raise BackendMissing("heat: Blender found no weights")
    weights[lost] = np.eye(len(task.bases))[_nearest(task, lost)]
    weights /= weights.sum(1, keepdims=True)
    told = f", {np.count_nonzero(lost)} points without weights" if lost.any() else ""
    return weights, float(seconds), f"{note}{told}"


def _nearest(task: HeatTask, rows: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The nearest bone of some points."""
    points = task.positions[rows][:, None]
    axes = task.tips - task.bases
    squares = np.maximum((axes * axes).sum(1), 1e-30)
    along = ((points - task.bases) * axes).sum(2) / squares
    places = task.bases + np.clip(along, 0, 1)[:, :, None] * axes
    nearest: NDArray[np.intp] = np.linalg.norm(points - places, axis=2).argmin(1)
    return nearest


def _solve(task: HeatTask) -> tuple[NDArray[np.float64], float]:
    """Weights (P, B) by Blender, 0 where it found none, and the seconds they took."""
    import bpy

    scale = SIZE / float(np.ptp(task.positions, axis=0).max())
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mesh = bpy.data.meshes.new("body")
    mesh.from_pydata((scale * task.positions).tolist(), [], task.faces.tolist())
    body = bpy.data.objects.new("body", mesh)
    armature = bpy.data.armatures.new("bones")
    rig = bpy.data.objects.new("bones", armature)
    for made in (body, rig):
        bpy.context.collection.objects.link(made)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for row, (base, tip) in enumerate(zip(task.bases, task.tips, strict=True)):
        bone = armature.edit_bones.new(f"bone{row}")
        head, tail = scale * base, scale * tip
        if np.linalg.norm(tail - head) < SHORT * SIZE:
            tail = head + np.array([0, 0, SHORT * SIZE])
        bone.head, bone.tail = head.tolist(), tail.tolist()
    bpy.ops.object.mode_set(mode="OBJECT")
    body.select_set(True)
    rig.select_set(True)
    started = perf_counter()
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    seconds = perf_counter() - started
    weights = np.zeros((len(task.positions), len(task.bases)))
    rows = [int(group.name.removeprefix("bone")) for group in body.vertex_groups]
    for point in mesh.vertices:
        for tie in point.groups:
            weights[point.index, rows[tie.group]] = tie.weight
    return weights, seconds


def _main(given: str, made: str) -> None:
    try:
        import bpy
    except ImportError:
        sys.exit("needs bpy: FLEXOR_BPY names a Python that has it (pip install bpy)")
    with np.load(given) as file:
        task = HeatTask(file["positions"], file["faces"], file["bases"], file["tips"])
    weights, seconds = _solve(task)
    note = f"Blender {bpy.app.version_string}"
    np.savez(made, weights=weights, seconds=seconds, note=note)


if __name__ == "__main__":
    _main(*sys.argv[1:])
