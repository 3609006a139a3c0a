from __future__ import annotations

import json
from pathlib import Path

from flexor.files.gltf.read import read_gltf
from flexor.files.gltf.write import write_gltf
from tests.gltf_builder import mini, write_glb


def test_unknown_json_comes_back(tmp_path: Path) -> None:
    document, data = mini()
    document["extensionsUsed"] = ["ACME_hat"]
    document["extensions"] = {"ACME_hat": {"node": 1}}
    document["extras"] = [1, {"two": None}]
    document["nodes"][0]["extensions"] = {"ACME_hat": {"size": 3}}
    document["nodes"][0]["extras"] = "mine"
    document["asset"]["copyright"] = "me"
    write_glb(tmp_path / "a.glb", document, data)
    scene = read_gltf(tmp_path / "a.glb")
    assert scene.findings == ()
    write_gltf(scene, tmp_path / "b.gltf")
    again = json.loads((tmp_path / "b.gltf").read_text())
    assert again["extensionsUsed"] == ["ACME_hat"]
    assert again["extensions"] == document["extensions"]
    assert again["extras"] == document["extras"]
    assert again["nodes"][0]["extensions"] == {"ACME_hat": {"size": 3}}
    assert again["nodes"][0]["extras"] == "mine"
    assert again["asset"]["copyright"] == "me"


def test_extensions_with_data_of_their_own_are_dropped(tmp_path: Path) -> None:
    document, data = mini()
    instances = {"attributes": {"TRANSLATION": 0}}
    document["extensionsUsed"] = ["EXT_mesh_gpu_instancing"]
    document["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": instances}
    write_glb(tmp_path / "a.glb", document, data)
    scene = read_gltf(tmp_path / "a.glb")
    (finding,) = scene.findings
    assert finding.code == "extension-dropped"
    assert "EXT_mesh_gpu_instancing" in finding.text
    assert not scene.node_carried
