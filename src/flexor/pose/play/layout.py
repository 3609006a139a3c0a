"""Records of arrays that the playing kernels take: those of a set of clips, of layers
and voices, of the characters, and work space.

N characters of K layers of V voices; L lanes, W morph weights, C clips.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Bytes, Doubles, Floats, Ints, Longs

__all__ = [
    "Cast",
    "Fades",
    "Kept",
    "Layers",
    "Motion",
    "Packs",
    "Room",
    "Travel",
    "Voices",
]


class Packs(NamedTuple):
    """What of clips is packed: the table of packed clips (columns in `kernels.voice`),
    then `PackedTables` of all of them, codes and words in one.
    """

    packs: Annotated[Longs, "[:, ::1]"]
    timing: Annotated[Doubles, "[::1]"]
    whole: Annotated[Ints, "[::1]"]
    parts: Annotated[Longs, "[::1]"]
    both: Annotated[Bytes, "[::1]"]
    floats: Annotated[Floats, "[::1]"]


class Motion(NamedTuple):
    """A set of clips (see `motion_set.MotionSet`); references: (C + 1, 10 * L) and
    reference_weights: (C + 1, W), what added layers take off, the rest pose last.
    """

    clips: Annotated[Ints, "[:, ::1]"]
    durations: Annotated[Doubles, "[::1]"]
    times: Annotated[Floats, "[::1]"]
    timelines: Annotated[Ints, "[:, ::1]"]
    rotations: Annotated[Ints, "[:, ::1]"]
    vectors: Annotated[Ints, "[:, ::1]"]
    morphs: Annotated[Ints, "[:, ::1]"]
    values: Annotated[Floats, "[::1]"]
    references: Annotated[Floats, "[:, ::1]"]
    reference_weights: Annotated[Floats, "[:, ::1]"]
    packed: Packs


class Layers(NamedTuple):
    """The settings of layers: (K, 3), masks: (K * L,), morph_masks: (K * W,)."""

    settings: Annotated[Ints, "[:, ::1]"]
    masks: Annotated[Floats, "[::1]"]
    morph_masks: Annotated[Floats, "[::1]"]


class Fades(NamedTuple):
    """Of each layer of a character: targets: (N * K,), the voice that is faded to;
    numbers: (N * K, 4), columns in `kernels.player`.
    """

    targets: Annotated[Ints, "out [::1]"]
    numbers: Annotated[Doubles, "out [:, ::1]"]


class Voices(NamedTuple):
    """Of each voice, N * K * V rows: marks and numbers (columns in `kernels.player`);
    steps: what it did in the last step; played: its clip then.
    """

    marks: Annotated[Ints, "out [:, ::1]"]
    numbers: Annotated[Doubles, "out [:, ::1]"]
    steps: Annotated[Doubles, "out [:, ::1]"]
    played: Annotated[Ints, "out [::1]"]


class Kept(NamedTuple):
    """Poses that voices hold, of each layer of a character: (N * K, 10 * L), and morph
    weights: (N * K, W).
    """

    poses: Annotated[Floats, "out [:, ::1]"]
    weights: Annotated[Floats, "out [:, ::1]"]


class Room(NamedTuple):
    """What sampling remembers of each voice: cursors: the keys it is at; held: numbers
    of packed clips; turns: on which side its rotations are added; and its work space;
    last: the clip that `scratch` is filled for.
    """

    cursors: Annotated[Ints, "out [:, ::1]"]
    held: Annotated[Ints, "out [:, ::1]"]
    turns: Annotated[Floats, "out [:, ::1]"]
    spots: Annotated[Floats, "out [::1]"]
    scratch: Annotated[Floats, "out [::1]"]
    last: Annotated[Ints, "out [::1]"]


class Travel(NamedTuple):
    """Root motion: paths: (P, 5), of all clips; places: (N, 12), moved by it; steps:
    (N, 4), what it was in this step.
    """

    paths: Annotated[Doubles, "[:, ::1]"]
    places: Annotated[Doubles, "out [:, ::1]"]
    steps: Annotated[Doubles, "out [:, ::1]"]


class Cast(NamedTuple):
    """The characters: speeds: (N,), factor of each one's clock; local: (N, 10 * L);
    weights: (N, W); work: room for one's poses and mixes.
    """

    speeds: Annotated[Doubles, "[::1]"]
    local: Annotated[Floats, "out [:, ::1]"]
    weights: Annotated[Floats, "out [:, ::1]"]
    work: Annotated[Floats, "out [::1]"]
