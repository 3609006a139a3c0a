"""A peer of `flexor bench weights`: bounded biharmonic weights from libigl.

Jacobson, Baran, Popovic and Sorkine, "Bounded Biharmonic Weights for Real-Time
Deformation", 2011. They are solved for inside a closed surface, which TetGen fills with
tetrahedra whose corners also lie along the bones.

Both libraries print, and neither ends early when asked, so it runs in a process of its
own, which reads and writes .npz files and is ended when it takes too long.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.errors import BackendMissing
from flexor.maths.threads import thread_count

__all__ = ["BbwTask", "solve_bbw"]

# Of the active set: what libigl's own example takes. Its default, 100, takes up to five
# times as long and changes errors by about 1 % at most.
STEPS = 8
# TetGen: keep the surface as it is; sound and small tetrahedra, at most 5e-6 of the
# size cubed; be quiet. Chosen for the peer's sake, on eight characters: coarser ones
# ("pYq2Q") give errors 1.04 to 1.85 times as large in 0.2 to 1.4 times the time, finer
# ones ("pYq1.414a0.000001Q") 0.94 to 1.05 times as large in 1 to 9 times the time.
SWITCHES = "pYq1.414a0.000005Q"
INSIDE = 0.5  # turns of the surface around a point
SAME = 1e-6  # of the size: places no further apart are one


@dataclass(frozen=True, slots=True, eq=False)
class BbwTask:
    """A surface and the bones in it.

    positions: float64 (P, 3); faces: int32 (F, 3); bases, tips: float64 (B, 3).
    """

    positions: NDArray[np.float64]
    faces: Ints
    bases: NDArray[np.float64]
    tips: NDArray[np.float64]


def solve_bbw(task: BbwTask, limit: float) -> tuple[NDArray[np.float64], float, str]:
    """Weights (P, B) whose rows sum to 1, the seconds they took, which versions.

    limit: seconds after which the process is ended. Raises BackendMissing where the
    libraries are not installed, the surface is not closed, or it took too long.
    """
    _check_closed(task.faces)
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "task.npz", Path(folder) / "weights.npz"
        np.savez(
            given,
            positions=task.positions,
            faces=task.faces,
            bases=task.bases,
            tips=task.tips,
        )
        threads = {"IGL_NUM_THREADS": str(thread_count())}
        try:
            done = subprocess.run(
                [sys.executable, "-m", __spec__.name, str(given), str(made)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, **threads},
                cwd=folder,  # TetGen leaves files behind when it fails
                timeout=limit,
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BackendMissing(f"bbw: more than {limit:g} seconds") from None
        if done.returncode or not made.exists():
            said = done.stderr.strip().splitlines() or ["its process ended"]
            raise BackendMissing(f"bbw: {said[-1].removeprefix('bbw: ')}")
        with np.load(made) as file:
            return file["weights"], float(file["seconds"]), str(file["note"])


def _check_closed(faces: Ints) -> None:
    """Refuse a surface whose triangles do not share every side with one other."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    _, counts = np.unique(np.sort(sides, axis=1), axis=0, return_counts=True)
    if not len(faces) or (counts != 2).any():
        raise BackendMissing("bbw: the surface is not closed")


def _solve(task: BbwTask) -> NDArray[np.float64]:
    """The weights (P, B), by libigl and TetGen."""
    import igl
    import tetgen

    # In units of its size: the libraries have absolute tolerances.
    size = float(np.ptp(task.positions, axis=0).max())
    positions, bases, tips = (
        part / size for part in (task.positions, task.bases, task.tips)
    )
    faces = task.faces.astype(np.int64)
    sides = positions[faces[:, 0]] - positions[faces[:, 1]]
    step = float(np.median(np.linalg.norm(sides, axis=1)))
    samples, bones = _sample(bases, tips, step)
    turns = igl.fast_winding_number(positions, faces, samples)
    is_inside = np.abs(turns) > INSIDE
    places, at = _merge(samples[is_inside])
    bones = bones[is_inside]
    given = np.concatenate([positions, places])
    filled = tetgen.TetGen(given, task.faces)
    nodes, tetrahedra = filled.tetrahedralize(switches=SWITCHES)[:2]
    # It keeps what it is given, in order, before what it adds; but not what is double.
    if not np.allclose(nodes[: len(given)], given, rtol=0, atol=SAME):
        raise BackendMissing("TetGen left out points")
    fixed = np.arange(len(positions), len(positions) + len(places))
    values = np.zeros((len(places), len(bases)))
    values[at, bones] = 1
    values /= values.sum(1, keepdims=True)
    used = np.flatnonzero(values.any(0))
    solved = igl.bbw(
        nodes, tetrahedra.astype(np.int64), fixed, values[:, used], max_iter=STEPS
    )
    weights = np.zeros((len(positions), len(bases)))
    weights[:, used] = np.maximum(solved[: len(positions)], 0)
    sums: NDArray[np.float64] = weights.sum(1, keepdims=True)
    if not (sums > 0).all():  # or not a number
        raise BackendMissing("there are points without weights")
    return weights / sums


def _sample(
    bases: NDArray[np.float64], tips: NDArray[np.float64], step: float
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Places along all bones, at most `step` apart, (N, 3), and whose each is, (N,)."""
    counts = np.ceil(np.linalg.norm(tips - bases, axis=1) / step).astype(int) + 1
    along = [np.linspace(0, 1, count)[:, None] for count in counts]
    places = [a + (b - a) * t for a, b, t in zip(bases, tips, along, strict=True)]
    return np.concatenate(places), np.repeat(np.arange(len(bases)), counts)


def _merge(
    places: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Places (N, 3) that differ, and for each of those given its row among them."""
    rounded = np.rint(places / SAME).astype(np.int64)
    _, first, at = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    return places[first], at.reshape(-1)


def _main(given: str, made: str) -> None:
    try:
        import igl  # noqa: F401
        import tetgen  # noqa: F401
    except ImportError:
        sys.exit("needs libigl and tetgen (pip install libigl tetgen)")
    with np.load(given) as file:
        task = BbwTask(file["positions"], file["faces"], file["bases"], file["tips"])
    started = perf_counter()
    try:
        weights = _solve(task)
    except (BackendMissing, RuntimeError) as error:  # what both libraries raise
        sys.exit(str(error))
    seconds = perf_counter() - started
    note = f"libigl {version('libigl')}, tetgen {version('tetgen')}"
    np.savez(made, weights=weights, seconds=seconds, note=note)


if __name__ == "__main__":
    _main(*sys.argv[1:])
