"""A peer of `flexor bench draw`: moderngl on Mesa's llvmpipe, OpenGL on the CPU.

It does what our own backend does: each frame uploads new positions and normals, lights
each vertex, and reads the picture back into an array. The plain variants leave out what
OpenGL does not do unless asked: sRGB textures and pictures, and mipmaps.

Tried without a difference beyond the noise: 2-byte indices, a new buffer for each
upload, renderbuffers in place of textures.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.bench.draw_scene import (
    AMBIENT,
    BACKGROUND,
    DIFFUSE,
    TO_LIGHT,
    DrawScene,
    clip_from_world,
)
from flexor.errors import BackendMissing
from flexor.maths.colour import linear_from_srgb

__all__ = ["Llvmpipe"]

PACKAGES = (
    "Mesa's software OpenGL (Debian, Ubuntu: apt-get install libegl1 libgl1 "
    "libgl1-mesa-dri) and moderngl (pip install 'flexor[bench]')"
)
SRGB8_ALPHA8, FRAMEBUFFER_SRGB = 0x8C43, 0x8DB9

VERTEX = """#version 330
uniform mat4 clip_from_world;
uniform vec3 to_light;
uniform vec2 light;
in vec3 position;
in vec3 normal;
in vec2 texcoord;
out vec2 place;
out float bright;
void main() {
    gl_Position = clip_from_world * vec4(position, 1.0);
    place = texcoord;
    bright = light.x + light.y * max(dot(normal, to_light), 0.0);
}
"""
FRAGMENT = """#version 330
uniform sampler2D picture;
in vec2 place;
in float bright;
out vec4 colour;
void main() { colour = vec4(texture(picture, place).rgb * bright, 1.0); }
"""


class Llvmpipe:
    """Draws one scene at one size.

    note: which renderer it is. Raises BackendMissing where there is none.
    """

    variants = ("", "aa", "plain", "aa/plain")

    def __init__(self, scene: DrawScene, size: tuple[int, int]) -> None:
        if sys.platform != "linux":
            raise BackendMissing("llvmpipe: only looked for on Linux")
        try:
            import moderngl
        except ImportError:
            raise BackendMissing(f"llvmpipe: needs {PACKAGES}") from None
        try:
            self._context = moderngl.create_standalone_context(backend="egl")
        except Exception as error:  # a plain Exception is what it raises
            raise BackendMissing(f"llvmpipe: {error}; needs {PACKAGES}") from None
        name = self._context.info["GL_RENDERER"]
        if not name.startswith("llvmpipe"):
            raise BackendMissing(f"llvmpipe: OpenGL is {name!r}; needs {PACKAGES}")
        driver = self._context.info["GL_VERSION"].partition("Mesa")[2].strip()
        self.note = f"{name}, Mesa {driver}, moderngl {moderngl.__version__}"
        self._gl, self._size = moderngl, size
        self._vertices = np.concatenate([scene.positions, scene.normals], -1)
        self._picture = np.empty((size[1], size[0], 4), np.uint8)
        self._make_buffers(scene)
        self._textures = {has: self._make_texture(scene, has) for has in (True, False)}
        self._targets = {name: self._make_targets(name) for name in self.variants}

    def draw(self, variant: str, frame: int) -> NDArray[np.uint8]:
        """The picture (H, W, 4) of a frame, top row first; overwritten by the next."""
        context, is_full = self._context, "plain" not in variant
        target, resolved = self._targets[variant]
        target.use()
        context.enable_only(self._gl.DEPTH_TEST | self._gl.CULL_FACE)
        if is_full:
            context.enable_direct(FRAMEBUFFER_SRGB)
        else:
            context.disable_direct(FRAMEBUFFER_SRGB)
        target.clear(*_clear_colour(is_full))
        self._moving.write(self._vertices[frame % len(self._vertices)])
        self._textures[is_full].use(0)
        self._surface.render()
        if resolved is not target:
            context.copy_framebuffer(resolved, target)
        resolved.read_into(self._picture, components=4)
        return self._picture[::-1]

    def _make_buffers(self, scene: DrawScene) -> None:
        context = self._context
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        program["clip_from_world"].write(clip_from_world(self._size).T.tobytes())
        program["to_light"].value = TO_LIGHT
        program["light"].value = (AMBIENT, DIFFUSE)
        size = self._vertices[0].nbytes
        self._moving = context.buffer(reserve=size, dynamic=True)
        buffers = [
            (self._moving, "3f 3f", "position", "normal"),
            (context.buffer(scene.texcoords.tobytes()), "2f", "texcoord"),
        ]
        faces = context.buffer(scene.faces.tobytes())
        self._surface = context.vertex_array(program, buffers, faces)

    def _make_texture(self, scene: DrawScene, is_full: bool) -> Any:
        height, width, _ = scene.texture.shape
        kind = SRGB8_ALPHA8 if is_full else None
        texture = self._context.texture(
            (width, height), 4, scene.texture.tobytes(), internal_format=kind
        )
        if is_full:
            texture.build_mipmaps()
        far = self._gl.LINEAR_MIPMAP_LINEAR if is_full else self._gl.LINEAR
        texture.filter = (far, self._gl.LINEAR)
        return texture

    def _make_targets(self, variant: str) -> tuple[Any, Any]:
        """Where it is drawn and where it is read; one and the same without samples."""
        context, size = self._context, self._size
        kind = None if "plain" in variant else SRGB8_ALPHA8
        samples = 4 if variant.startswith("aa") else 0
        colour = context.texture(size, 4, samples=samples, internal_format=kind)
        depth = context.depth_renderbuffer(size, samples=samples)
        target = context.framebuffer([colour], depth)
        if not samples:
            return target, target
        colour = context.texture(size, 4, internal_format=kind)
        return target, context.framebuffer([colour])


def _clear_colour(is_linear: bool) -> tuple[float, ...]:
    """The background; linear where OpenGL turns it into sRGB."""
    levels = np.array(BACKGROUND) / 255
    if is_linear:
        levels[:3] = linear_from_srgb(BACKGROUND[:3])
    return tuple(float(level) for level in levels)
