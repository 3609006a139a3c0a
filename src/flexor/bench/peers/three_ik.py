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

from flexor.arrays import Doubles
from flexor.errors import BackendError

__all__ = ["solve_three"]

SCRIPT = Path(__file__).with_name("ccd_three.mjs")


def solve_three(
    lengths: Doubles,
    starts: Doubles,
    targets: Doubles,
    iterations: int,
    limit: float = 600.0,
) -> tuple[Doubles, float] | None:
    """Metres (N,) from the ends of chains to their targets, and seconds a solve.

    lengths: (B,), metres: bones with ball joints, along X, each begins where the one
    before it ends; starts: (N, B, 4), local rotations to begin with; targets: (N, 3),
    metres from where the chain begins; iterations: at most, it has no tolerance; limit:
    seconds after which the process is ended. The time is the median of the N solves,
    after one round to be compiled. None where there is no node or no three.js;
    BackendError where they fail.
    """
    node = shutil.which("node")
    folder = os.environ.get("FLEXOR_NODE")
    if node is None or folder is None:
        return None
    if not (Path(folder) / "node_modules" / "three").is_dir():
        return None
    given = {
        "lengths": np.asarray(lengths).tolist(),
        "starts": np.asarray(starts).tolist(),
        "targets": np.asarray(targets).tolist(),
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
        raise BackendError(f"three.js: more than {limit:g} seconds") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["its process ended"]
        told = next((line for line in said if "Error" in line), said[-1])
        raise BackendError(f"three.js: {told}")
    found = json.loads(done.stdout.splitlines()[-1])
    return np.array(found["errors"], float), float(np.median(found["seconds"]))
