"""Links in skins that were bound in other poses, as programs with one rest see them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.convert.links.link_bones import LinkSettings
from flexor.convert.links.same_rest import with_same_rest
from flexor.convert.shape.body import gather_bodies
from flexor.maths import transforms
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import link, tube_scene

AWAY = (0.25, 0, -0.5)


def dressed(off: Any = AWAY, joints: Any = (0, 1, 2), dresses: int = 1) -> Scene:
    """A tube, and the same again with skins of their own, bound `off` from it."""
    scene = tube_scene(3)
    (skin,) = scene.skins
    binds = skin.inverse_binds[list(joints)].copy()
    binds[:, :, 3] += off
    other = replace(skin, joints=skin.joints[list(joints)], inverse_binds=binds)
    (mesh,) = scene.meshes
    (primitive,) = mesh.primitives
    assert primitive.skin is not None
    held = np.minimum(primitive.skin.joints, len(joints) - 1)
    tied = replace(primitive.skin, joints=held)
    dress = replace(mesh, primitives=(replace(primitive, skin=tied),))
    skeleton = scene.skeleton
    rows = [*range(len(skeleton)), *[3] * dresses]
    parts: dict[str, Any] = {
        name: getattr(skeleton, name)[rows]
        for name in ("parents", "translations", "rotations", "scales")
    }
    names = (*skeleton.names, *(f"dress{n}" for n in range(dresses)))
    worn = np.array([-1, -1, -1, *range(dresses + 1)])
    return replace(
        scene,
        skeleton=replace(skeleton, names=names, **parts),
        meshes=(mesh, *[dress] * dresses),
        node_mesh=worn,
        node_skin=worn.copy(),
        skins=(skin, *[other] * dresses),
    )


def rests(scene: Scene) -> dict[int, Any]:
    """By node where it stands at rest, seen from the joint above: where the last skins
    that have both were bound.
    """
    bound: dict[int, Any] = {}
    for skin in scene.skins:
        binds = skin.inverse_binds.astype(np.float64)
        bound |= dict(zip(skin.joints.tolist(), binds, strict=True))
    parents = scene.skeleton.parents.tolist()
    return {
        node: transforms.multiply(bound[parents[node]], transforms.invert(bind))
        for node, bind in bound.items()
        if parents[node] in bound
    }


@pytest.mark.parametrize("dresses", [1, 2])
def test_links_stand_where_their_joint_does(dresses: int) -> None:
    scene = dressed(dresses=dresses)
    assert len(gather_bodies(scene)) == 2
    new, _ = link(scene, [{1: LinkSettings()}, {}])
    found, links = rests(new), new.skeleton.links
    assert len(links) == 3
    for node, one in links.items():
        np.testing.assert_allclose(found[node], found[one.joint], atol=1e-6)
    # Skins that were alike still are, and no weight is on what they were given.
    assert len(gather_bodies(new)) == 2
    assert [len(skin.joints) for skin in new.skins] == [6] * (dresses + 1)
    for before, after in zip(scene.meshes[1:], new.meshes[1:], strict=True):
        assert after is before


def test_fitted_links_keep_their_way_from_the_joint() -> None:
    """Where a joint at rest stands otherwise than where it was bound."""
    scene = dressed()
    places = scene.skeleton.translations.copy()
    places[1] += (0, 1, 0)
    moved = replace(scene, skeleton=replace(scene.skeleton, translations=places))
    new, _ = link(moved, [{1: LinkSettings(count=1)}, {}])
    found = rests(new)
    (node,) = new.skeleton.links
    away = found[1][:, 3] - found[node][:, 3]
    np.testing.assert_allclose(np.abs(away), [0, 0.5, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("scene", "which"),
    [
        (dressed((0, 0, 0)), 0),  # bound alike: one rest, whichever skin is asked
        (dressed(joints=(0,)), 0),  # that skin has not the joint
        (dressed(), 1),  # the last skin has the links
    ],
)
def test_nothing_to_do(scene: Scene, which: int) -> None:
    bodies = gather_bodies(scene)
    wanted: list[dict[int, LinkSettings]] = [{} for _ in bodies]
    wanted[which] = {1: LinkSettings()}
    new, _ = link(scene, wanted)
    groups = [body.skins for body in bodies]
    assert with_same_rest(new, new.skeleton.links, groups) is new
    counts = [len(one.joints) for one in new.skins]
    grown = [len(one.joints) + 3 for one in scene.skins]
    own = set(bodies[which].skins)
    for number, one in enumerate(scene.skins):
        assert counts[number] == (grown[number] if number in own else len(one.joints))
