# test: run
"""Two characters in one picture, each at its own place, with one depth buffer."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

import flexor
from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawList
from flexor.draw.items.grid import ground_grid
from flexor.draw.scene.build import build_items, dress_scene
from flexor.draw.scene.fit import fit_camera
from flexor.draw.scene.lighting import lights_of
from flexor.draw.scene.upload import upload_scene
from flexor.draw.target import init_target
from flexor.output.image import save_image

SIZE = (640, 400)


def place(x, z, turn, scale=1.0):
    """world_from_character (3, 4): where it stands, and which way it looks."""
    c, s = math.cos(turn) * scale, math.sin(turn) * scale
    return np.array([(c, 0, s, x), (0, scale, 0, 0), (-s, 0, c, z)], np.float32)


# Any two characters: of each the clip, where it stands, and how it is drawn.
quarter = math.pi / 2
cast = [
    (flexor.samples.mannequin(), "kick", place(-0.6, 0, quarter), "shaded"),
    (flexor.samples.mannequin(), "run", place(0.7, 0.2, -quarter, 0.8), "cel"),
]

# Once: both are uploaded to the same backend, so that one draw list can name them.
backend = open_backend()
dresses = []
for hero, _, _, style in cast:
    assets, findings = upload_scene(backend, hero.scene)
    assert not findings
    looks = flexor.DrawStyle(style=style).for_height(SIZE[1])
    dresses.append(dress_scene(assets, looks))
target = init_target(SIZE, samples=4, buffers=("depth", "part"))
shared = flexor.DrawStyle(ground=True)
camera = None


def draw(moment):
    """Both at a moment, in seconds; `target` holds the picture until the next."""
    global camera
    items, lines, points, first = [], [], [], 0
    for (hero, clip, where, _), dress in zip(cast, dresses, strict=True):
        pose = hero.pose(clip, moment % hero.clips[clip].duration).moved(where)
        skins = hero.deform(pose)
        positions = [skin.positions for skin in skins]
        normals = [skin.normals for skin in skins]
        surfaces, threads = build_items(dress, positions, normals, pose.world)
        # Parts are numbered on, so that the buffer tells the characters apart.
        items += [replace(one, part=first + one.part) for one in surfaces]
        lines += [replace(one, part=first + one.part) for one in threads]
        first += len(dress.parts)
        points += positions
    if camera is None:  # fitted to the first picture, and kept
        camera = fit_camera(np.concatenate(points), SIZE, margin=0.12)
    lines.append(ground_grid(camera.target, 2.0))  # it is in no buffer
    lights = lights_of(shared, camera)
    return backend.draw(DrawList(camera, items, lines, lights, shared.paper), target)


Path("out").mkdir(exist_ok=True)
save_image("out/two.png", draw(0.35))
print("wrote out/two.png: 640 x 400")
for part, name in enumerate(["the kicker", "the runner"]):
    seen = target.part == part
    print(f"{name}: {seen.sum()} pixels, from {target.depth[seen].min():.2f} m away")
backend.close()
