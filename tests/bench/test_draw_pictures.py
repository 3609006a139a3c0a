"""The bench compares like with like: ours and OpenGL draw the same picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from flexor.bench.draw_scene import assets, list_for_frame, make_scene
from flexor.bench.peers.process import PeerProcess
from flexor.draw.backend import open_backend
from flexor.draw.target import init_target
from flexor.errors import BackendMissing

pytestmark = pytest.mark.jit
SIZE, FRAMES = (320, 240), 8


@pytest.fixture(scope="module", params=["humanoid", "sphere"])
def peer(request: pytest.FixtureRequest) -> Iterator[tuple[str, PeerProcess]]:
    try:
        process = PeerProcess("llvmpipe", request.param, SIZE, FRAMES)
    except BackendMissing as error:
        pytest.skip(str(error))
    yield request.param, process
    process.close()


# Levels of 255 over the surface, and the share of pixels more than 4 levels apart: ours
# blends levels of detail only in the middle of the way. With 4 samples the edges differ
# too: samples stand elsewhere in a pixel.
@pytest.mark.parametrize(
    ("variant", "samples", "mean", "edges"), [("", 1, 3, 0.015), ("aa", 4, 5, 0.03)]
)
def test_same_picture_as_opengl(
    peer: tuple[str, PeerProcess],
    variant: str,
    samples: int,
    mean: float,
    edges: float,
    tmp_path: Path,
) -> None:
    kind, process = peer
    scene = make_scene(kind, FRAMES)
    backend = open_backend("raster")
    mesh, texture = assets(scene)
    numbers = backend.upload(mesh), backend.upload(texture)
    frame = 3
    target = init_target(SIZE, samples)
    ours = backend.draw(list_for_frame(scene, frame, *numbers), target).astype(int)
    backend.close()
    process.save_picture(variant, frame, tmp_path / "theirs.npy")
    theirs = np.load(tmp_path / "theirs.npy").astype(int)
    covered = (ours != ours[0, 0]).any(-1)
    far = np.abs(ours - theirs).max(-1)
    assert covered.mean() > 0.1
    assert (covered != (theirs != theirs[0, 0]).any(-1)).mean() < 2e-3
    assert far[covered].mean() < mean
    assert (far > 4).mean() < edges
