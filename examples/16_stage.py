# test: run
"""A fight on a stage, from a text file and a script of buttons.

Writes out/stage.webp, and out/stage.png: moments of it. The stage is in
src/flexor/samples/arena/arena.toml, its moves in moves.toml beside it.
"""

from pathlib import Path

import flexor
from flexor.draw.sheet import join_pictures
from flexor.files.text.moves import log_text
from flexor.output.image import save_image
from flexor.output.movie import open_movie

SIZE = (400, 250)
# Ticks of 1/60 s, and what the pads of red and blue hold from then on. The camera
# stands beside the two: left and right is to and fro, up and down is around.
SCRIPT = {
    5: ("right", ""),
    80: ("B", ""),  # a punch that meets
    84: ("", ""),
    140: ("right", ""),
    160: ("B", "A"),  # one that is guarded
    164: ("", "A"),
    200: ("", ""),
    220: ("up", "up"),  # both around each other
    300: ("", ""),
    310: ("B", ""),
    318: ("", "Y"),  # parried: red recoils in slow motion ...
    324: ("", ""),
    345: ("", "left"),
    358: ("", "B+C"),  # ... and blue has time for its best kick
    362: ("", ""),
    460: ("right", ""),
    500: ("X", ""),  # a combination: one, two, kick
    504: ("", ""),
    640: ("down+R", "Z"),
    645: ("down+R", ""),
    740: ("", ""),
}
MOMENTS = (0, 96, 180, 260, 327, 345, 382, 395, 520, 545, 580, 690)
LENGTH = 760

stage = flexor.Stage(flexor.samples.arena())
names = [actor.name for actor in stage.plan.cast]
held, kept, captions = ("", ""), [], []
Path("out").mkdir(exist_ok=True)
with open_movie("out/stage.webp", SIZE, 20) as movie:
    for tick in range(LENGTH):
        held = SCRIPT.get(tick, held)
        before = stage.energy.copy()
        stage.step(held)
        for row in (stage.energy < before).nonzero()[0]:
            doing = stage.doing(names[1 - row])
            left = stage.energy[row]
            print(f"tick {tick}: {names[row]} is met by a {doing}, {left:g} left")
        slow = stage.state.clocks < 1
        if tick in MOMENTS:
            kept.append(stage.draw(SIZE).copy())
            text = ", ".join(
                f"{name} {stage.doing(name)}{' (slow)' if slow[row] else ''}"
                for row, name in enumerate(names)
            )
            captions.append(f"{tick / 60:.2f} s: {text}")
        if tick % 3 == 0:
            movie.add(stage.draw(SIZE))
save_image("out/stage.png", join_pictures(kept, captions, columns=3))

# What was pressed is all that a replay needs.
again = flexor.Stage(flexor.samples.arena())
again.replay(stage.log)
is_same = again.hash() == stage.hash()
print(f"a replay of {len(log_text(stage.log))} bytes ends the same: {is_same}")
print(f"wrote {movie.path}, and out/stage.png")
