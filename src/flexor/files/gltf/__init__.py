"""glTF 2.0, text (.gltf) and binary (.glb, .vrm): reading and writing."""
