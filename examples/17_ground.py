# test: run
"""Uneven ground: shadows that go down steps, feet that stand on them, slopes that pull.

Writes out/ground.png: above without the rules, below with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

import flexor
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, CameraRule, StageLook, StagePlan

SIZE = (440, 330)
EYES = {  # where the cameras are, and where they look
    "stairs": CameraRule(rule="fixed", eye=(5.0, 3.0, -4.1), target=(0, 1.0, -2.6)),
    "hill": CameraRule(rule="fixed", eye=(1.8, 0.9, 0.7), target=(0, 0.35, -1.6)),
    "podium": CameraRule(rule="fixed", eye=(0, 1.5, 3.2), target=(0.1, 1, 0)),
    "slope": CameraRule(rule="fixed", eye=(5.5, 2.0, 1.5), target=(0, 1.1, -1.2)),
}
STEPS = [Patch(area=(-6, n / 2 - 5, 6, 6), height=0.18 * n) for n in range(1, 7)]
MOVES = MoveTable((Move("punch", 17, 5, 32, parts=("rightHand",)),), (), {"B": "punch"})

hero = {"mannequin": flexor.samples.mannequin()}
rows, captions = [[], []], []


def show(plan, ticks, buttons, caption):  # two of them, one above the other
    for row, own in zip(rows, plan, strict=True):
        stage = flexor.Stage(own, characters=hero)
        for tick in range(ticks):
            stage.step(buttons(tick) if buttons else None)
        row.append(stage.draw(SIZE).copy())
    captions.append(caption)
    return stage


# A shadow on steps: on level ground it is whole, on steps it is torn as light tears it.
stairs = shape_ground((12, 12), 0.25, STEPS)
alone = Actor(name="one", place=(0, -1.6), heading=0.4, opponent="none")
plan = StagePlan(
    cast=(alone,),
    ground=shape_ground((12, 12), 0.25),
    light=(0.1, -0.6, -0.8),
    camera=EYES["stairs"],
)
show((plan, replace(plan, ground=stairs)), 30, None, "shadow: level, steps")

# Feet on a hill side, as the clip has them, and put on the ground.
hill = shape_ground((12, 12), 0.25, [Patch(area=(-6, -6, 6, 6), tilt=(0.35, 0.1))])
plan = replace(plan, ground=hill, camera=EYES["hill"])
bare = replace(plan, look=StageLook(feet=False))
show((bare, plan), 90, None, "feet: as in the clip, on the ground")

# Level difference: a punch at one who stands 0.15 m higher.
podium = shape_ground((12, 12), 0.25, [Patch(area=(0.5, -1, 2, 1), height=0.15)])
pair = (
    Actor(name="red", place=(-0.35, 0), heading=np.pi / 2, colour=(1, 0.4, 0.3)),
    Actor(name="blue", place=(0.65, 0), heading=-np.pi / 2, colour=(0.3, 0.7, 2)),
)
plan = StagePlan(cast=pair, moves=MOVES, camera=EYES["podium"])
both = (plan, replace(plan, ground=podium))
show(both, 19, lambda tick: "B" if tick < 3 else "", "punch: level, up a step")

# Slopes: below the angle of friction one stays exactly, above it one slides; on sand
# friction is twice as strong, so the same slope holds.
slope = Patch(area=(-6, -6, 6, 6), tilt=(0.0, -0.75))
sandy = replace(slope, surface="sand")
plan = replace(bare, look=StageLook(), camera=EYES["slope"])
plans = [replace(plan, ground=shape_ground((12, 12), 0.5, [p])) for p in (slope, sandy)]
stage = show(plans, 60, None, "a second on a slope of 37 degrees: grass, sand")
print(f"on sand it has moved by {abs(stage.places[0, 2] + 1.6):g} m")
Path("out").mkdir(exist_ok=True)
sheet = join_pictures(rows[0] + rows[1], [*captions, *captions], columns=len(rows[0]))
save_image("out/ground.png", sheet)
print("wrote out/ground.png")
