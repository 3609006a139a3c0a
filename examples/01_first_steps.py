# test: run
"""Load the built-in mannequin, pose it, deform its skin, write a posed file."""

from pathlib import Path

import numpy as np

import flexor
from flexor.cli.inspect import print_report
from flexor.convert.report import report_scene

out = Path("out")
out.mkdir(exist_ok=True)

hero = flexor.samples.mannequin()
pose = hero.pose("walk", 0.4)
skin = hero.deform(pose)

points = np.concatenate([part.positions for part in skin])
low, high = points.min(axis=0), points.max(axis=0)
print("mannequin at 0.4 s of 'walk':")
print(f"  {len(points):,} vertices from {low.round(3)} to {high.round(3)} m")
head = hero.skeleton.index("head")
print(f"  the head is at {pose.world[head, :, 3].round(3)} m")

times = np.linspace(0, hero.clips["walk"].duration, 100)
many = hero.deform_many(hero.pose_many("walk", times))
print(f"  100 poses at once: {many[0].positions.shape} positions")

path = out / "mannequin_walking.glb"
flexor.save(hero.posed(pose), path)
print(f"\nwrote {path}, which any glTF viewer shows in this pose:\n")
print_report(path.name, path.stat().st_size, report_scene(flexor.load(path).scene))
