// node drive_links.mjs file.glb snippet.mjs packages/ '[0, 1]': reads a file with three.js,
// moves it by its first clip, lets the snippet drive its links if it is not "none", and
// prints the vertices of all skinned meshes in the world, by time, with all sets of weights.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

globalThis.self ??= globalThis;
const [, , file, snippet, packages, times] = process.argv;
const require = createRequire(pathToFileURL(`${packages}/package.json`));
const THREE = await import(pathToFileURL(require.resolve('three').replace('.cjs', '.module.js')));
const addons = `${packages}/node_modules/three/examples/jsm/loaders/GLTFLoader.js`;
const { GLTFLoader } = await import(pathToFileURL(addons));
THREE.SkinnedMesh.prototype.normalizeSkinWeights = () => {};
const data = fs.readFileSync(file);
const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
const gltf = await new Promise((done, fail) => new GLTFLoader().parse(bytes, '', done, fail));
let drive = () => {};
if (snippet !== 'none') {
  const { findLinks, driveLinks } = await import(pathToFileURL(snippet));
  const links = findLinks(THREE, gltf.scene);
  drive = () => driveLinks(THREE, links);
}
const meshes = [];
gltf.scene.traverse((one) => one.isSkinnedMesh && meshes.push(one));
const mixer = new THREE.AnimationMixer(gltf.scene);
const action = mixer.clipAction(gltf.animations[0]);
action.setLoop(THREE.LoopOnce, 1);
action.clampWhenFinished = true;
action.play();
const found = [];
const point = new THREE.Vector3(), moved = new THREE.Vector3();
for (const time of JSON.parse(times)) {
  action.reset();
  mixer.setTime(time);
  drive();
  gltf.scene.updateMatrixWorld(true);
  const places = [];
  for (const mesh of meshes) {
    const { position, skinIndex, skinWeight, ...more } = mesh.geometry.attributes;
    const sets = [[skinIndex, skinWeight]];
    for (let n = 1; more[`joints_${n}`]; n++) sets.push([more[`joints_${n}`], more[`weights_${n}`]]);
    const bones = mesh.skeleton.bones.map((bone, k) =>
      bone.matrixWorld.clone().multiply(mesh.skeleton.boneInverses[k]));
    for (let i = 0; i < position.count; i++) {
      const sum = new THREE.Vector3();
      point.fromBufferAttribute(position, i);
      for (const [joints, weights] of sets)
        for (let c = 0; c < 4; c++)
          sum.addScaledVector(moved.copy(point).applyMatrix4(bones[joints.getComponent(i, c)]), weights.getComponent(i, c));
      places.push(sum.x, sum.y, sum.z);
    }
  }
  found.push(places);
}
console.log(JSON.stringify(found));
