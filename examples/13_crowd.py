# test: run
"""Five hundred walk, run and stand on a field, each drawn at a level of detail.

Writes out/crowd.webp, and out/crowd.png: six of its frames.
"""

from pathlib import Path

import numpy as np

import flexor
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.output.movie import open_movie
from flexor.pose.clips.root_motion import steady_motion

COUNT, SIZE, FPS, FRAMES = 500, (480, 270), 24, 48
LANE, GAP = 1.5, 2.6  # metres between lanes, and from one to the next in a lane
SIDE = 25  # lanes

hero = flexor.samples.mannequin()
rng = np.random.default_rng(7)

# The clips step on the spot; they say how fast they would go, in metres a second.
ways = {}
for name in ("walk", "run"):
    clip = hero.clips[name]
    ways[name] = steady_motion(clip.duration, (0, 0, clip.carried["extras"]["speed"]))
crowd = flexor.Crowd(hero, COUNT, root_motion=ways)

# Lanes along z. In one lane all do the same, so that nobody runs into another.
lane, row = np.arange(COUNT) % SIDE, np.arange(COUNT) // SIDE
crowd.place[:, 0] = (lane - (SIDE - 1) / 2) * LANE + rng.uniform(-0.2, 0.2, COUNT)
crowd.place[:, 2] = -row * GAP + rng.uniform(-0.6, 0.6, COUNT)
crowd.size[:] = rng.uniform(0.9, 1.08, COUNT)
crowd.colour[:, :3] = rng.uniform(0.45, 1.25, (COUNT, 3))
for name, lanes in (("walk", [0, 1, 3, 4]), ("run", [2]), ("idle", [5])):
    who = np.isin(lane % 6, lanes)
    start = rng.random(who.sum()) * hero.clips[name].duration
    # Who is small takes quicker steps: size times speed is the same for all.
    crowd.play(name, time=start, speed=1 / crowd.size[who], who=who)

style = flexor.DrawStyle(ground=True)
levels = range(len(hero.levels))
seen = np.zeros((FRAMES, len(levels)), int)  # how many at each level
work = np.zeros((FRAMES, 4), int)  # characters, nodes, vertices and triangles
kept = []
Path("out").mkdir(exist_ok=True)
with open_movie("out/crowd.webp", SIZE, FPS) as movie:
    for frame in range(FRAMES):
        now = frame / (FRAMES - 1)
        up = 2.6 + 1.4 * now * now * (3 - 2 * now)  # over their heads, slowly up
        eye, target = (3.0 * now - 1.5, up, 3.0), (0.8 * now, -2.4, -20.0)
        picture = crowd.draw(flexor.Camera(eye, target, fov=0.72), SIZE, style)
        movie.add(picture)
        counts = crowd.counts
        work[frame] = counts.shown, counts.nodes, counts.vertices, counts.triangles
        seen[frame] = [(crowd.level == level).sum() for level in levels]
        if frame % (FRAMES // 6) == 0:
            kept.append(picture.copy())
        crowd.advance(1 / FPS)
save_image("out/crowd.png", join_pictures(kept, columns=2))

print(
    f"wrote {movie.path}: {FRAMES} frames of {SIZE[0]} x {SIZE[1]}, and out/crowd.png"
)
print(f"{COUNT} characters; in a frame, at most:")
for name, many in zip(
    ("characters", "nodes", "vertices", "triangles"), work.max(0), strict=True
):
    print(f"  {many:9,} {name}")
for level in levels:
    nodes, vertices, triangles = hero.levels.totals(level)
    print(
        f"  {seen[:, level].max():9,} at level {level}: {nodes} nodes, "
        f"{vertices:,} vertices, {triangles:,} triangles each"
    )
