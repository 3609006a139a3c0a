// node poses.mjs script.mjs '[["a.glb", "--clip", "0"], ...]': runs the script once for
// each list of its arguments, all in this process, which reads three.js but once.
import { pathToFileURL } from 'node:url';

const [node, , script, runs] = process.argv;
for (const [row, run] of JSON.parse(runs).entries()) {
  process.argv = [node, script, ...run];
  await import(`${pathToFileURL(script)}?run=${row}`); // a name of its own: run again
}
