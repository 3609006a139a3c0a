# test: run
"""Walls that hold, and circles that do not drift, seen from above.

Writes out/zones.png: dashes of 30 m/s in a ring with obstacles and in a spiral; ten
turns around an opponent; and a crowd that is kept apart.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

import flexor
from flexor.draw.drawlist import DrawLines
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.plan import Actor, StageLook, StagePlan
from flexor.scene.stage.zone import Zone

SIZE = (420, 420)
ABOVE = flexor.Camera(eye=(0, 20, 0.01), target=(0, 0, 0), height=11, up=(0, 0, -1))
hero = {"mannequin": flexor.samples.mannequin()}
look = StageLook(zones=True, plain="stone")
plan = StagePlan(ground=shape_ground((14, 14), 0.5), look=look)
pictures, captions = [], []


def watch(stage, ticks, act):
    """Play ticks; gives the way of the first character, as lines (ticks, 2, 3)."""
    way = np.zeros((ticks + 1, 3), np.float32)
    way[0] = stage.places[0]
    for tick in range(ticks):
        act(stage, tick)
        stage.step()
        way[tick + 1] = stage.places[0]
    way[:, 1] += 0.05
    return np.stack([way[:-1], way[1:]], 1)


def show(stage, way, caption):
    lines = DrawLines(way, np.array([0.01, 0.05, 0.5, 1], np.float32), 1.5)
    pictures.append(stage.draw(SIZE, ABOVE, lines=[lines]).copy())
    captions.append(caption)


def dash(stage, tick, chance=np.random.default_rng(3)):  # noqa: B008 - one for all
    if tick % 6 == 0:
        stage.headings[0] = chance.uniform(0, 6.28)
        stage.asked[0, 0] = 30.0


alone = Actor(name="one", control="none", opponent="none", radius=0.3)
ring = Zone([(-5, -3), (-2, -5), (2, -2.5), (5, -5), (5, 3), (0, 1.5), (-2, 5)])
block = Zone([(-2, -1), (-0.8, -1), (-0.8, 0.4), (-2, 0.4)], keeps="out")
turn = np.linspace(0, 3.6 * np.pi, 70)
out, back = 0.4 + 0.32 * turn, (1.6 + 0.32 * turn)[::-1]
spiral = np.array([out * np.cos(turn), out * np.sin(turn)]).T
inner = np.array([back * np.cos(turn[::-1]), back * np.sin(turn[::-1])]).T
for caption, zones, place in (
    ("a ring with a block", (ring, block), (0, -0.5)),
    ("a spiral", (Zone(np.concatenate([spiral, inner])),), (1.0, 0.1)),
):
    own = replace(plan, zones=zones, cast=[replace(alone, place=place)])
    stage = flexor.Stage(own, characters=hero)
    show(stage, watch(stage, 1200, dash), f"{caption}: 200 dashes of 30 m/s")

# Ten turns: the distance to the opponent stays as it was.
pair = [Actor(name="one", place=(2.5, 0), control="none"), Actor(name="other")]
stage = flexor.Stage(replace(plan, cast=pair), characters=hero)
stage.state.circling[0], stage.asked[0, 1] = True, 2.0
way = watch(stage, round(10 * 2 * np.pi * 2.5 / 2.0 * 60), lambda stage, tick: None)
away = np.hypot(way[:, 1, 0] - stage.places[1, 0], way[:, 1, 2] - stage.places[1, 2])
show(stage, way, f"ten turns: {away.min():.6f} to {away.max():.6f} m")
Path("out").mkdir(exist_ok=True)
save_image("out/zones.png", join_pictures(pictures, captions, columns=3))
print(f"wrote out/zones.png; {captions[-1]}")
