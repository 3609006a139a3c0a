# test: run
"""Other flexible sheets, each a few lines of data: volleyball net, curtain, hammock.

Writes out/sheets.png: what each does when a ball comes.
"""

from pathlib import Path

import flexor
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.stage.goal.netting import make_netting
from flexor.stage.goal.plan import BallSettings, NetSettings, Push, Rod, SheetPlan

volleyball = make_netting(
    SheetPlan(
        lower=((-4.75, 1.43, 0), (4.75, 1.43, 0)),
        upper=((-4.75, 2.43, 0), (4.75, 2.43, 0)),
        pitch=0.25,
        weave="squares",
        left="fixed",
        right="fixed",
        top="fixed",
        slack=1.0,
    ),
    rods=[Rod((x, 0, 0), (x, 2.5, 0), 0.05) for x in (-4.85, 4.85)],
)
curtain = make_netting(
    SheetPlan(
        lower=((-1.5, 0.1, 0), (1.5, 0.1, 0)),
        upper=((-1.5, 2.6, 0), (1.5, 2.6, 0)),
        pitch=0.2,
        weave="squares",
        top="fixed",
        slack=1.0,
        push=Push(k1=60, k2a=30, k2b=30),
    ),
    rods=[Rod((-1.7, 2.6, 0), (1.7, 2.6, 0), 0.03)],
)
curve = ((-1.4, 1.3), (-0.9, 0.9), (-0.35, 0.7), (0.35, 0.7), (0.9, 0.9), (1.4, 1.3))
hammock = make_netting(
    SheetPlan(
        lower=tuple((x, y, 0.45) for x, y in curve),
        upper=tuple((x, y, -0.45) for x, y in curve),
        pitch=0.15,
        weave="squares",
        left="fixed",
        right="fixed",
        slack=1.0,
        push=Push(k1=500, k2a=150, k2b=60, front=0.1),
    ),
    rods=[Rod((x, 0, 0), (x, 1.8, 0), 0.06) for x in (-1.5, 1.5)],
    ball=BallSettings(rate=480),
    net=NetSettings(rate=480, k11=120),  # taut cords need small steps
)

# Where the ball starts, its velocity; where the camera stands and looks; and when.
SCENES = {
    "volleyball net": (volleyball, (1, 1.2, 7), (-1, 5, -11), (2.6, 1.9, 4.5), 1.9),
    "curtain": (curtain, (0.2, 1.2, 5), (0, 3.5, -8), (2.5, 1.5, 4.2), 1.3),
    "hammock": (hammock, (0.1, 2.8, 0.05), (0, 0, 0), (1.4, 1.9, 3.2), 0.9),
}
style = flexor.DrawStyle(ground=True, background=(128, 158, 192, 255))
pictures, captions = [], []
for name, (netting, place, velocity, eye, high) in SCENES.items():
    scene = flexor.Goal(netting)
    scene.shoot(place, velocity)
    camera = flexor.Camera(eye=eye, target=(0, high, 0), fov=0.9)
    for frame in range(1, 151):
        scene.advance()
        if frame in (1, 40, 44, 50, 62, 150):
            pictures.append(scene.draw(camera, (300, 225), style).copy())
            captions.append(f"{name}, {frame / 60:.2f} s")
    x, y, z = scene.balls[0, 0]
    print(f"{name}: {scene}; the ball is at {x:.2f}, {y:.2f}, {z:.2f} m")
Path("out").mkdir(exist_ok=True)
save_image("out/sheets.png", join_pictures(pictures, captions, columns=6))
print("wrote out/sheets.png")
