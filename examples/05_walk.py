# test: run
"""What `make run` shows: the mannequin walks, as a movie and as a sheet of poses."""

import math
import time
from pathlib import Path

import flexor
from flexor.cli.progress import show_progress
from flexor.draw.scene.fit import direction_of
from flexor.output.image import save_image
from flexor.output.movie import open_movie

SIZE, FPS, SECONDS = (480, 480), 30, 4  # 4 s are whole steps and whole squares: a loop
SWAY = math.radians(25)

out = Path("out")
out.mkdir(exist_ok=True)

hero = flexor.samples.mannequin()
walk = hero.clips["walk"]
speed = walk.carried["extras"]["speed"]  # metres a second; the clip walks on the spot
hips = hero.skeleton.index("hips")  # the root of all joints


def walked(seconds):
    """The pose after a while, as far ahead (+z) as the steps have brought it."""
    pose = hero.pose("walk", seconds % walk.duration)
    places = pose.translations.copy()
    places[hips, 2] += speed * seconds
    return hero.pose_from(places, pose.rotations, pose.scales)


# The camera is fitted to the whole clip, then walks beside and swings a little.
style = flexor.DrawStyle(ground=True)
view = direction_of(math.radians(50), math.radians(10))  # around, above
drawer = flexor.Drawer(hero, SIZE, style)
camera = drawer.fit("walk", direction=view)

frames = FPS * SECONDS
begin = time.perf_counter()
with (
    open_movie(out / "walk.mp4", SIZE, FPS) as movie,
    show_progress("walk.mp4", frames) as advance,
):
    for frame in range(frames):
        now = frame / FPS
        swing = SWAY * math.sin(now / SECONDS * math.tau)
        beside = camera.turned(swing).moved((0, 0, speed * now))
        movie.add(drawer.draw(walked(now), beside))
        advance()
took = time.perf_counter() - begin

sheet = flexor.contact_sheet(hero, "walk", 12, style=style, direction=view)
save_image(out / "walk.png", sheet)

print(
    f"wrote {movie.path}: {frames} frames of {SIZE[0]} x {SIZE[1]}, {SECONDS} s at "
    f"{FPS} a second, in {took:.1f} s"
)
print(f"wrote {out / 'walk.png'}: 12 poses, {sheet.shape[1]} x {sheet.shape[0]}")
