"""How long it takes to load a character: its own file beside its package."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

from flexor import samples
from flexor.api.load_save import load, save
from flexor.bench.timing import Result, best_seconds

__all__ = ["run"]


def run(paths: Mapping[str, Path]) -> Iterator[Result]:
    """The mannequin and the files given."""
    with as_file(files(samples).joinpath("mannequin.glb")) as path:
        yield from _measure("mannequin", path)
    for name, path in paths.items():
        yield from _measure(name, path)


def _measure(name: str, path: Path) -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "package.flexor"
        save(load(path), package)
        own, ours, scene = best_seconds(
            partial(load, path), partial(load, package), lambda: load(package).scene
        )
        size = package.stat().st_size
    kind = path.suffix.lower().removeprefix(".")
    note = f"flexor.load of {path.stat().st_size:,} bytes"
    yield Result(f"load/{kind}/{name}", own * 1e3, "ms", note)
    note = f"flexor.load of a package of {size:,} bytes, all of them checked"
    yield Result(f"load/package/{name}", ours * 1e3, "ms", note)
    note = "the same, and all that is in the scene made and checked, but for clips"
    yield Result(f"load/package/{name}/scene", scene * 1e3, "ms", note)
    note = "how many times as fast as the file itself"
    yield Result(f"load/package/{name}/ratio", own / ours, "times", note)
    yield Result(f"load/package/{name}/scene/ratio", own / scene, "times", note)
