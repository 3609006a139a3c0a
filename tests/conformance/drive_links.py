"""python drive_links.py file.glb script.py|none '[0, 24]': imports a file into Blender,
lets a script drive its links, and prints the vertices of all skinned meshes at
frames of its clip, in the axes of glTF.
"""

import json
import sys

import bpy

file, script, frames = sys.argv[1:4]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=file)
if script != "none":
    with open(script, encoding="utf-8") as text:
        exec(compile(text.read(), script, "exec"), {})
found = []
for frame in json.loads(frames):
    bpy.context.scene.frame_set(int(frame))
    graph = bpy.context.evaluated_depsgraph_get()
    places = {}
    for one in bpy.data.objects:
        if one.type != "MESH" or not any(m.type == "ARMATURE" for m in one.modifiers):
            continue
        shown = one.evaluated_get(graph)
        mesh, world = shown.to_mesh(), shown.matrix_world
        rows = []
        for vertex in mesh.vertices:
            x, y, z = world @ vertex.co
            rows.append((x, z, -y))
        places[one.name] = rows
    found.append(places)
sys.stdout.write("FOUND" + json.dumps(found) + "\n")
