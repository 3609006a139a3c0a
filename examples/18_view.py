# test: run
"""What stands before the camera: four ways to see through it, and ways to draw.

Writes out/view.png: pillar and wall without the rule and in each mode; a stage of flat
polygons with smooth heads and hands; polygons sorted by one point of each.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

import flexor
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.plan import Actor, CameraRule, StageLook, StagePlan
from flexor.scene.stage.structure import Structure

SIZE = (440, 300)
SKIN = ("head", "neck", "l-hand", "r-hand", "l-wrist", "r-wrist")

hero = {"mannequin": flexor.samples.mannequin()}
plan = StagePlan(
    cast=(
        Actor(name="red", place=(-0.8, 0), heading=np.pi / 2, colour=(1, 0.4, 0.3)),
        Actor(name="blue", place=(0.8, 0), heading=-np.pi / 2, colour=(0.3, 0.7, 2)),
    ),
    ground=shape_ground((30, 24), 0.5),
    camera=CameraRule(rule="fixed", eye=(0, 2.2, 7.5), target=(0, 0.9, 0)),
)
# One before the red one, one beside the view, and a wall that reaches out of it.
standing = (
    Structure(name="pillar", middle=(-0.6, 2.6), radius=0.3, high=2.6),
    Structure(name="other", middle=(3.4, 1.0), radius=0.3, high=2.6),
    Structure(name="wall", ends=((-0.2, 3.6), (6, 2.4)), thickness=0.25, high=1.3),
)
pictures, captions = [], []


def show(caption, own, ticks=30):
    stage = flexor.Stage(own, characters=hero)
    for _ in range(ticks):
        stage.step()
    pictures.append(stage.draw(SIZE).copy())
    captions.append(caption)


show("without the rule", replace(plan, structures=standing), ticks=0)
for mode in ("hide", "mesh", "lines", "fade"):
    show(mode, replace(plan, structures=[replace(s, mode=mode) for s in standing]))
near = CameraRule(rule="fixed", eye=(0.6, 1.7, 2.6), target=(0.1, 1.25, 0))
for caption, look in {
    "all smooth": StageLook(),
    "skin smooth, the rest flat": StageLook(smooth=SKIN),
    "all flat": StageLook(style="flat"),
    "sorted by one point": StageLook(order="sort"),
}.items():
    show(caption, replace(plan, look=look, camera=near))
Path("out").mkdir(exist_ok=True)
save_image("out/view.png", join_pictures(pictures, captions, columns=3))
print(f"wrote out/view.png: {len(pictures)} pictures")
