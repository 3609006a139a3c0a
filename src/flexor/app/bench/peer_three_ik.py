"""A peer of `flexor bench ik`: CCDIKSolver of three.js, run by node.

Needs node, and a folder that FLEXOR_NODE names in which npm's three is installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from flexor.app.bench.peer_ik import IkTask, Solved
from flexor.errors import BackendMissing

__all__ = ["solve_three"]

SCRIPT = Path(__file__).with_name("ccd_three.mjs")


def solve_three(task: IkTask, iterations: int, limit: float = 600.0) -> Solved:
    """Solve with a number of iterations; no tolerance, it ends early when none turns.

    limit: seconds after which the process is ended. Raises BackendMissing where there
    is no node or no three.js, or where it fails.
    """
    node = shutil.which("node")
    if node is None:
        raise BackendMissing("three.js: no node")
    folder = os.environ.get("FLEXOR_NODE")
    if folder is None or not (Path(folder) / "node_modules" / "three").is_dir():
        raise BackendMissing("three.js: FLEXOR_NODE names no folder with npm's three")
    given = {
        "lengths": task.lengths.tolist(),
        "starts": task.starts.tolist(),
        "targets": task.targets.tolist(),
        "iterations": iterations,
    }
    try:
        done = subprocess.run(
            [node, str(SCRIPT)],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "FLEXOR_NODE": str(Path(folder).absolute())},
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BackendMissing(f"three.js: more than {limit:g} seconds") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["its process ended"]
        told = next((line for line in said if "Error" in line), said[-1])
        raise BackendMissing(f"three.js: {told}")
    found = json.loads(done.stdout.splitlines()[-1])
    errors, seconds = (np.array(found[key], float) for key in ("errors", "seconds"))
    return Solved(errors, seconds, str(found["note"]))
