"""Records of arrays that the playing kernels take: those of a set of clips, of layers
and voices, of the characters, and work space.

N characters of K layers of V voices; L lanes, W morph weights, C clips.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Bytes, Doubles, Floats, Ints, Longs

__all__ = ["Cast", "Layers", "Motion", "Packs", "Room", "Voices"]


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
    paths: Annotated[Doubles, "[:, ::1]"]


class Layers(NamedTuple):
    """settings: (K, 3), masks: (K * L,), morph_masks: (K * W,), the same for all; then
    those of each character: targets: (N * K,), the voice that is faded to; fades:
    (N * K, 4); kept: (N * K, 10 * L), kept_weights: (N * K, W), poses that voices hold.
    """

    settings: Annotated[Ints, "[:, ::1]"]
    masks: Annotated[Floats, "[::1]"]
    morph_masks: Annotated[Floats, "[::1]"]
    targets: Annotated[Ints, "out [::1]"]
    fades: Annotated[Doubles, "out [:, ::1]"]
    kept: Annotated[Floats, "out [:, ::1]"]
    kept_weights: Annotated[Floats, "out [:, ::1]"]


class Voices(NamedTuple):
    """Of each voice, N * K * V rows: marks and numbers (columns in `kernels.player`);
    steps: what it did in the last step; played: its clip then; cursors: the keys it is
    at; held: numbers of packed clips; turns: on which side its rotations are added.
    """

    marks: Annotated[Ints, "out [:, ::1]"]
    numbers: Annotated[Doubles, "out [:, ::1]"]
    steps: Annotated[Doubles, "out [:, ::1]"]
    played: Annotated[Ints, "out [::1]"]
    cursors: Annotated[Ints, "out [:, ::1]"]
    held: Annotated[Ints, "out [:, ::1]"]
    turns: Annotated[Floats, "out [:, ::1]"]


class Room(NamedTuple):
    """Work space; last: the clip that `scratch` is filled for."""

    spots: Annotated[Floats, "out [::1]"]
    scratch: Annotated[Floats, "out [::1]"]
    last: Annotated[Ints, "out [::1]"]
    work: Annotated[Floats, "out [::1]"]


class Cast(NamedTuple):
    """The characters: speeds: (N,), factor of each one's clock; places: (N, 12);
    travel: (N, 4), of this step; local: (N, 10 * L); weights: (N, W).
    """

    speeds: Annotated[Doubles, "[::1]"]
    places: Annotated[Doubles, "out [:, ::1]"]
    travel: Annotated[Doubles, "out [:, ::1]"]
    local: Annotated[Floats, "out [:, ::1]"]
    weights: Annotated[Floats, "out [:, ::1]"]
