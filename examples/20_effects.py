# test: run
"""Effects: a kick from sand with afterimages and footprints, water, leaves, snow.

Writes out/kick.webp, out/water.webp, out/leaves.webp and out/snow.webp, and
out/effects.png: moments of each.
"""

from pathlib import Path

import numpy as np

import flexor
from flexor.draw.sheet import join_pictures
from flexor.files.text.moves import read_moves
from flexor.output.image import save_image
from flexor.output.movie import open_movie
from flexor.scene.stage.effect_settings import EffectPlan, GustSettings, SnowSettings
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.plan import Actor, CameraRule, StagePlan

SIZE, FPS = (300, 200), 20
SAND = Patch(area=(-8, -8, 8, 8), surface="sand")
POOL = Patch(middle=(1.5, 0), radius=1.9, height=-0.28, edge=0.4, surface="water")
SAND, LAWN = (shape_ground((16, 16), 0.25, [SAND, POOL]), shape_ground((24, 14), 0.5))
FLAKES = SnowSettings(low=(-6, -6), high=(6, 4), top=5)
SKY = flexor.DrawStyle(background=(150, 178, 205, 255), samples=4)

# Of each scene: the ground, where the character starts, effects, camera, what its pad
# holds from some ticks on, how many ticks it takes, and which of them the sheet shows.
SCENES = {
    "kick": (
        (SAND, (-4.6, 0), EffectPlan(water=-0.05)),
        ((-2.4, 1.1, 3.2), (-2.5, 0.7, 0)),
        ({5: "right+R", 45: "B+C", 49: ""}, 130, (22, 40, 64, 76, 82, 88)),
    ),
    "water": (
        (SAND, (-1.3, 0), EffectPlan(water=-0.05)),
        ((1.2, 1.5, 4.4), (1.0, 0.4, 0)),
        ({5: "right+R", 50: "", 60: "Z", 64: ""}, 190, (24, 34, 46, 105, 124, 132)),
    ),
    "leaves": (
        (LAWN, (-4.5, 0), EffectPlan(leaves=9000)),
        ((0, 1.2, 4.6), (0, 0.7, 0)),
        ({5: "right+R", 150: ""}, 240, (60, 78, 90, 105, 120, 190)),
    ),
    "snow": (
        (LAWN, (0, 0), EffectPlan(
            snow=9000, flake=FLAKES, gusts=GustSettings(speed=0.05, length=3))),
        ((0, 1.4, 4.4), (0, 1.1, 0)),
        ({20: "left+R", 50: "right+R", 110: "left+R", 130: ""}, 180,
         (5, 40, 75, 95, 150)),
    ),
}  # fmt: skip

hero = {"mannequin": flexor.samples.fighter()}
moves = read_moves(flexor.samples.arena().with_name("moves.toml"))
kept, captions = [], []
Path("out").mkdir(exist_ok=True)
for name, scene in SCENES.items():
    (ground, place, effects), (eye, target), (script, ticks, moments) = scene
    own = Actor(
        name="one", place=place, heading=np.pi / 2, opponent="none", control="free"
    )
    camera = CameraRule(rule="fixed", eye=eye, target=target)
    plan = StagePlan(
        cast=(own,), ground=ground, moves=moves, camera=camera, effects=effects
    )
    stage, held = flexor.Stage(plan, characters=hero), ""
    with open_movie(f"out/{name}.webp", SIZE, FPS) as movie:
        for tick in range(ticks):
            held = script.get(tick, held)
            stage.step(held)
            if tick % 3 == 0:
                movie.add(stage.draw(SIZE, style=SKY))
            if tick in moments:
                kept.append(stage.draw(SIZE, style=SKY).copy())
                captions.append(f"{name}, {tick / 60:.2f} s")
    print(f"wrote {movie.path}: {movie.count} frames")
save_image("out/effects.png", join_pictures(kept, captions, columns=6))
print("wrote out/effects.png")
