# test: run
"""Thousands of posed meshes as arrays: random arms, all cores, one call."""

import numpy as np

import flexor

COUNT = 200

hero = flexor.samples.mannequin()
rng = np.random.default_rng(7)

# Turn every arm joint by up to 30 degrees about a random axis.
names = hero.skeleton.names
ENDINGS = ("-arm", "-elbow", "-wrist")
arms = [i for i, name in enumerate(names) if name.endswith(ENDINGS)]
axes = rng.normal(size=(COUNT, len(arms), 3))
axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
half = rng.uniform(0, np.radians(15), (COUNT, len(arms), 1))
turns = np.concatenate([axes * np.sin(half), np.cos(half)], axis=-1)


def multiply(a, b):
    """Product of quaternions (..., 4): b first, then a."""
    u, v, s, t = a[..., :3], b[..., :3], a[..., 3:], b[..., 3:]
    vector = s * v + t * u + np.cross(u, v)
    return np.concatenate([vector, s * t - (u * v).sum(-1, keepdims=True)], -1)


rotations = np.repeat(hero.skeleton.rotations[None], COUNT, axis=0)
rotations[:, arms] = multiply(rotations[:, arms], turns)

skin = hero.deform_many(hero.pose_from(rotations=rotations))
positions = skin[0].positions
print(f"positions {positions.shape}, {positions.nbytes / 1e6:.1f} MB")
print(f"spread of each vertex, mean: {positions.std(axis=0).mean() * 100:.2f} cm")
