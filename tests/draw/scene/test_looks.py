"""Materials as looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.draw.drawlist import Look
from flexor.draw.scene.looks import look_of, texture_transform
from flexor.scene.character.material import Material, TextureRef
from tests.draw.scenes import square


def look(
    material: Material, primitive: Any = None
) -> tuple[Look, int, list[str], list[int]]:
    asked: list[int] = []

    def upload(row: int) -> int:
        asked.append(row)
        return row + 10

    made, texcoord, findings = look_of(material, primitive or square(), "/m", upload)
    assert all(f.where == "/m" for f in findings)
    return made, texcoord, [f.code for f in findings], asked


def test_plain_material_is_the_plain_look() -> None:
    assert look(Material())[0] == Look()


def test_settings_come_through() -> None:
    made, *_ = look(
        Material(
            base_colour=(0.1, 0.2, 0.3, 0.4),
            alpha_mode="MASK",
            alpha_cutoff=0.7,
            double_sided=True,
            emissive=(1.0, 0.5, 0.0),
        )
    )
    assert made.colour == (0.1, 0.2, 0.3, 0.4)
    assert (made.alpha, made.cutoff, made.cull) == ("mask", 0.7, "none")
    assert made.emissive == (1.0, 0.5, 0.0)
    assert look(Material(alpha_mode="BLEND"))[0].alpha == "blend"
    assert look(Material(unlit=True))[0].shading == "unlit"


def test_odd_colours_are_clamped() -> None:
    made, *_ = look(Material(base_colour=(-1.0, 2.0, 0.0, 3.0)))
    assert made.colour == (0.0, 2.0, 0.0, 1.0)


def test_textures_and_their_coordinates() -> None:
    both = square(texcoords=(np.zeros((4, 2)), np.ones((4, 2))))
    made, texcoord, codes, asked = look(Material(base_texture=TextureRef(3, 1)), both)
    assert (made.texture, texcoord, codes, asked) == (13, 1, [], [3])
    # A texture without light of its own to colour is not even read.
    glow = TextureRef(5, 1)
    assert look(Material(emissive_texture=glow), both)[3] == []
    white = (1.0, 1.0, 1.0)
    made, texcoord, codes, _ = look(
        Material(emissive=white, emissive_texture=glow), both
    )
    assert (made.texture, made.emissive_texture, texcoord) == (-1, 15, 1)
    # Two textures must lie alike: a look has one set of coordinates.
    made, texcoord, codes, _ = look(
        Material(base_texture=TextureRef(3, 0), emissive=white, emissive_texture=glow),
        both,
    )
    assert (made.texture, made.emissive_texture, texcoord) == (13, -1, 0)
    assert made.emissive == (0.0, 0.0, 0.0)
    assert codes == ["texture-left-out"]


def test_texture_without_coordinates_is_left_out() -> None:
    made, _, codes, asked = look(Material(base_texture=TextureRef(3, 1)))
    assert (made.texture, codes, asked) == (-1, ["texture-left-out"], [])


def move(ref: TextureRef, u: float, v: float) -> list[float]:
    return [row[0] * u + row[1] * v + row[2] for row in texture_transform(ref)]


def test_texture_transform() -> None:
    assert move(TextureRef(0, scale=(9.0, 9.0)), 0.3, 0.4) == [0.3, 0.4]
    ref = TextureRef(
        0,
        has_transform=True,
        offset=(0.5, 0.25),
        rotation=math.radians(90),
        scale=(2.0, 4.0),
    )
    # Counter-clockwise where v points down: u goes to -v, and v to u. Scaled first.
    assert move(ref, 0, 0) == pytest.approx([0.5, 0.25])
    assert move(ref, 1, 0) == pytest.approx([0.5, 0.25 - 2])
    assert move(ref, 0, 1) == pytest.approx([0.5 + 4, 0.25])
