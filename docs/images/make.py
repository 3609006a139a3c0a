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
from flexor.app.joint_pictures import draw_joints
from flexor.draw.fit import direction_of
from flexor.draw.sheet import join_pictures
from flexor.draw.style import DrawStyle
from flexor.files.replace import replace_file

HERE = Path(__file__).parent


def save(name, pixels, is_small=False):
    """Write a PNG; is_small: of 256 colours, less than half of the usual size."""
    picture = Image.fromarray(pixels).convert("RGB")
    if is_small:
        method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
        picture = picture.quantize(256, method=method, kmeans=3, dither=dither)
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

better, _ = flexor.repair(hero, links=3, has_measures=False)
nodes = [hero.skeleton.index(name) for name in ("l-knee", "l-elbow")]
shown = draw_joints(hero, better, nodes, (240, 210), 2)
pictures, captions = [], []
for joint, (shot, words) in zip(shown, ((1, "bent"), (2, "twisted")), strict=True):
    pictures += [on_paper(joint.before[shot]), on_paper(joint.after[shot])]
    captions += [f"a joint {words}", "the same with links"]
save("repair.png", join_pictures(pictures, captions, columns=4), is_small=True)

with TemporaryDirectory() as folder, chdir(folder):
    run_path(str(HERE.parents[1] / "examples" / "12_feet.py"))
    sheet = Image.open("out/feet.png").convert("RGB")
    half = sheet.resize((sheet.width // 2, sheet.height // 2), Image.Resampling.BOX)
save("feet.png", np.asarray(half), is_small=True)
