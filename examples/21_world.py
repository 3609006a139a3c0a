# test: run
"""A third-person game: a hero on hills among fifty others, seen from behind.

Writes out/world.webp; `python examples/21_world.py window` is played with arrow keys.
"""

import sys
from pathlib import Path

import numpy as np

import flexor
from flexor.output.movie import open_movie
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.plan import StagePlan

SIZE, WALK, EYES = (960, 540), 1.35, 1.6  # pixels; metres a second; metres
rng = np.random.default_rng(3)
hero = flexor.samples.mannequin()
hills = [
    Patch(middle=tuple(rng.uniform(-30, 30, 2)), radius=4, height=high, edge=5)
    for high in rng.uniform(-0.6, 1.2, 25)
]
world = flexor.World(StagePlan(ground=shape_ground((90, 90), 0.75, hills, rough=0.04)))
layers = "base", flexor.Layer("above", mask="spine0")
player = world.add(flexor.Player(hero, layers=layers), colour=(1, 0.5, 0.4, 1))
crowd = world.add(flexor.Crowd(hero, 50))
crowd.place[:, [0, 2]] = rng.uniform(-12, 12, (50, 2))
crowd.heading[:] = rng.uniform(-3, 3, 50)
crowd.colour[:, :3] = rng.uniform(0.4, 1.2, (50, 3))
crowd.play("idle", time=rng.uniform(0, 2, 50))
look, heading, does = flexor.Look(hero), 0.0, ""


def step(turn, ahead, wave=False):
    """A sixtieth of a second; turn: -1 to 1, 1 to the right; ahead: 0 or 1."""
    global heading, does
    heading -= 2.2 * turn / 60
    wanted = "walk" if ahead else "idle"
    if does != wanted:
        does = wanted
        player.play(does, fade=0.2)
    if wave:
        player.play("cheer", mode="once", layer="above", fade=0.2, leave=0.3)
    s, c = np.sin(heading), np.cos(heading)
    player.places[0, :, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    player.places[0, [0, 2], 3] += np.array([s, c]) * WALK * ahead / 60
    world.advance(1 / 60)
    away = np.linalg.norm(crowd.place - player.places[0, :, 3], axis=1)
    look.apply(player, crowd.place[away.argmin()] + (0, EYES, 0))


def draw(size):
    """The picture, from behind the hero."""
    place = player.places[0, :, 3]
    eye = place - 4.2 * np.array([np.sin(heading), 0, np.cos(heading)])
    eye[1] = max(place[1], world.ground.height(eye[0], eye[2])) + 2.1
    camera = flexor.Camera(eye=tuple(eye), target=(place[0], place[1] + 1, place[2]))
    return world.draw(size, camera)


if "window" in sys.argv:
    import pygame

    screen, clock = pygame.display.set_mode(SIZE), pygame.time.Clock()
    while not pygame.event.get(pygame.QUIT):
        keys = pygame.key.get_pressed()
        step(keys[pygame.K_RIGHT] - keys[pygame.K_LEFT], keys[pygame.K_UP])
        screen.blit(pygame.image.frombuffer(draw(SIZE), SIZE, "RGBX"), (0, 0))
        pygame.display.flip()
        clock.tick(60)
else:
    Path("out").mkdir(exist_ok=True)
    with open_movie("out/world.webp", SIZE, 20) as movie:
        for frame in range(40):
            for part in range(3):
                step(0.4 * np.sin(frame / 6), 1, wave=frame == 12 and part == 0)
            movie.add(draw(SIZE))
    print(f"wrote {movie.path}: {world.counts}")
