// node validate.mjs a.glb [b.glb ...]: the Khronos glTF-Validator's errors as JSON,
// {file: [messages]}. The folder with node_modules is named by FLEXOR_NODE.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const require = createRequire(path.join(process.env.FLEXOR_NODE, 'package.json'));
const validator = require('gltf-validator');
const found = {};
for (const file of process.argv.slice(2)) {
  const beside = (uri) =>
    new Uint8Array(fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(uri))));
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: path.basename(file),
    maxIssues: 100,
    externalResourceFunction: async (uri) => beside(uri),
  });
  const errors = report.issues.messages.filter((message) => message.severity === 0);
  found[file] = errors.map((e) => `${e.code} at ${e.pointer}: ${e.message}`);
}
console.log(JSON.stringify(found));
