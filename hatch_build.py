"""Names a wheel after its platform where it brings compiled kernels (`make wheel`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):  # type: ignore[misc]
    """Looks whether there are compiled kernels in the source."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Machine code fits one platform and one version of Python."""
        room = Path(self.root) / "src" / "flexor" / "maths" / "machine" / "prebuilt"
        if any(room.glob("*/*.kernels")):
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
