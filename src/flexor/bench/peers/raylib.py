"""A peer of `flexor bench draw`: raylib with its software renderer, one thread.

It has no light, so the light of each vertex is computed with NumPy and handed over as a
colour; no mipmaps, no sRGB and no samples, so it does less than our own backend.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.bench.draw_scene import (
    AMBIENT,
    BACKGROUND,
    CAMERA,
    DIFFUSE,
    FAR,
    TO_LIGHT,
    DrawScene,
)
from flexor.errors import BackendMissing

__all__ = ["Raylib"]

RGBA8 = 7  # PIXELFORMAT_UNCOMPRESSED_R8G8B8A8


class Raylib:
    """Draws one scene at one size; once in a process, for raylib has one window.

    note: which version it is. Raises BackendMissing where it is not installed.
    """

    variants = ("",)

    def __init__(self, scene: DrawScene, size: tuple[int, int]) -> None:
        os.environ["SDL_VIDEODRIVER"] = "dummy"  # a window that is not shown
        try:
            import raylib
        except ImportError:
            text = "needs raylib_software (pip install 'flexor[bench]')"
            raise BackendMissing(f"raylib: {text}") from None
        if len(scene.texcoords) > 0xFFFF:
            raise BackendMissing("raylib: draws 65,535 vertices at most")
        self._rl, self._size, self._scene = raylib, size, scene
        raylib.SetTraceLogLevel(raylib.LOG_NONE)
        raylib.InitWindow(*size, b"flexor bench")
        if raylib.rlGetVersion() != raylib.RL_OPENGL_SOFTWARE:
            raise BackendMissing("raylib: drawn by OpenGL, needs raylib_software")
        self.note = f"raylib_software {raylib.__version__}"
        raylib.rlSetClipPlanes(CAMERA.near, FAR)
        self._make_mesh()
        self._make_material()
        self._camera = raylib.ffi.new("Camera3D *")[0]
        self._camera.position = CAMERA.eye
        self._camera.target = CAMERA.target
        self._camera.up = CAMERA.up
        self._camera.fovy = math.degrees(CAMERA.fov)

    def draw(self, variant: str, frame: int) -> NDArray[np.uint8]:
        """The picture (H, W, 4) of a frame, blue first; overwritten by the next."""
        rl, scene = self._rl, self._scene
        row = frame % len(scene.positions)
        self._positions[:] = scene.positions[row]
        facing = scene.normals[row] @ np.array(TO_LIGHT, np.float32)
        light = AMBIENT + DIFFUSE * np.maximum(facing, 0)
        self._colours[:, :3] = np.minimum(light * 255, 255)[:, None]
        rl.BeginDrawing()
        rl.ClearBackground(BACKGROUND)
        rl.BeginMode3D(self._camera)
        rl.DrawMesh(self._mesh, self._material, rl.MatrixIdentity())
        rl.EndMode3D()
        # EndDrawing would only show the window, so it is left out.
        self._pixels = rl.ffi.gc(rl.rlReadScreenPixels(*self._size), rl.MemFree)
        width, height = self._size
        buffer = rl.ffi.buffer(self._pixels, width * height * 4)
        return np.frombuffer(buffer, np.uint8).reshape(height, width, 4)[::-1]

    def _make_mesh(self) -> None:
        """A mesh that reads our arrays: raylib makes no copies of them here."""
        scene, ffi = self._scene, self._rl.ffi
        self._positions = scene.positions[0].copy()
        self._texcoords = scene.texcoords.copy()
        self._colours = np.full((len(self._positions), 4), 255, np.uint8)
        self._corners = scene.faces.astype(np.uint16)
        self._mesh = ffi.new("Mesh *")[0]
        self._mesh.vertexCount = len(self._positions)
        self._mesh.triangleCount = len(self._corners)
        self._mesh.vertices = _pointer(ffi, "float *", self._positions)
        self._mesh.texcoords = _pointer(ffi, "float *", self._texcoords)
        self._mesh.colors = _pointer(ffi, "unsigned char *", self._colours)
        self._mesh.indices = _pointer(ffi, "unsigned short *", self._corners)

    def _make_material(self) -> None:
        rl, texture = self._rl, self._scene.texture.copy()
        image = rl.ffi.new("Image *")[0]
        image.data = _pointer(rl.ffi, "void *", texture)
        image.height, image.width, _ = texture.shape
        image.mipmaps, image.format = 1, RGBA8
        uploaded = rl.LoadTextureFromImage(image)
        rl.SetTextureFilter(uploaded, rl.TEXTURE_FILTER_BILINEAR)
        material = rl.ffi.new("Material *", rl.LoadMaterialDefault())
        rl.SetMaterialTexture(material, rl.MATERIAL_MAP_ALBEDO, uploaded)
        self._material = material[0]


def _pointer(ffi: Any, kind: str, array: NDArray[Any]) -> Any:
    return ffi.cast(kind, array.ctypes.data)
