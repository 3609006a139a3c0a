"""Hit volumes made of cross-sections: around the skin, and named by parts."""

from __future__ import annotations

import numpy as np
import pytest

import flexor
from flexor.convert.shape.hit_volumes import make_volumes
from flexor.maths import transforms
from flexor.scene.character.skeleton import rest_world
from flexor.scene.scene import Scene
from flexor.scene.stage.volumes import HitVolumes
from tests.convert.shape.tubes import tube_scene
from tests.scenes import plain_scene


@pytest.fixture(scope="module")
def mannequin() -> Scene:
    return flexor.samples.mannequin().scene


def distances(volumes: HitVolumes, scene: Scene, points: np.ndarray) -> np.ndarray:
    """Metres (P,) from points to the nearest capsule at rest, below 0 inside."""
    world = rest_world(scene.skeleton)[volumes.nodes]
    ends = transforms.apply(world, volumes.ends)
    found = np.full(len(points), np.inf)
    for (a, b), radius in zip(ends, volumes.radii, strict=True):
        way = b - a
        square = max(float(way @ way), 1e-12)
        along = np.clip((points - a) @ way / square, 0, 1)
        away = np.linalg.norm(points - a - along[:, None] * way, axis=1)
        found = np.minimum(found, away - radius)
    return found


def test_capsules_fill_the_body(mannequin: Scene) -> None:
    volumes = make_volumes(mannequin)
    hero = flexor.samples.mannequin()
    skin = np.concatenate([part.positions for part in hero.deform(hero.pose())])
    away = distances(volumes, mannequin, skin)
    size = np.ptp(skin[:, 1])
    assert np.quantile(np.abs(away), 0.9) < 0.03 * size
    assert away.min() > -0.06 * size, "no vertex is deep inside"
    assert (away < 0.01 * size).mean() > 0.6


def test_parts_have_the_names_of_a_body(mannequin: Scene) -> None:
    volumes = make_volumes(mannequin)
    for side in ("left", "right"):
        for part in ("Hand", "LowerArm", "UpperArm", "Foot", "LowerLeg", "UpperLeg"):
            assert len(volumes.rows([f"{side}{part}"]))
    assert {"head", "hips", "spine"} <= set(volumes.parts)
    # Left and right are alike, and a thigh is thicker than a forearm.
    thick = {
        part: volumes.radii[volumes.rows([part])].max() for part in set(volumes.parts)
    }
    assert thick["leftFoot"] == pytest.approx(thick["rightFoot"], rel=0.05)
    assert thick["leftUpperLeg"] > thick["leftLowerArm"]


def test_a_tube_is_a_capsule_of_its_radius() -> None:
    scene = tube_scene(4.0)
    volumes = make_volumes(scene)
    assert len(volumes) == 2
    np.testing.assert_allclose(volumes.radii, 1.0, rtol=0.1)
    assert volumes.parts == tuple(scene.skeleton.names[node] for node in volumes.nodes)


def test_what_has_no_skin_has_no_volumes(mannequin: Scene) -> None:
    assert len(make_volumes(plain_scene(mannequin.skeleton))) == 0
