# test: run
"""A capture of another body on the mannequin; then cut, mirrored and joined.

Writes out/wave.bvh (as a capture would come), out/waving.glb and out/waving.png.
"""

from pathlib import Path

import numpy as np

import flexor
from flexor.output.image import save_image
from flexor.pose.clips.cut import concatenate, trim
from flexor.pose.clips.mirror import mirror_clip

out = Path("out")
out.mkdir(exist_ok=True)

# A body in centimetres with arms straight out: name, place in its parent, children.
BODY = ("Hips", (0, 0, 0), [("Spine", (0, 12, 0), [("Head", (0, 45, 0), [])])])
for side, sign in (("Left", 1), ("Right", -1)):
    hand = (side + "Hand", (sign * 27, 0, 0), [])
    elbow = (side + "ForeArm", (sign * 29, 0, 0), [hand])
    BODY[2][0][2].append((side + "Arm", (sign * 17, 36, 0), [elbow]))
    foot = (side + "Foot", (0, -41, 0), [])
    knee = (side + "Leg", (0, -43, 0), [foot])
    BODY[2].append((side + "UpLeg", (sign * 9, -4, 0), [knee]))


def describe(joint, names, depth=0):
    """The joint and all below it as BVH has them; its name goes into `names`."""
    name, place, children = joint
    names.append(name)
    kind, channels = "JOINT", "3 Zrotation Yrotation Xrotation"
    if not depth:
        kind = "ROOT"
        channels = "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation"
    lines = [f"{kind} {name}", "{", "OFFSET {} {} {}".format(*place)]
    lines.append(f"CHANNELS {channels}")
    for child in children:
        lines += describe(child, names, depth + 1)
    if not children:
        lines += ["End Site", "{", "OFFSET 0 0 8", "}"]
    return [*lines, "}"]


names = []
lines = ["HIERARCHY", *describe(BODY, names), "MOTION", "Frames: 61"]
lines.append("Frame Time: 0.05")
for frame in range(61):
    time = frame / 20
    up = min(time, 1.0)
    turns = {"LeftArm": (-70 + 115 * up, 0, 0), "RightArm": (75, 0, 0)}
    turns["LeftForeArm"] = (45 * up + 30 * up * np.sin(6 * time), 0, 0)
    turns["Head"] = (-8 * up, 12 * up, 0)
    row = [4 * np.sin(2 * time), 88, 0]
    for name in names:
        row += turns.get(name, (0, 0, 0))
    lines.append(" ".join(f"{value:.4f}" for value in row))
(out / "wave.bvh").write_text("\n".join(lines) + "\n")

# As: flexor motion hero.glb --from out/wave.bvh -o out/waving.glb --only
hero = flexor.samples.mannequin()
capture = flexor.load(out / "wave.bvh")
hero = flexor.retarget(hero, capture, "wave")
wave = hero.clips["wave"]
print(f"wave: {wave.duration:.2f} s, {len(wave.tracks)} tracks")

# From the second on, once with the left hand and once with the right.
left = trim(wave, 1.0)
right = mirror_clip(left, hero.skeleton)
both = concatenate([left, right], fades=0.4, skeleton=hero.skeleton)
hero = hero.with_clips({"wave": wave, "both hands": both}, only=True)
print(f"both hands: {both.duration:.2f} s")
flexor.save(hero, out / "waving.glb")
sheet = flexor.contact_sheet(hero, "both hands", 8, size=(160, 220), columns=4)
save_image(out / "waving.png", sheet)
print(f"wrote {out / 'waving.glb'} and {out / 'waving.png'}")
