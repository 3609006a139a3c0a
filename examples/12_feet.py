# test: run
"""Feet on uneven ground: legs solved for where the ground is, hips that give way.

Writes out/feet.webp, and out/feet.png: above as the clip has it, below on the ground.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

import flexor
from flexor.draw.scene.fit import direction_of
from flexor.draw.sheet import join_pictures
from flexor.output.image import save_image
from flexor.output.movie import open_movie
from flexor.pose.clips.root_motion import steady_motion
from flexor.scene.character.mesh import Primitive

SIZE, FPS, FRAMES = (360, 360), 30, 90


def ground(x, z):
    """The height of the ground, metres."""
    return 0.09 * np.sin(2.6 * z) + 0.05 * np.sin(3.7 * x + 1.1 * z)


def slope(x, z, part, step=0.06):
    """The rotations (..., 4) by a part of the way from flat to the ground's slope."""
    dx = part * (ground(x + step, z) - ground(x - step, z)) / (2 * step)
    dz = part * (ground(x, z + step) - ground(x, z - step)) / (2 * step)
    turn = np.stack([-dz, 0 * dx, dx, 1 + np.sqrt(1 + dx**2 + dz**2)], -1)
    return turn / np.linalg.norm(turn, axis=-1, keepdims=True)


def step_on(player):
    """Feet on the ground, hips so low that the lower foot can stand."""
    x, y, z = player.points(feet)[0].astype(float).T
    high, base = ground(x, z), player.places[0, 1, 3]
    over = y - base  # the flat ground that the clip was made for
    player.places[0, 1, 3] += 0.3 * (high.min() - base)  # softly
    tilts = slope(x, z, np.clip(1 - (over - flat) / 0.12, 0, 1))  # less in the air
    legs.apply(player, np.stack([x, over + high, z], -1), tilts=tilts)


plain = flexor.samples.mannequin()
# The ground: one more surface of its mesh, tied to no joint, with lines of height.
x, z = np.meshgrid(np.linspace(-1, 1, 80), np.linspace(-1, 5, 240))
points = np.stack([x, ground(x, z), z], -1).reshape(-1, 3)
corners = np.add.outer(np.arange(239) * 80, np.arange(79)).reshape(-1, 1)
lines = 0.35 + 0.1 * np.sin(2 * np.pi * points[:, 1:2] / 0.04).round() * [1, 1, 1]
faces = np.add(corners, [[0, 80, 1, 1, 80, 81]]).ravel()
hills = Primitive(points, colours=(lines,), indices=faces)
mesh = replace(plain.meshes[0], primitives=(*plain.meshes[0].primitives, hills))
hero = flexor.Character(replace(plain.scene, meshes=(mesh,)))

feet = ["l-ankle", "r-ankle"]
flat = flexor.Player(hero).points(feet)[0, 0, 1]  # an ankle's height over flat ground
legs = flexor.Limbs(hero, ["left leg", "right leg"], keeps=True)
way = steady_motion(hero.clips["walk"].duration, (0, 0, 1.35))  # metres a second
players = [flexor.Player(hero, root_motion={"walk": way}) for _ in range(2)]
drawer = flexor.Drawer(hero, SIZE, flexor.DrawStyle(shadow=False))
camera = flexor.Drawer(plain, SIZE).fit("walk", direction=direction_of(1.1, 0.15))
rows = [[], []]
Path("out").mkdir(exist_ok=True)
with open_movie("out/feet.webp", SIZE, FPS) as movie:
    for frame in range(FRAMES):
        for player, row in zip(players, rows, strict=True):
            if frame == 0:
                player.play("walk")
            player.advance(1 / FPS)
            if row is rows[1]:
                step_on(player)
            pose = player.pose
            pose.world[hero.skeleton.index("mannequin")] = np.eye(3, 4)  # the ground
            picture = drawer.draw(pose, camera.moved(player.places[0, :, 3]))
            row += [picture.copy()] if frame % 18 == 9 else []
        movie.add(picture)
save_image("out/feet.png", join_pictures(rows[0] + rows[1], columns=len(rows[0])))
print(f"wrote {movie.path}: {FRAMES} frames, and out/feet.png")
