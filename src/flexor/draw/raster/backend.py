"""The rasteriser as a backend: keeps assets, lays out frames, runs the kernels."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, check_array
from flexor.draw.check import check_list
from flexor.draw.drawlist import DrawList, DrawMesh, DrawTexture
from flexor.draw.raster import layout as at
from flexor.draw.raster.assets import (
    KeptMesh,
    KeptTexture,
    encode_table,
    keep_texture,
)
from flexor.draw.raster.kernels import frame as kernel_frame
from flexor.draw.raster.room import Room
from flexor.draw.raster.tables import Tables, make_tables
from flexor.draw.target import Target, check_target
from flexor.errors import BackendError
from flexor.maths import threads

__all__ = ["RasterBackend", "open"]

_NO_FLOATS, _NO_INTS = np.zeros(0, np.float32), np.zeros(0, np.int32)


class RasterBackend:
    """Draws on the CPU, on all threads of the library.

    Several Python threads may draw at once; each picture has its own room to work in.
    """

    def __init__(self) -> None:
        self._meshes: list[KeptMesh] = []
        self._vertex_counts: list[int] = []
        self._textures: list[KeptTexture] = []
        self._texture_rows = np.zeros(at.TEXTURE_INTS, np.int64)
        self._rooms: list[Room] = []
        self._to_srgb = encode_table(int(kernel_frame.TOP) + 1)
        self._lock = Lock()
        self._is_closed = False

    def upload(self, asset: DrawMesh | DrawTexture) -> int:
        """Keep a mesh or a texture; gives its number."""
        self._check_open()
        if isinstance(asset, DrawMesh):
            mesh = KeptMesh(asset)
            with self._lock:
                self._meshes.append(mesh)
                self._vertex_counts.append(asset.vertex_count)
                return len(self._meshes) - 1
        texture = keep_texture(asset)
        with self._lock:
            self._textures.append(texture)
            self._texture_rows = np.concatenate([kept.row for kept in self._textures])
            return len(self._textures) - 1

    def draw(self, draw_list: DrawList, target: Target) -> NDArray[np.uint8]:
        """Draw into the arrays of `target`; gives its colour (H, W, 4)."""
        pixels, buffers = _check_target(target)
        with self._lock:
            self._check_open()
            meshes, textures = list(self._meshes), list(self._textures)
            rows, counts = self._texture_rows, list(self._vertex_counts)
            room = self._rooms.pop() if self._rooms else Room()
        try:
            check_list(draw_list, counts, len(textures))
            tables = make_tables(draw_list, target, meshes)
            target.skipped = _run(tables, rows, room, self._to_srgb, pixels, buffers)
        finally:
            with self._lock:
                self._rooms.append(room)
        return target.colour

    def close(self) -> None:
        """Let go of all assets."""
        with self._lock:
            self._is_closed = True
            self._meshes, self._textures, self._rooms = [], [], []

    def _check_open(self) -> None:
        if self._is_closed:
            raise BackendError("the backend is closed")


def _check_target(
    target: Target,
) -> tuple[NDArray[np.uint32], tuple[Floats, Floats, Ints, Floats]]:
    """The target's arrays as the kernels want them: flat, or without length."""
    width, height = target.size
    check_target(width, height, target.samples)
    check_array(target.colour, np.uint8, (height, width, 4), "target.colour")
    depth, normal, part, heat = _NO_FLOATS, _NO_FLOATS, _NO_INTS, _NO_FLOATS
    if target.depth is not None:
        check_array(target.depth, np.float32, (height, width), "target.depth")
        depth = target.depth.reshape(-1)
    if target.normal is not None:
        check_array(target.normal, np.float32, (height, width, 3), "target.normal")
        normal = target.normal.reshape(-1)
    if target.part is not None:
        check_array(target.part, np.int32, (height, width), "target.part")
        part = target.part.reshape(-1)
    if target.heat is not None:
        check_array(target.heat, np.float32, (height, width), "target.heat")
        heat = target.heat.reshape(-1)
    pixels = target.colour.reshape(-1).view(np.uint32)
    return pixels, (depth, normal, part, heat)


def _run(
    tables: Tables,
    textures: NDArray[np.int64],
    room: Room,
    to_srgb: NDArray[np.uint8],
    pixels: NDArray[np.uint32],
    buffers: tuple[Floats, Floats, Ints, Floats],
) -> int:
    """Draw a picture; gives how many faces were skipped."""
    team = threads.thread_count()
    scene = at.Scene(
        tables.view,
        tables.frame,
        tables.items,
        tables.looks,
        tables.lines,
        tables.widths,
        textures,
        tables.lights,
        tables.segments,
        tables.chunks,
        tables.order,
        tables.patterns,
        tables.ranks,
        tables.behind,
        to_srgb,
    )
    picture = at.Picture(pixels, *buffers)
    room.fit(tables, team)
    while _run_team(scene, room.arrays(), picture, team):
        room.grow(tables, team)
    return room.skipped(tables)


def _run_team(scene: at.Scene, space: at.Space, picture: at.Picture, team: int) -> bool:
    """Let all threads draw; gives whether there was too little room."""
    answers: list[int] = []

    def work() -> None:
        answers.append(kernel_frame.draw_frame(scene, space, picture))

    threads.run_team(work, team)
    return any(answers)


def open() -> RasterBackend:
    """A new rasteriser."""
    return RasterBackend()
