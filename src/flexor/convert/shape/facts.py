"""Bodies and scenes with what follows from them, each made once, when first asked for.

What many passes need (surfaces, bones, the layout, the rest pose) is kept with the body
or scene that it was made from and handed along with it. Where only weights change, what
does not depend on them is shared between the old and the new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.shape.body import (
    Body,
    Pull,
    body_surface,
    gather_bodies,
    merge_same,
    with_pulls,
)
from flexor.convert.shape.deform_body import clip_poses
from flexor.convert.shape.sections import Shape, derive_shape
from flexor.convert.shape.surface import Surface, make_surface
from flexor.maths.once import once
from flexor.pose.ik.human_limits import human_limits
from flexor.pose.layout import Layout, make_layout
from flexor.scene.character.limits import Limits
from flexor.scene.character.skeleton import Link, rest_world
from flexor.scene.human.human import find_human
from flexor.scene.scene import Scene

__all__ = ["BodyFacts", "SceneFacts"]

Places = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class _Form:
    """Vertices and faces, whatever they hang on: arrays as of a Body."""

    positions: NDArray[np.float64]
    normals: NDArray[np.float64]
    faces: Ints

    @once
    def surface(self) -> Surface:
        """The surface by place."""
        return make_surface(self.positions, self.normals, self.faces)

    @once
    def area(self) -> float:
        """Of all triangles, square metres."""
        corners = self.positions[self.faces]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return float(np.linalg.norm(across, axis=1).sum()) / 2


@dataclass(frozen=True, eq=False)
class BodyFacts:
    """A body and what follows from it; form: shared by bodies that differ in weights or
    marks alone, None for one of its own.
    """

    body: Body
    form: _Form | None = None

    @once
    def own_form(self) -> _Form:
        """The form, shared or not."""
        body = self.body
        return self.form or _Form(body.positions, body.normals, body.faces)

    def with_pull(self, pull: Pull) -> BodyFacts:
        """The body with other weights."""
        return BodyFacts(replace(self.body, pull=pull), self.own_form)

    def without_links(self, links: Mapping[int, Link]) -> BodyFacts:
        """The body with what its links pull hung on their joints, as it was before it
        had them; links: of its scene, by node.
        """
        rows = self.body.joint_rows(links)
        if (rows == np.arange(len(rows))).all():
            return self
        pull = self.body.pull
        names = np.where(pull.joints >= 0, rows[pull.joints], -1).astype(np.int32)
        return self.with_pull(merge_same(names, pull.weights))

    @property
    def by_place(self) -> Surface:
        """The surface as if vertices in one place hung alike."""
        return self.own_form.surface

    @property
    def area(self) -> float:
        """Of all triangles in the bind pose, square metres."""
        return self.own_form.area

    @once
    def surface(self) -> Surface:
        """The surface: vertices in one place that hang alike are one point."""
        return body_surface(self.body)

    @once
    def shape(self) -> Shape:
        """Bones and cross-sections on the surface."""
        return derive_shape(self.body, self.surface)

    @once
    def shape_by_place(self) -> Shape:
        """Bones and cross-sections on the surface by place."""
        return derive_shape(self.body, self.by_place)


@dataclass(frozen=True, eq=False)
class _Rig:
    """What follows from the skeleton, morphs and clips of a scene, not its weights."""

    scene: Scene

    @once
    def world(self) -> NDArray[np.float64]:
        return rest_world(self.scene.skeleton)

    @once
    def layout(self) -> Layout:
        return make_layout(self.scene)

    @once
    def poses(self) -> Floats:
        return clip_poses(self.scene, self.layout)

    @once
    def limits(self) -> Limits:
        human = find_human(self.scene.skeleton, self.scene.carried)
        return human_limits(self.scene.skeleton, human)


@dataclass(frozen=True, eq=False)
class SceneFacts:
    """A scene and what follows from it.

    rigid: for each mesh whether it is marked as rigid, none: no mesh is; rig: shared by
    scenes that differ in weights alone, None for one of its own; forms: of bodies that
    are known, by the surfaces they are made of.
    """

    scene: Scene
    rigid: Sequence[bool] = ()
    rig: _Rig | None = None
    forms: Mapping[Places, _Form] = field(default_factory=dict)

    @once
    def own_rig(self) -> _Rig:
        """The rig, shared or not."""
        return self.rig or _Rig(self.scene)

    @once
    def bodies(self) -> tuple[BodyFacts, ...]:
        """Every body, in the order of `gather_bodies`."""
        found = gather_bodies(self.scene, self.rigid, self.world)
        return tuple(BodyFacts(body, self.forms.get(body.places)) for body in found)

    @property
    def world(self) -> NDArray[np.float64]:
        """world_from_node (J, 3, 4) of every node at rest."""
        return self.own_rig.world

    @property
    def layout(self) -> Layout:
        """How the skeleton is laid out while it moves."""
        return self.own_rig.layout

    @property
    def poses(self) -> Floats:
        """Local transforms (N, 10 * L) at times of the clips; see clip_poses."""
        return self.own_rig.poses

    @property
    def limits(self) -> Limits:
        """How far nodes turn, where they are parts of a human body; else free."""
        return self.own_rig.limits

    def with_pulls(self, pulls: Mapping[int, Pull]) -> SceneFacts:
        """The scene with other weights for some bodies, by their number."""
        bodies = [facts.body for facts in self.bodies]
        scene = with_pulls(self.scene, pulls, bodies)
        pairs = zip(scene.meshes, self.scene.meshes, strict=True)
        if all(new is old for new, old in pairs):
            return self
        return SceneFacts(scene, self.rigid, self.own_rig, self._known_forms())

    def with_scene(self, scene: Scene) -> SceneFacts:
        """Another scene of the same meshes: other weights, or nodes and skins more."""
        rig = self.own_rig if scene.skeleton is self.scene.skeleton else None
        return SceneFacts(scene, self.rigid, rig, self._known_forms())

    def _known_forms(self) -> dict[Places, _Form]:
        return {facts.body.places: facts.own_form for facts in self.bodies}
