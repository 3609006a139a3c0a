"""Makes the pictures of README.md and docs/: `make pictures`."""

import math
from contextlib import chdir
from io import BytesIO
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

import flexor
from flexor.api.repair.joint_pictures import draw_joints
from flexor.convert.repair.trials import JointTrial
from flexor.draw.scene.fit import direction_of
from flexor.draw.scene.style import DrawStyle
from flexor.draw.sheet import join_pictures
from flexor.files.replace import replace_file

HERE = Path(__file__).parents[1] / "docs" / "images"


def save(name, pixels, is_small=False, colours=256):
    """Write a PNG; is_small: of few colours, less than half of the usual size."""
    picture = Image.fromarray(pixels).convert("RGB")
    if is_small:
        method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
        picture = picture.quantize(colours, method=method, kmeans=3, dither=dither)
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    replace_file(HERE / name, file.getvalue())
    print(f"{HERE / name}: {picture.width} x {picture.height}, {file.tell():,} bytes")


def on_paper(pixels):
    """A picture with nothing behind it on a plain ground."""
    paper = Image.new("RGBA", (pixels.shape[1], pixels.shape[0]), "#e9ecef")
    paper.alpha_composite(Image.fromarray(pixels))
    return np.asarray(paper)


hero = flexor.samples.mannequin()
view = direction_of(math.radians(50), math.radians(10))
ground = DrawStyle(ground=True)
sheet = flexor.contact_sheet(
    hero, "walk", 12, size=(165, 290), style=ground, direction=view, columns=6
)
save("walk.png", sheet, is_small=True)

styles = {
    "shaded": "shaded",
    "flat, but for the head": DrawStyle(smooth=("head",)),
    "cel": "cel",
    "lines": "lines",
    "wire": "wire",
    "heat of the left knee": DrawStyle(style="heat", heat="l-knee"),
    "ghost with bones": DrawStyle(style="ghost", bones=True),
}
pose = hero.pose("kick", 0.5)
size = (200, 300)
pictures = [flexor.draw(hero, pose, size=size, style=s) for s in styles.values()]
save("styles.png", join_pictures(pictures, list(styles), columns=7))

small = "roll", "thumb", "index", "middle", "ring", "pinky"
large = [one for one in hero.skeleton.names if not any(word in one for word in small)]
views = {
    "sections": DrawStyle(show=("sections",)),
    "areas": DrawStyle(show=("areas",)),
    "ties": DrawStyle(show=("ties",)),
    "limits": DrawStyle(show=("limits",), joints=large),
}
size = (300, 430)
near = direction_of(math.radians(20), math.radians(9))
camera = flexor.Drawer(hero, size).fit(pose, direction=near, margin=0.04)
pictures = [flexor.draw(hero, pose, camera, size, style=s) for s in views.values()]
save("views.png", join_pictures(pictures, list(views), columns=4))

better, _ = flexor.repair(hero, links=3, has_measures=False)
turns = {
    "l-knee": ("bent", JointTrial(2, (0, 0, -1), math.radians(150), 0, 3, 0, 0)),
    "l-elbow": ("twisted", JointTrial(0, (1, 0, 0), math.pi, 0, math.pi, 0, 0)),
}
trials = {hero.skeleton.index(name): trial for name, (_, trial) in turns.items()}
pictures, captions = [], []
for film, (words, _) in zip(
    draw_joints(hero, better, trials, (240, 210), 2), turns.values(), strict=True
):
    pictures += [on_paper(film.before[film.still]), on_paper(film.after[film.still])]
    captions += [f"a joint {words}", "the same with links"]
save("repair.png", join_pictures(pictures, captions, columns=4), is_small=True)

with TemporaryDirectory() as folder, chdir(folder):
    run_path(str(HERE.parents[1] / "examples" / "12_feet.py"))
    sheet = Image.open("out/feet.png").convert("RGB")
    half = sheet.resize((sheet.width // 2, sheet.height // 2), Image.Resampling.BOX)
save("feet.png", np.asarray(half), is_small=True)

# Levels of detail: all at one size, and each beside the one before it at the size at
# which it takes over.
levels = hero.levels
alone = flexor.Crowd(hero, 1)
alone.play("walk", time=0.12)
alone.heading[:] = math.radians(-35)


def draw_level(level, tall, size, style):
    """A level as a figure of `tall` pixels on the lower edge, or its upper part."""
    high = max(size[1], round(1.08 * tall))
    metres = high * levels.height / tall  # from the lower to the upper edge
    middle = metres / 2 - 0.05 * levels.height
    camera = flexor.Camera((0, middle, 9), (0, middle, 0), height=metres)
    rule = flexor.LevelRule(by=lambda view: np.full(len(view.levels), level))
    return alone.draw(camera, (size[0], high), style, rules=rule)[: size[1]].copy()


wire = DrawStyle(style="wire", shadow=False, line_width=1.4)
off = np.maximum(levels.errors[:, 0], levels.errors[:, 1] / 3)  # metres of a pixel
wires, pairs, nodes, faces, sizes = [], [], [], [], []
for level, wide in enumerate((0, 200, 101, 101)):
    wires.append(draw_level(level, 290, (200, 312), wire))
    counts = levels.totals(level)
    nodes.append(f"level {level}: {counts[0]} nodes,")
    faces.append(f"{counts[1]:,} vertices, {counts[2]:,} triangles")
    if level:
        tall = round(levels.height / off[level])
        two = level - 1, level
        pairs += [draw_level(one, tall, (wide, 240), "shaded") for one in two]
        sizes.append(f"levels {two[0]} and {two[1]}, {tall} pixels tall")
strips = [np.full((1, 200, 4), 255, np.uint8)] * 4
upper = join_pictures(wires, nodes, gap=4, columns=4, caption_height=16)
words = join_pictures(strips, faces, gap=4, columns=4, caption_height=16)
lower = np.full((240, upper.shape[1], 4), 255, np.uint8)
left = 4
for row, picture in enumerate(pairs):
    lower[:, left : left + picture.shape[1]] = picture
    left += picture.shape[1] + 4 * (row % 2)
below = [np.full((1, wide, 4), 255, np.uint8) for wide in (404, 202, 202)]
marks = [join_pictures([b], [t], gap=2) for b, t in zip(below, sizes, strict=True)]
every = [upper[:-4], words[5:-4], lower, np.concatenate(marks, 1)]
save("levels.png", np.concatenate(every), is_small=True, colours=64)

with TemporaryDirectory() as folder, chdir(folder):
    shown = run_path(str(HERE.parents[1] / "examples" / "13_crowd.py"))["kept"][1]
shown = Image.fromarray(shown).resize((576, 324), Image.Resampling.LANCZOS)
save("crowd.png", np.asarray(shown), is_small=True)

with TemporaryDirectory() as folder, chdir(folder):
    made = run_path(str(HERE.parents[1] / "examples" / "14_goal.py"))
rows = [6 * shot + frame for shot in range(4) for frame in (0, 1, 2, 4)]
small = [
    np.asarray(Image.fromarray(made["kept"][row]).resize((240, 135))) for row in rows
]
captions = [made["captions"][row] for row in rows]
save("goal.png", join_pictures(small, captions, columns=4), is_small=True)

with TemporaryDirectory() as folder, chdir(folder):
    made = run_path(str(HERE.parents[1] / "examples" / "16_stage.py"))
rows = (1, 2, 4, 5, 6, 8, 10, 11)
small = [
    np.asarray(Image.fromarray(made["kept"][row]).resize((240, 150))) for row in rows
]
captions = [made["captions"][row].partition(": ")[2] for row in rows]
save("stage.png", join_pictures(small, captions, columns=4), is_small=True)

with TemporaryDirectory() as folder, chdir(folder):
    made = run_path(str(HERE.parents[1] / "examples" / "20_effects.py"))
rows = (2, 3, 7, 10, 12, 14, 19, 21)
small = [
    np.asarray(Image.fromarray(made["kept"][row]).resize((240, 160))) for row in rows
]
save("effects.png", join_pictures(small, columns=4), is_small=True)
