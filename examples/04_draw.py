# test: run
"""Pictures of a character: styles, a sheet of a clip, a turntable, buffers."""

import math
from pathlib import Path

import numpy as np

import flexor
from flexor.draw.scene.fit import direction_of
from flexor.draw.scene.style import DrawStyle
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.output.movie import open_movie

out = Path("out")
out.mkdir(exist_ok=True)


def save(picture, name):
    save_image(out / name, picture)
    print(f"wrote {out / name}: {picture.shape[1]} x {picture.shape[0]}")


hero = flexor.samples.mannequin()
pose = hero.pose("walk", 0.4)

# One call is enough: the camera is fitted to the pose.
save(flexor.draw(hero, pose), "pose.png")

# The same pose in many styles.
styles = {
    "shaded": "shaded",
    "flat, but for the head": DrawStyle(smooth=("head",)),
    "cel": "cel",
    "lines": "lines",
    "wire": "wire",
    "heat of the left knee": DrawStyle(style="heat", heat="l-knee"),
    "ghost with bones": DrawStyle(style="ghost", bones=True),
    "areas of bones": DrawStyle(show=("areas",)),
    "sections": DrawStyle(show=("sections",)),
    "ties of the left knee": DrawStyle(show=("ties",), joints=("l-knee",)),
    "limits": DrawStyle(show=("limits",)),
    "ground": DrawStyle(ground=True),
}
pictures = [flexor.draw(hero, pose, size=(260, 380), style=s) for s in styles.values()]
save(join_pictures(pictures, list(styles), columns=4), "styles.png")

# Twelve poses of a clip, all seen by the same camera.
save(flexor.contact_sheet(hero, "run", 12, style="cel"), "run.png")

# A drawer draws again and again into the same arrays: here once around the character.
drawer = flexor.Drawer(hero, (320, 320), DrawStyle(buffers=("depth", "part")))
camera = drawer.fit("walk", direction=direction_of(0, math.radians(15)), margin=0.15)
with open_movie(out / "around.webp", (320, 320), 24) as movie:
    for step in range(24):
        moment = hero.pose("walk", step / 24 * hero.clips["walk"].duration)
        movie.add(drawer.draw(moment, camera.turned(step / 24 * math.tau)))
print(f"wrote {out / 'around.webp'}: 24 frames")

# What the last picture shows, as arrays.
depth, part = drawer.target.depth, drawer.target.part
seen = part >= 0
print(f"the character covers {seen.mean():.0%} of the picture,")
print(f"{depth[seen].min():.2f} to {depth[seen].max():.2f} m away from the camera")
assert np.isinf(depth[~seen]).all()
