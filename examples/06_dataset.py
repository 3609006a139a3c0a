# test: run
"""A data set: 500 pictures of random poses, with depth, mask and joints, as .npy."""

import math
import time
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

import flexor
from flexor.cli.progress import show_progress
from flexor.draw.scene.fit import direction_of
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image

COUNT, SIZE = 500, (96, 96)
out = Path("out/dataset")
out.mkdir(parents=True, exist_ok=True)

hero = flexor.samples.mannequin()
rng = np.random.default_rng(3)  # the same seed gives the same bytes
joints = len(hero.skeleton)


def room(name, shape, kind):
    """An array on disk: as large as the disk allows, not the memory."""
    return open_memmap(out / f"{name}.npy", "w+", kind, (COUNT, *shape))


image = room("image", (SIZE[1], SIZE[0], 3), np.uint8)
depth = room("depth", (SIZE[1], SIZE[0]), np.float16)  # metres, infinite: nothing there
part = room("part", (SIZE[1], SIZE[0]), np.int8)  # which primitive, -1: nothing there
spots = room("joints", (joints, 3), np.float32)  # pixels right, down; metres away

# What each picture shows: a moment of a clip, seen from anywhere around.
clips = rng.choice(list(hero.clips), COUNT)
moments = rng.random(COUNT)
around = rng.uniform(0, math.tau, COUNT)
above = rng.uniform(-0.1, 0.6, COUNT)

style = flexor.DrawStyle(shadow=False, buffers=("depth", "part"))
drawer = flexor.Drawer(hero, SIZE, style)
begin = time.perf_counter()
with show_progress("pictures", COUNT) as advance:
    for row in range(COUNT):
        clip = str(clips[row])
        pose = hero.pose(clip, moments[row] * hero.clips[clip].duration)
        camera = drawer.fit(pose, direction=direction_of(around[row], above[row]))
        image[row] = drawer.draw(pose, camera)[..., :3]
        depth[row] = drawer.target.depth
        part[row] = drawer.target.part
        spots[row] = camera.project(pose.world[:, :, 3], SIZE)
        advance()
took = time.perf_counter() - begin

for array in (image, depth, part, spots):
    array.flush()
    name = Path(array.filename).name
    print(f"{out / name}: {array.dtype} {array.shape}, {array.nbytes / 1e6:.1f} MB")
print(f"{COUNT} pictures in {took:.1f} s, {COUNT / took:.0f} a second")
print(f"the character covers {np.mean(part >= 0):.0%} of the pixels")

# A look at the first of them: pictures above, how near below.
seen = part[:8] >= 0
near, far = depth[:8][seen].min(), depth[:8][seen].max()
grey = np.where(seen, 255 - 200 * (depth[:8] - near) / (far - near), 0)
grey = np.repeat(grey[..., None], 4, axis=-1).astype(np.uint8)
grey[..., 3] = 255
colour = np.concatenate([image[:8], np.full_like(image[:8, ..., :1], 255)], -1)
save_image(out / "look.png", join_pictures([*colour, *grey], columns=8))
