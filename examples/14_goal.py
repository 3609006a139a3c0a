# test: run
"""Four shots at a goal: upper corner, side net from outside, low and post.

Writes out/goal.webp, and out/goal.png: frames of each shot around the hit.
"""

from pathlib import Path

import flexor
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.output.movie import open_movie
from flexor.stage.goal.plan import BallSettings

SIZE, FPS = (480, 270), 30
RADIUS = 0.11
SKY = (128, 158, 192, 255)

# Where the ball starts, its velocity (m/s) and spin (rad/s); where the camera stands
# and looks; and when the frames of the sheet are taken, in seconds.
SHOTS = {
    "upper corner": (
        ((-2.0, RADIUS, 11.0), (8.1, 7.0, -24.0), (-20.0, 12.0, 0.0)),
        ((1.9, 1.55, 0.7), (3.1, 1.75, -2.3)),
        (0.45, 0.53, 0.6, 0.7, 1.0, 1.5),
    ),
    "side net, from outside": (
        ((-9.0, RADIUS, 3.0), (13.0, 4.0, -8.5), (0.0, 30.0, 0.0)),
        ((-5.3, 1.2, -3.4), (-3.5, 0.8, -0.9)),
        (0.38, 0.43, 0.5, 0.6, 0.9, 1.3),
    ),
    "low, it climbs the net": (
        ((0.5, RADIUS, 9.0), (0.8, 0.0, -20.0), (-180.0, 0.0, 0.0)),
        ((2.6, 0.8, 0.2), (0.9, 0.7, -2.2)),
        (0.55, 0.62, 0.7, 0.8, 1.0, 1.4),
    ),
    "post": (
        ((-1.0, RADIUS, 10.0), (10.55, 3.6, -22.0), (0.0, 0.0, 0.0)),
        ((1.6, 1.2, 3.4), (3.5, 0.8, -0.4)),
        (0.4, 0.46, 0.5, 0.55, 0.7, 0.9),
    ),
}
LENGTH = 2.0  # seconds of each

style = flexor.DrawStyle(ground=True, background=SKY)
goal = flexor.Goal(ball=BallSettings(curl=0.004, drag=0.008))  # it flies in air
kept, captions = [], []
Path("out").mkdir(exist_ok=True)
with open_movie("out/goal.webp", SIZE, FPS) as movie:
    for name, (shot, (eye, target), moments) in SHOTS.items():
        goal.shoot(*shot)
        camera = flexor.Camera(eye=eye, target=target, fov=0.95)
        times = list(moments)
        deepest = highest = 0.0
        for frame in range(int(LENGTH * FPS)):
            goal.advance(1 / FPS)
            picture = goal.draw(camera, SIZE, style)
            movie.add(picture)
            if times and (frame + 1) / FPS >= times[0]:
                kept.append(goal.draw(camera, (320, 180), style).copy())
                captions.append(f"{name}, {times.pop(0):.2f} s")
            ball = goal.balls[0, 0]
            deepest, highest = min(deepest, ball[2]), max(highest, ball[1])
        what = "a goal" if goal.scored[0, 0] else "no goal"
        post = ", off the post" if goal.met_post[0, 0] else ""
        print(
            f"{name}: {what}{post}; it went {-deepest:.2f} m behind the line and "
            f"{highest:.2f} m up, and is at {ball[0]:.1f}, {ball[1]:.1f}, {ball[2]:.1f}"
        )
save_image("out/goal.png", join_pictures(kept, captions, columns=6))
print(f"wrote {movie.path}, and out/goal.png")
