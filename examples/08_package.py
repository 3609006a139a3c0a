# test: run
"""A package loads at once, and brings the character with one weight a vertex.

Writes out/hero.flexor, and out/weights.png: near and far, with all weights and one.
"""

import time
from pathlib import Path

import numpy as np

import flexor
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image

out = Path("out")
out.mkdir(exist_ok=True)

hero = flexor.samples.mannequin()
flexor.save(hero, out / "hero.glb")
flexor.save(hero, out / "hero.flexor")  # as: flexor convert hero.glb -o hero.flexor


def load_time(path):
    """Milliseconds to load a file, the best of ten."""
    seconds = []
    for _ in range(10):
        started = time.perf_counter()
        flexor.load(path)
        seconds.append(time.perf_counter() - started)
    return min(seconds) * 1e3


for name in ("hero.glb", "hero.flexor"):
    size = (out / name).stat().st_size
    print(f"{name}: {size / 1e6:.2f} MB, loads in {load_time(out / name):.2f} ms")

hero = flexor.load(out / "hero.flexor")
for name, envelope in (
    ("all weights", hero.envelopes.multi),
    ("one", hero.envelopes.one),
):
    print(f"{name}: {len(envelope.parts)} parts, {envelope.peak} vertices wait at most")

# How far apart the two are, in millimetres.
pose = hero.pose("kick", 0.45)
both = [hero.deform(pose, weights=kind)[0].positions for kind in ("multi", "one")]
apart = np.linalg.norm(both[0] - both[1], axis=1) * 1000
print(f"one weight moves vertices by {apart.mean():.1f} mm, at most {apart.max():.0f}")

# Near, one weight shows at hip and shoulder; from far away nobody sees it. A rule
# chooses for each picture, and does not flicker at its border.
rule = flexor.WeightRule(small=90)  # pixels
near = flexor.Drawer(hero, (300, 360)).fit(pose)
far = flexor.Camera(eye=(0, 1.2, 13), target=(0, 1, 0))
pictures, captions = [], []
for place, camera in (("near", near), ("far", far)):
    for kind in ("multi", "one", rule):
        drawer = flexor.Drawer(hero, (300, 360), weights=kind)
        pictures.append(drawer.draw(pose, camera).copy())
        captions.append(f"{place}, {'by the rule' if kind is rule else kind}")
save_image(out / "weights.png", join_pictures(pictures, captions, columns=3))
print(f"wrote {out / 'weights.png'}")
