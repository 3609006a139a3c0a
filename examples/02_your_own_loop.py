# test: run
"""A game loop of your own: 20 walkers, no memory made after the first frame."""

import numpy as np

import flexor
from flexor.deform.vertices import init_skin, skin_vertices
from flexor.pose.moving import init_moving, move

COUNT, FRAMES = 20, 60

hero = flexor.samples.mannequin()
clip = hero.clip_tables("walk")
state = init_moving(clip, hero.layout, COUNT)
world = state.world
rng = np.random.default_rng(1)
moments = rng.uniform(0, clip.duration, COUNT).astype(np.float32)

# Where they stand: four rows of five, two metres apart.
world.places[:, 0, 3] = np.arange(COUNT) % 5 * 2
world.places[:, 2, 3] = np.arange(COUNT) // 5 * 2

# Room for the skin of each primitive; the mannequin has one, without morphs.
(bind,) = hero.binds
skin = init_skin(bind, COUNT)
weights = np.zeros((COUNT, len(bind.deltas)), np.float32)
positions = np.empty((COUNT, bind.vertex_count, 3), np.float32)
normals = np.empty_like(positions)

speed = hero.clips["walk"].carried["extras"]["speed"]
hand = hero.skeleton.index("r-hand")
for _ in range(FRAMES):
    moments += np.float32(1 / 60)
    moments %= np.float32(clip.duration)
    world.places[:, 2, 3] += speed / 60
    move(state, moments)  # a step forward looks at the next key only
    skin_vertices(skin, world.matrices, weights, positions=positions, normals=normals)
    # Draw positions and normals here. A thing held in the hand goes by this matrix:
    hand_matrices = world.matrices[:, hand]  # (COUNT, 3, 4)

print(f"{COUNT} walkers, {FRAMES} frames, {positions.shape[1]:,} vertices each")
print(f"they now stand between z = {positions[..., 2].min():.2f}", end=" ")
print(f"and {positions[..., 2].max():.2f} m")
print(f"the first one's right hand is at {hand_matrices[0, :, 3].round(2)} m")
