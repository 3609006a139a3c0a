"""The character as programs hold it: a scene, and what moving it needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexor.api.again import Again, copy_pose
from flexor.api.pose_parts import check_parts
from flexor.api.skins import (
    Method,
    SkinnedPrimitive,
    Weights,
    check_method,
    check_weights,
    room_for,
    skin_dual,
    skin_linear,
)
from flexor.arrays import Floats, check_array
from flexor.errors import SettingError, ShapeError
from flexor.maths import threads
from flexor.maths.once import once
from flexor.pose.clip_tables import ClipTables, pack_clip
from flexor.pose.layout import ROWS, Layout, make_layout
from flexor.pose.pose import Pose
from flexor.scene.character.clip import Clip
from flexor.scene.character.mesh import Mesh
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.finding import Finding
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene

if TYPE_CHECKING:
    from flexor.deform.bind import Bind
    from flexor.deform.envelope import EnvelopeState
    from flexor.scene.runtime.envelope import Envelopes, SomeEnvelopes
    from flexor.scene.runtime.levels import Levels
    from flexor.scene.runtime.package import GivenEnvelopes, Package

__all__ = ["Character"]


class Character:
    """A character read from a file: `load` gives it, `save` writes it.

    Nothing in it changes: poses and skins are new arrays on each call, or those that
    `out` names, so one character can be used from several threads at once.
    """

    def __init__(self, source: Scene | Package) -> None:
        self._source = source
        self._clips: dict[str, ClipTables] = {}
        self._spare: list[EnvelopeState] = []  # for one weight
        self._again = Again()

    def __reduce__(self) -> tuple[Any, ...]:
        state = {key: self.__dict__[key] for key in ("layout",) if key in self.__dict__}
        source: Scene | Package = self.scene
        # Envelopes are large and can be made again; levels as they are cannot.
        if self.given_levels is not None:
            from flexor.scene.runtime.package import Package

            source = Package(self.scene, None, self.given_levels)
        return Character, (source,), state

    def __repr__(self) -> str:
        return (
            f"Character({len(self.skeleton)} nodes, {len(self.meshes)} meshes, "
            f"{len(self.clips)} clips)"
        )

    def _repr_png_(self) -> bytes | None:
        """A small picture, shown by notebooks."""
        from flexor.api.pictures.drawing import picture_png

        return picture_png(self)

    @once
    def scene(self) -> Scene:
        """All that the file says."""
        return self._source if isinstance(self._source, Scene) else self._source.scene

    @property
    def skeleton(self) -> Skeleton:
        """The node tree."""
        return self.scene.skeleton

    @property
    def meshes(self) -> tuple[Mesh, ...]:
        """The meshes, in file order."""
        return self.scene.meshes

    @property
    def clips(self) -> Mapping[str, Clip | PackedClip]:
        """The clips by name, in file order."""
        return self.scene.clips

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd in the file, and what was mended."""
        return self.scene.findings

    @once
    def layout(self) -> Layout:
        """The skeleton as the pose kernels see it; solvers go by which layout it is."""
        return make_layout(self.scene)

    @once
    def binds(self) -> list[Bind]:
        """The primitives of the default scene as the deform kernels see them."""
        from flexor.deform.bind import bind_scene

        return bind_scene(self.scene)

    @once
    def envelopes(self) -> Envelopes:
        """The surfaces sorted by the joints that pull them: all weights, and one.

        Those that no package brought are made when first asked for, in up to some
        seconds.
        """
        from flexor.convert.envelope.make import complete_envelopes

        return complete_envelopes(self.scene, self.given_envelopes)

    @property
    def given_envelopes(self) -> GivenEnvelopes:
        """The envelopes that a package brought, or `with_envelopes`; None: neither."""
        return None if isinstance(self._source, Scene) else self._source.envelopes

    @property
    def given_levels(self) -> Levels | None:
        """The levels of detail that a package brought, or `with_levels`; those alone
        are saved.
        """
        return None if isinstance(self._source, Scene) else self._source.levels

    @once
    def levels(self) -> Levels:
        """The character with fewer nodes, influences and triangles, level by level.

        A package may bring them; otherwise they are made when first asked for, in some
        seconds, which needs the extra "codecs", and kept for later programs.
        """
        if self.given_levels is not None:
            return self.given_levels
        from flexor.api.kept_levels import kept_levels

        return kept_levels(self.scene)

    def with_envelopes(self, envelopes: Envelopes | SomeEnvelopes) -> Character:
        """The same character with envelopes that were made in another way."""
        from flexor.scene.runtime.package import Package, check_envelopes

        check_envelopes(envelopes, self.scene)
        return Character(Package(self.scene, envelopes, lambda _: self.given_levels))

    def with_one_weight(self, *patterns: str) -> Character:
        """The same character, of which only named parts have one weight where one is
        asked for (`weights="one"`, `WeightRule`); all others keep all weights.

        patterns: of names of joints, for the vertices that they pull most, and of
        meshes or their nodes, for all of these; without any, the whole has one.
        """
        from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
        from flexor.scene.runtime.envelope import SomeEnvelopes

        made = convert_scene(self.scene, EnvelopeSettings(one_parts=patterns))[0]
        multi = getattr(self.given_envelopes, "multi", None)
        return self.with_envelopes(SomeEnvelopes(multi, made.one))

    def with_levels(self, levels: Levels | None) -> Character:
        """The same character with these levels of detail; None: with none given."""
        from flexor.scene.runtime.levels import Levels, check_levels
        from flexor.scene.runtime.package import Package

        if levels is not None:
            if not isinstance(levels, Levels):
                raise ShapeError(f"levels: {type(levels).__name__}, expected Levels")
            check_levels(levels, self.scene)
        return Character(Package(self.scene, lambda _: self.given_envelopes, levels))

    def with_clips(
        self, clips: Mapping[str, Clip | PackedClip], *, only: bool = False
    ) -> Character:
        """The same character with these clips, by name, after its own; of the same
        name in their place. only: without its own.
        """
        named = {
            name: dataclasses.replace(clip, name=name) for name, clip in clips.items()
        }
        kept = named if only else {**self.clips, **named}
        scene = dataclasses.replace(self.scene, clips=kept)
        source = self._source
        if isinstance(source, Scene):
            return Character(scene)
        from flexor.scene.runtime.package import Package

        return Character(
            Package(scene, lambda _: source.envelopes, lambda _: source.levels)
        )

    def without(self, *patterns: str) -> Character:
        """The same character without the meshes that patterns of names fit, of meshes
        or of nodes that have one; skeleton, clips and links stay.

        `*` and `?` stand for letters, such as "*Shield*". Envelopes and levels of what
        is left are made when they are asked for.
        """
        from flexor.convert.leave_out import leave_out_meshes

        return Character(leave_out_meshes(self.scene, patterns))

    def envelope_state(self, weights: Weights) -> EnvelopeState:
        """New work space for one of the envelopes, for one thread."""
        from flexor.deform.envelope import init_envelope

        check_weights(weights)
        columns = {node: row for node, (row, _) in self.layout.morph_columns.items()}
        own = getattr(self.given_envelopes, weights, None)
        if own is None:
            own = getattr(self.envelopes, weights)
        return init_envelope(own, columns)

    def clip_tables(self, name: str) -> ClipTables:
        """A clip as the sampling kernels see it; laid out on first use."""
        if name not in self._clips:
            if name not in self.clips:
                there = ", ".join(repr(clip) for clip in self.clips) or "none"
                raise SettingError(f"no clip {name!r}; there are: {there}")
            self._clips[name] = pack_clip(self.clips[name], self.layout)
        return self._clips[name]

    def pose(
        self, clip: str | None = None, time: float = 0.0, out: Pose | None = None
    ) -> Pose:
        """The pose at `time` seconds of a clip, clamped to it; without a clip, at rest.

        out: a pose of an earlier call, to be overwritten: a few times as quick.

        Examples
        --------
        >>> import flexor
        >>> hero = flexor.samples.mannequin()
        >>> pose = hero.pose("walk", 0.4)
        >>> pose.world.shape == (len(hero.skeleton), 3, 4)
        True
        >>> hero.pose("walk", 0.5, out=pose) is pose
        True
        """
        if clip is not None:
            return self._again.pose(self.clip_tables(clip), time, out)
        rest = self.pose_many(None, [time])[0]
        return rest if out is None else copy_pose(rest, out)

    def pose_many(self, clip: str | None, times: ArrayLike) -> Pose:
        """Poses at N times in seconds, each clamped to the clip: arrays (N, ...)."""
        try:
            seconds = np.array(times, np.float64, ndmin=1)
        except (TypeError, ValueError):
            raise SettingError(f"times: {times!r} are no numbers of seconds") from None
        if seconds.ndim != 1:
            raise ShapeError(f"times: shape {seconds.shape}, expected (N,)")
        if not np.isfinite(seconds).all():
            raise SettingError("times: must be finite numbers of seconds")
        moments = np.clip(seconds, -1e30, 1e30).astype(np.float32)
        if clip is None:
            local = np.tile(self.layout.rest, (len(moments), 1))
            weights = np.tile(self.layout.rest_weights, (len(moments), 1))
            return self.pose_of(local, weights)
        from flexor.pose.moving import init_moving, move

        state = init_moving(self.clip_tables(clip), self.layout, len(moments))
        local = move(state, moments).sampled.local
        return Pose.from_lanes(
            local, self.layout, state.world.matrices, state.sampled.weights
        )

    def pose_from(
        self,
        translations: ArrayLike | None = None,
        rotations: ArrayLike | None = None,
        scales: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Pose:
        """A pose of your own local transforms; what is left out is at rest.

        translations: (J, 3), rotations: (J, 4) xyzw of unit length, scales: (J, 3),
        weights: (W,); or any of them with an axis N in front for N poses at once.
        """
        rest = self.skeleton
        parts = {
            "translations": (translations, rest.translations),
            "rotations": (rotations, rest.rotations),
            "scales": (scales, rest.scales),
            "weights": (weights, self.layout.rest_weights),
        }
        given, count = check_parts(parts)
        order, nodes = self.layout.node_of_lane, len(rest)
        local = np.tile(self.layout.rest, (1 if count is None else count, 1))
        rows = local.reshape(len(local), ROWS, self.layout.lane_count)
        rows[:, 0:3, :nodes] = np.swapaxes(given["translations"], -1, -2)[..., order]
        rows[:, 3:7, :nodes] = np.swapaxes(given["rotations"], -1, -2)[..., order]
        rows[:, 7:10, :nodes] = np.swapaxes(given["scales"], -1, -2)[..., order]
        own = np.empty((len(local), len(self.layout.rest_weights)), np.float32)
        own[:] = given["weights"]
        many = self.pose_of(local, own)
        return many if count is not None else many[0]

    def pose_of(self, local: Floats, weights: Floats) -> Pose:
        """A pose of N moments of transforms by lanes (N, 10 * L); links are put right.

        weights: (N, W), morph weights.
        """
        from flexor.pose.model_space import init_world, world_from_local

        if self.layout.links is not None:
            from flexor.pose.links import follow_links

            follow_links(self.layout, local)
        state = world_from_local(init_world(self.layout, len(local)), local)
        return Pose.from_lanes(local, self.layout, state.matrices, weights)

    def posed(self, pose: Pose) -> Character:
        """A character that stands in `pose` at rest, without clips.

        Its links are plain nodes, as the pose has them. Saved, it is a file that every
        viewer shows in that pose.
        """
        if pose.is_many or len(pose.world) != len(self.skeleton):
            raise ShapeError("posed: expected one pose of this character")
        parts = (pose.translations, pose.rotations, pose.scales, pose.weights)
        if not all(np.isfinite(part).all() for part in parts):
            raise ShapeError("posed: the pose is not finite")
        skeleton = Skeleton(
            self.skeleton.names,
            self.skeleton.parents,
            pose.translations.copy(),
            pose.rotations.copy(),
            pose.scales.copy(),
        )
        weights = {
            node: pose.weights[first : first + count].copy()
            for node, (first, count) in self.layout.morph_columns.items()
        }
        scene = dataclasses.replace(
            self.scene, skeleton=skeleton, clips={}, node_weights=weights
        )
        return Character(scene)

    def deform(
        self,
        pose: Pose,
        out: list[SkinnedPrimitive] | None = None,
        *,
        weights: Weights = "multi",
        method: Method = "linear",
    ) -> list[SkinnedPrimitive]:
        """The skin at a pose: every primitive of the default scene, in world space.

        out: a result of an earlier call, to be overwritten; weights: "one" for the
        largest weight of each vertex alone, which will do at a distance and is quicker
        for many poses at once; method: "dual" to blend by dual quaternions, which keeps
        twisted limbs round; with one weight both are the same.

        Examples
        --------
        >>> import flexor
        >>> hero = flexor.samples.mannequin()
        >>> pose = hero.pose("walk")
        >>> skin = hero.deform(pose)
        >>> for step in range(3):
        ...     pose = hero.pose("walk", step / 60, out=pose)
        ...     skin = hero.deform(pose, out=skin)
        """
        if pose.is_many:
            raise ShapeError(f"a pose of {len(pose)} moments; use deform_many for it")
        if weights == "multi" and method == "linear":
            self._check_pose(pose.world.shape, pose.weights.shape)
            skins = room_for(self.binds) if out is None else out
            if self._again.skin(self.binds, pose, skins):
                return skins
        many = Pose(
            pose.translations[None],
            pose.rotations[None],
            pose.scales[None],
            pose.world[None],
            pose.weights[None],
        )
        if out is None:
            out = room_for(self.binds)
        room = [
            SkinnedPrimitive(s.node, s.primitive, s.positions[None], s.normals[None])
            for s in out
        ]
        self.deform_many(many, room, weights=weights, method=method)
        return out

    def deform_many(
        self,
        poses: Pose,
        out: list[SkinnedPrimitive] | None = None,
        *,
        weights: Weights = "multi",
        method: Method = "linear",
    ) -> list[SkinnedPrimitive]:
        """The skin at N poses, on all cores: positions and normals (N, V, 3).

        out: a result of an earlier call with as many poses, to be overwritten; without
        it new arrays are made, 24 bytes a vertex and pose; weights, method: see deform.
        """
        check_weights(weights)
        check_method(method)
        if not poses.is_many:
            raise ShapeError("a pose of one moment; use deform for it")
        count = len(poses)
        self._check_pose(poses.world.shape, poses.weights.shape, (count,))
        skins = room_for(self.binds, (count,)) if out is None else out
        if len(skins) != len(self.binds):
            wanted = len(self.binds)
            raise ShapeError(f"out: {len(skins)} primitives, expected {wanted}")
        for bind, skin in zip(self.binds, skins, strict=True):
            shape = (count, bind.vertex_count, 3)
            check_array(skin.positions, np.float32, shape, "out.positions")
            check_array(skin.normals, np.float32, shape, "out.normals")
        world = np.ascontiguousarray(poses.world, np.float32)
        if weights == "one":
            self._skin_one(world, poses.weights, skins)
        else:
            self._skin_multi(world, poses.weights, skins, method)
        return skins

    def _check_pose(
        self,
        world: tuple[int, ...],
        weights: tuple[int, ...],
        many: tuple[int, ...] = (),
    ) -> None:
        """Refuse the shapes of a pose of another character."""
        nodes, columns = len(self.skeleton), len(self.layout.rest_weights)
        if world != (*many, nodes, 3, 4):
            have = world[len(many)] if len(world) > len(many) else 0
            raise ShapeError(f"a pose of {have} nodes for a character with {nodes}")
        if weights != (*many, columns):
            raise ShapeError(f"weights: shape {weights}, expected {(*many, columns)}")

    def _skin_multi(
        self,
        world: Floats,
        weights: Floats,
        skins: list[SkinnedPrimitive],
        method: Method,
    ) -> None:
        """Skin with all weights; world: (N, J, 3, 4); weights: (N, W)."""
        skin_part = skin_linear if method == "linear" else skin_dual

        def work(rows: slice) -> None:
            for bind, skin in zip(self.binds, skins, strict=True):
                first, width = self.layout.morph_columns.get(bind.node, (0, 0))
                own = weights[rows, first : first + width]
                skin_part(
                    bind,
                    world[rows],
                    np.ascontiguousarray(own),
                    skin.positions[rows],
                    skin.normals[rows],
                )

        threads.run_slices(work, len(world))

    def _skin_one(
        self, world: Floats, weights: Floats, skins: list[SkinnedPrimitive]
    ) -> None:
        """The same with one weight a vertex."""
        from flexor.deform.envelope import skin_envelope

        by_place = {(skin.node, skin.primitive): skin for skin in skins}
        spare = self._spare

        def work(rows: slice) -> None:
            try:
                state = spare.pop()
            except IndexError:
                state = self.envelope_state("one")
            mine = [by_place[place] for place in state.surfaces]
            skin_envelope(
                state,
                world[rows],
                np.ascontiguousarray(weights[rows]),
                positions=[skin.positions[rows] for skin in mine],
                normals=[skin.normals[rows] for skin in mine],
            )
            spare.append(state)

        threads.run_slices(work, len(world))
