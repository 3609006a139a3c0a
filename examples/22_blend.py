# test: run
"""Walk and run by speed: one value mixes the clips and keeps them in step.

Along a line for one who speeds up and slows down, and in a plane for three who also go
aside. Feet do not step twice: all clips are at the same part of their round.
"""

import math
from pathlib import Path

import flexor
from flexor.draw.scene.fit import direction_of, fit_camera
from flexor.output.movie import open_movie
from flexor.pose.clips.root_motion import steady_motion

SIZE, FPS, SECONDS = (480, 360), 30, 6

out = Path("out")
out.mkdir(exist_ok=True)
hero = flexor.samples.mannequin()

# Metres a second of each clip: where it stands on the line, and how fast it carries.
speeds = {"idle": 0.0, "walk": 1.35, "run": 3.4}
ways = {
    name: steady_motion(hero.clips[name].duration, (0, 0, speed))
    for name, speed in speeds.items()
    if speed
}
player = flexor.Player(hero, root_motion=ways)

drawer = flexor.Drawer(hero, SIZE, flexor.DrawStyle(ground=True))
camera = fit_camera(
    hero.deform(hero.pose("run", 0.1))[0].positions,
    SIZE,
    direction=direction_of(math.radians(70), math.radians(8)),
)
with open_movie(out / "blend.webp", SIZE, FPS) as movie:
    for frame in range(FPS * SECONDS):
        wanted = 1.9 * (1 - math.cos(frame / FPS / SECONDS * math.tau))  # 0 to 3.8
        player.blend(speeds, wanted)
        player.advance(1 / FPS)
        ahead = player.places[0, 2, 3]
        movie.add(drawer.draw(player.pose, camera.moved((0, 0, ahead))))
print(f"wrote {movie.path}; ran {ahead:.1f} m")

# Two numbers: metres a second aside and ahead. Outside of the points: the nearest.
points = {
    "idle": (0, 0),
    "walk": (0, 1.35),
    "run": (0, 3.4),
    "sidestep": (1.2, 0),
}
three = flexor.Player(hero, 3)
for frame in range(60):
    around = math.tau * frame / 60
    three.blend(
        points,
        [(0, 1.35), (math.sin(around), math.cos(around)), (9.0, 9.0)],
        ease=0.2,  # weights follow a value that jumps in so many seconds
    )
    three.advance(1 / 60)
hands = three.points(["l-hand"])[:, 0]
print("left hands:", ", ".join(f"{y:.2f} m" for y in hands[:, 1]))
