# test: run
"""Run below, box above: two layers, a cross-fade, events, and feet that carry it on."""

import math
from pathlib import Path

import flexor
from flexor.draw.scene.fit import direction_of
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.output.movie import open_movie
from flexor.pose.clips.root_motion import steady_motion

SIZE, FPS, SECONDS = (320, 320), 30, 3

hero = flexor.samples.mannequin()

# Its clips are made on the spot, and say how fast they go (metres a second, ahead).
ways = {
    name: steady_motion(clip.duration, (0, 0, clip.carried["extras"]["speed"]))
    for name, clip in hero.clips.items()
}
# The second layer lies over the first, from the spine up.
player = flexor.Player(
    hero,
    layers=["body", flexor.Layer("above", mask="spine0")],
    events={
        "run": [(0.0, "left foot"), (0.367, "right foot")],
        "punch": [(0.4, "hit")],
    },
    root_motion=ways,
)
player.play("walk")


def direct(frame):
    """What happens when: the script of the film."""
    if frame == 20:
        player.play("run", fade=0.4, sync=True)  # walk to run, in step
    if frame in (40, 66):
        player.play("punch", layer="above", mode="once", fade=0.1, leave=0.15)


style = flexor.DrawStyle(ground=True)
drawer = flexor.Drawer(hero, SIZE, style)
camera = drawer.fit("run", direction=direction_of(math.radians(60), math.radians(8)))
tiles, captions, heard = [], [], []

out = Path("out")
out.mkdir(exist_ok=True)
with open_movie(out / "layers.webp", SIZE, FPS) as movie:
    for frame in range(FPS * SECONDS):
        direct(frame)
        for event in player.advance(1 / FPS):
            heard.append(f"{frame / FPS:.2f} s {event.name}")
        ahead = player.places[0, :, 3]
        picture = drawer.draw(player.pose, camera.moved(ahead))
        movie.add(picture)
        if frame % 6 == 3:
            tiles.append(picture.copy())
            captions.append(f"{frame / FPS:.1f} s")

save_image(out / "layers.png", join_pictures(tiles, captions))
print(f"wrote {movie.path}: {FPS * SECONDS} frames, and {out / 'layers.png'}")
print(f"went {player.places[0, 2, 3]:.2f} m; {', '.join(heard)}")
