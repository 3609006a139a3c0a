"""The reading half; tests of writing are in test_write.py."""

from __future__ import annotations

import base64

import pytest

from flexor.scene.character.material import TextureRef
from tests.files.gltf.reading import check_refusal, put, read, refuse
from tests.gltf_builder import PNG, mini, write_gltf

MATERIAL = "/materials/0"
BASE = MATERIAL + "/pbrMetallicRoughness"


def test_mini_character(tmp_path):
    scene = read(tmp_path, *mini())
    material = scene.materials[0]
    assert material.name == "cloth"
    assert material.metallic == 0.5
    assert material.base_texture == TextureRef(0)
    assert (material.unlit, material.double_sided) == (False, False)
    assert scene.samplers[0].wrap_s == 33071
    assert scene.samplers[0].wrap_t == 10497
    assert (scene.textures[0].image, scene.textures[0].sampler) == (0, 0)
    image = scene.images[0]
    assert (image.data, image.mime, image.name) == (PNG, "image/png", "red")


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        (MATERIAL, None, "expected an object"),
        (MATERIAL + "/name", 1, "expected a text"),
        (MATERIAL + "/alphaMode", "GLASS", "expected one of OPAQUE"),
        (MATERIAL + "/alphaCutoff", "0.5", "expected a number"),
        (MATERIAL + "/doubleSided", 1, "expected true or false"),
        (MATERIAL + "/emissiveFactor", [1, 1], "2 numbers, expected 3"),
        (MATERIAL + "/extensions", None, "expected an object"),
        (MATERIAL + "/normalTexture", 0, "expected an object"),
        (BASE, [], "expected an object"),
        (BASE + "/baseColorFactor", [1, 1, 1], "3 numbers, expected 4"),
        (BASE + "/metallicFactor", None, "expected a number"),
        (BASE + "/baseColorTexture/index", 1, "texture 1 does not exist"),
        (BASE + "/baseColorTexture/texCoord", -1, "out of range"),
        (BASE + "/baseColorTexture/extensions", 1, "expected an object"),
        ("/textures/0", 1, "expected an object"),
        ("/textures/0/source", 1, "image 1 does not exist"),
        ("/textures/0/sampler", 1, "sampler 1 does not exist"),
        ("/samplers/0", 1, "expected an object"),
        ("/samplers/0/wrapS", "x", "expected a whole number"),
        ("/images/0", "a.png", "expected an object"),
        ("/images/0/bufferView", 99, "buffer view 99 does not exist"),
        ("/images/0/mimeType", 5, "expected a text"),
    ],
)
def test_look_is_refused(tmp_path, pointer, value, words):
    gltf, data = mini()
    put(gltf, pointer, value)
    refuse(tmp_path, gltf, data, pointer, words)


def test_texture_without_its_row(tmp_path):
    gltf, data = mini()
    put(gltf, BASE + "/baseColorTexture", {})
    refuse(tmp_path, gltf, data, BASE + "/baseColorTexture", "'index' is missing")


def test_moved_texture(tmp_path):
    gltf, data = mini()
    moved = {"offset": [0.5, 1], "rotation": 0.25, "scale": [2, 3], "texCoord": 1}
    put(
        gltf,
        BASE + "/baseColorTexture",
        {"index": 0, "extensions": {"KHR_texture_transform": moved}},
    )
    gltf["extensionsRequired"] = ["KHR_texture_transform"]
    ref = read(tmp_path, gltf, data).materials[0].base_texture
    assert ref == TextureRef(0, 1, 1.0, True, (0.5, 1.0), 0.25, (2.0, 3.0))
    moved["rotation"] = "left"
    place = BASE + "/baseColorTexture/extensions/KHR_texture_transform/rotation"
    refuse(tmp_path, gltf, data, place, "expected a number")


def test_all_kinds_of_texture(tmp_path):
    gltf, data = mini()
    gltf["materials"][0] |= {
        "normalTexture": {"index": 0, "scale": 0.5},
        "occlusionTexture": {"index": 0, "strength": 0.25, "texCoord": 1},
        "emissiveTexture": {"index": 0},
        "emissiveFactor": [1, 0.5, 0],
        "alphaMode": "MASK",
        "alphaCutoff": 0.1,
        "doubleSided": True,
    }
    material = read(tmp_path, gltf, data).materials[0]
    assert material.normal_texture == TextureRef(0, 0, 0.5)
    assert material.occlusion_texture == TextureRef(0, 1, 0.25)
    assert material.emissive == (1, 0.5, 0)
    assert (material.alpha_mode, material.alpha_cutoff) == ("MASK", 0.1)
    assert material.double_sided
    assert len(material.texture_refs()) == 4


def test_unlit(tmp_path):
    gltf, data = mini()
    extensions = {"KHR_materials_unlit": {}, "KHR_materials_ior": {"ior": 1.2}}
    gltf["materials"][0]["extensions"] = extensions
    gltf["extensionsRequired"] = ["KHR_materials_unlit"]
    material = read(tmp_path, gltf, data).materials[0]
    assert material.unlit
    assert material.carried == {"extensions": {"KHR_materials_ior": {"ior": 1.2}}}


def test_glossy_material_gives_its_colour(tmp_path):
    gltf, data = mini()
    glossy = {"diffuseFactor": [1, 0, 0, 1], "diffuseTexture": {"index": 0}}
    name = "KHR_materials_pbrSpecularGlossiness"
    gltf["materials"] = [{"extensions": {name: glossy}}]
    material = read(tmp_path, gltf, data).materials[0]
    assert (material.base_colour, material.metallic) == ((1, 0, 0, 1), 0)
    assert material.base_texture == TextureRef(0)


def test_unknown_constants_of_a_sampler_count_as_not_given(tmp_path):
    gltf, data = mini()
    gltf["samplers"] = [{"magFilter": 1, "minFilter": 2, "wrapS": 3, "wrapT": 4}]
    sampler = read(tmp_path, gltf, data).samplers[0]
    assert (sampler.mag_filter, sampler.min_filter) == (None, None)
    assert (sampler.wrap_s, sampler.wrap_t) == (10497, 10497)


def test_webp_image_is_taken_where_there_is_no_other(tmp_path):
    gltf, data = mini()
    gltf["textures"] = [{"extensions": {"EXT_texture_webp": {"source": 0}}}]
    assert read(tmp_path, gltf, data).textures[0].image == 0
    gltf["textures"][0]["extensions"]["EXT_texture_webp"]["source"] = 5
    place = "/textures/0/extensions/EXT_texture_webp/source"
    refuse(tmp_path, gltf, data, place, "image 5 does not exist")


# Images.


def test_image_beside_or_embedded(tmp_path):
    gltf, data = mini()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "red one.png").write_bytes(PNG)
    embedded = "data:image/png;base64," + base64.b64encode(PNG).decode()
    gltf["images"] = [{"uri": "in/red%20one.png"}, {"uri": embedded}]
    scene = read(tmp_path, gltf, data)
    assert [image.data for image in scene.images] == [PNG, PNG]
    assert {image.mime for image in scene.images} == {"image/png"}


@pytest.mark.parametrize("start", [b"\xff\xd8\xff", b"RIFF", b"\xabKTX 20"])
def test_the_picture_tells_its_kind(tmp_path, start):
    gltf, data = mini()
    (tmp_path / "a.png").write_bytes(start + bytes(10))
    gltf["images"] = [{"uri": "a.png", "mimeType": "image/png"}]
    mime = read(tmp_path, gltf, data).images[0].mime
    assert mime in ("image/jpeg", "image/webp", "image/ktx2")


def test_missing_image_is_a_finding(tmp_path):
    gltf, data = mini()
    gltf["images"] = [{"uri": "none.png"}]
    scene = read(tmp_path, gltf, data)
    assert (scene.images[0].data, scene.images[0].uri) == (b"", "none.png")
    assert [(f.code, f.where) for f in scene.findings] == [
        ("image-missing", "/images/0")
    ]


@pytest.mark.parametrize("uri", ["../a.png", "http://x/a.png", "/a.png", "a\\b.png"])
def test_image_outside_the_folder(tmp_path, uri):
    gltf, data = mini()
    gltf["images"] = [{"uri": uri}]
    path = write_gltf(tmp_path / "a.gltf", gltf, data)
    with_words = "leaves the folder" if ".." in uri else "only data: and relative"
    check_refusal(path, "/images/0/uri", with_words)


def test_image_without_data(tmp_path):
    gltf, data = mini()
    gltf["images"] = [{"name": "x"}]
    refuse(tmp_path, gltf, data, "/images/0", "needs a bufferView or a uri")
