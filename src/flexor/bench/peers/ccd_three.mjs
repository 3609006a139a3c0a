// node ccd_three.mjs: solves chains with CCDIKSolver of three.js.
//
// Reads JSON from standard input: {lengths: [B], starts: [N][B][4], targets: [N][3],
// iterations}. Bones lie along X, each begins where the one before it ends; starts are
// local rotations xyzw, targets are seen from where the chain begins. Writes JSON:
// {errors: [N], seconds: [N]}. The folder with node_modules is named by FLEXOR_NODE.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const three = path.join(process.env.FLEXOR_NODE, 'node_modules', 'three');
const load = (...parts) => import(pathToFileURL(path.join(three, ...parts)).href);
const { Bone, BufferGeometry, MeshBasicMaterial, Skeleton, SkinnedMesh, Vector3 } =
  await load('build', 'three.module.js');
const { CCDIKSolver } = await load('examples', 'jsm', 'animation', 'CCDIKSolver.js');

const { lengths, starts, targets, iterations } = JSON.parse(fs.readFileSync(0, 'utf8'));
const count = lengths.length;
const bones = [];
for (let i = 0; i <= count; i++) {
  const bone = new Bone();
  if (i > 0) {
    bone.position.set(lengths[i - 1], 0, 0);
    bones[i - 1].add(bone);
  }
  bones.push(bone);
}
const goal = new Bone();
const mesh = new SkinnedMesh(new BufferGeometry(), new MeshBasicMaterial());
mesh.add(bones[0], goal);
mesh.bind(new Skeleton([...bones, goal]));
const links = bones.slice(0, count).map((_, i) => ({ index: count - 1 - i }));
const chain = { target: count + 1, effector: count, links, iteration: iterations };
const solver = new CCDIKSolver(mesh, [chain]);

const there = new Vector3();
const solve = (start, target) => {
  start.forEach((rotation, i) => bones[i].quaternion.set(...rotation));
  goal.position.set(...target);
  mesh.updateMatrixWorld(true);
  const before = process.hrtime.bigint();
  solver.update();
  const after = process.hrtime.bigint();
  there.setFromMatrixPosition(bones[count].matrixWorld);
  return [there.distanceTo(goal.position), Number(after - before) * 1e-9];
};
// Once to be compiled, once to be timed.
for (let i = 0; i < starts.length; i++) solve(starts[i], targets[i]);
const done = starts.map((start, i) => solve(start, targets[i]));
const found = { errors: done.map((one) => one[0]), seconds: done.map((one) => one[1]) };
console.log(JSON.stringify(found));
