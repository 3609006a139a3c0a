"""Records of arrays that the skinning kernels take."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Floats, Ints, Masks

__all__ = ["Skin", "SkinRoom"]


class Skin(NamedTuple):
    """A primitive made ready, as in `Bind`: S joints, blocks of eight vertices."""

    nodes: Annotated[Masks, "[::1]"]
    binds: Annotated[Floats, "[:, ::1]"]
    runs: Annotated[Ints, "[:, ::1]"]
    joints: Annotated[Ints, "[::1]"]
    data: Annotated[Floats, "[:, ::1]"]
    order: Annotated[Masks, "[::1]"]


class SkinRoom(NamedTuple):
    """Work space for one character; palette, turns: (S * 12,); work: (24 * K + 96,)."""

    palette: Annotated[Floats, "out [::1]"]
    turns: Annotated[Floats, "out [::1]"]
    work: Annotated[Floats, "out [::1]"]
