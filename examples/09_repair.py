# test: run
"""Better weights and joints: a wrong patch freed, joints that keep their volume.

Writes out/broken.glb, out/mended.glb, and out/repair.png: a knee and an elbow.
"""

from pathlib import Path

import numpy as np

import flexor
from flexor.convert.shape.body import Pull, gather_bodies, with_pulls
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image

out = Path("out")
out.mkdir(exist_ok=True)

# A character as careless tools make it: a finger tip hangs on the other leg.
hero = flexor.samples.mannequin()
body = gather_bodies(hero.scene)[0]
tip = body.frames[body.names.index("l-middle2"), :, 3]
rows = np.linalg.norm(body.positions - tip, axis=1) < 0.012
joints, weights = body.pull.joints.copy(), body.pull.weights.copy()
joints[rows], weights[rows] = -1, 0
joints[rows, 0], weights[rows, 0] = body.names.index("r-knee"), 1
scene = with_pulls(hero.scene, {0: Pull(joints, weights)}, [body])
broken = flexor.Character(scene)
flexor.save(broken, out / "broken.glb")

# As: flexor repair out/broken.glb -o out/mended.glb --rogues --links 3
mended, report = flexor.repair(broken, rogues=True, links=3)
flexor.save(mended, out / "mended.glb")
for finding in report.findings:
    print(finding)
change = next(joint for joint in report.joints if joint.name == "l-elbow")
print(f"l-elbow, twisted by 180 degrees: {change.before.twist180:.2f} of its volume")
print(f"with links: {change.after.twist180:.2f}")


def turned(character, name, axis, degrees):
    """The rest pose with one joint turned about an axis of the world."""
    node = character.skeleton.index(name)
    axis = character.pose().world[node][:, :3].T @ axis  # as the joint sees it
    half = np.radians(degrees) / 2
    turn = np.append(np.sin(half) * axis, np.cos(half))
    rotations = character.skeleton.rotations.copy()
    x, y, z, w = rotations[node]
    left = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
    rotations[node] = left @ turn
    return character.pose_from(rotations=rotations)


world = hero.pose().world
knee, elbow, wrist = map(hero.skeleton.index, ("l-knee", "l-elbow", "l-wrist"))
way = (world[wrist] - world[elbow])[:, 3]
shots = (
    ("l-knee", (1, 0, 0), 130, world[knee][:, 3], (0.9, 0.1, 0.3)),
    ("l-elbow", way / np.linalg.norm(way), 140, world[elbow][:, 3], (0, 0.1, 0.75)),
)
pictures, captions = [], []
for what, character in (("before", hero), ("with links", mended)):
    drawer = flexor.Drawer(character, (320, 280))
    for name, axis, degrees, place, away in shots:
        camera = flexor.Camera(eye=tuple(place + away), target=tuple(place))
        pose = turned(character, name, axis, degrees)
        pictures.append(drawer.draw(pose, camera).copy())
        captions.append(f"{name} by {degrees} degrees, {what}")
save_image(out / "repair.png", join_pictures(pictures, captions, columns=2))
print(f"wrote {out / 'repair.png'}")
