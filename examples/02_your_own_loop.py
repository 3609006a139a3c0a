# test: run
"""A game loop of your own: 50 walkers, no memory made after the first frame."""

import numpy as np

import flexor
from flexor.pose.model_space import init_world, world_from_local
from flexor.pose.sample import init_sample, sample

COUNT, FRAMES = 50, 60

hero = flexor.samples.mannequin()
clip = hero.clip_tables("walk")
states = init_sample(clip, hero.layout, COUNT)
world = init_world(hero.layout, COUNT)
rng = np.random.default_rng(1)
moments = rng.uniform(0, clip.duration, COUNT).astype(np.float32)

head = hero.skeleton.index("head")
lowest, highest = np.inf, -np.inf
for _ in range(FRAMES):
    moments += np.float32(1 / 60)
    moments %= np.float32(clip.duration)
    sample(states, moments)  # a step forward looks at the next key only
    world_from_local(world, states.local)
    heights = world.matrices[:, head, 1, 3]
    lowest, highest = min(lowest, heights.min()), max(highest, heights.max())

print(f"{COUNT} walkers, {FRAMES} frames")
print(f"their heads bob between {lowest:.3f} and {highest:.3f} m")
