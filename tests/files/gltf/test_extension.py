"""The extensions that are known, and what becomes of their values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flexor.errors import AssetError, SettingError
from flexor.files.gltf import material_looks
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extension import Extension, LookForm, known_extensions
from flexor.files.gltf.material_looks import give_looks, take_looks
from flexor.scene.character.material import Material, TextureRef

UNDONE = {
    "EXT_meshopt_compression",
    "KHR_draco_mesh_compression",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
}
CARRIED = {
    "EXT_texture_webp",
    "KHR_lights_punctual",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "VRMC_node_constraint",
}
GLOW = Extension(
    names=("TEST_glow",),
    look=LookForm(
        lambda body, count: {"level": body.number("glowLevel", 1.0)},
        lambda values: {"glowLevel": values["level"]},
    ),
)


@pytest.fixture
def glow(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**known_extensions(), "TEST_glow": GLOW}
    monkeypatch.setattr(material_looks, "known_extensions", lambda: known)


def checked(value: object) -> Checked:
    return Checked(value, Path("hero.glb"))


def test_known() -> None:
    known = known_extensions()
    assert set(known) == UNDONE | CARRIED
    assert {name for name in known if known[name].is_undone} == UNDONE
    unread = {name for name in known if not known[name].may_be_required}
    assert unread == {"KHR_texture_basisu"}
    # In this order: the first one that is there is taken.
    sources = [name for name in known if known[name].is_texture_source]
    assert sources == ["EXT_texture_webp", "KHR_texture_basisu"]


@pytest.mark.usefixtures("glow")
def test_looks_out_of_json_and_back() -> None:
    json = {"TEST_glow": {"glowLevel": 2.0}, "OTHER": {"a": 1}}
    plain = Material("skin", carried={"extensions": json, "extras": 3})
    taken = take_looks(plain, checked(json), 0)
    assert taken.looks == {"TEST_glow": {"level": 2.0}}
    assert taken.carried == {"extensions": {"OTHER": {"a": 1}}, "extras": 3}
    given = give_looks(taken)
    assert given.looks is None
    assert given.carried == plain.carried
    assert json == {"TEST_glow": {"glowLevel": 2.0}, "OTHER": {"a": 1}}


@pytest.mark.usefixtures("glow")
def test_looks_alone_leave_nothing_carried() -> None:
    json = {"TEST_glow": {}}
    taken = take_looks(Material(carried={"extensions": json}), checked(json), 0)
    assert taken == Material(looks={"TEST_glow": {"level": 1.0}})
    assert give_looks(replace(taken, looks={})) == Material()


@pytest.mark.usefixtures("glow")
def test_broken_looks() -> None:
    with pytest.raises(AssetError, match="/TEST_glow: expected an object"):
        take_looks(Material(), checked({"TEST_glow": 1}), 0)
    with pytest.raises(AssetError, match="/TEST_glow/glowLevel"):
        take_looks(Material(), checked({"TEST_glow": {"glowLevel": "much"}}), 0)


def test_nothing_to_take() -> None:
    material = Material(carried={"extensions": {"OTHER": {}}})
    assert take_looks(material, None, 0) is material
    assert take_looks(material, checked({"OTHER": {}}), 0) is material
    assert give_looks(material) is material


def test_looks_that_cannot_be_written() -> None:
    with pytest.raises(SettingError, match="looks: 'TEST_other' is no extension"):
        give_looks(Material(looks={"TEST_other": {}}))


def test_textures_of_looks_are_textures_of_the_material() -> None:
    base, other = TextureRef(0), TextureRef(3)
    looks = {"TEST_glow": {"level": 1.0, "texture": other, "none": None}}
    assert Material(base_texture=base, looks=looks).texture_refs() == [base, other]
