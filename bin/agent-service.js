#!/usr/bin/env node
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openCompileCache, saveCompileCache } from './compile-cache.js';
import { findMain } from './find-main.js';
import { findPinnedNode, runOn } from './pinned-node.js';
import { checkRuntime } from './runtime-check.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { file, fromSource } = findMain(root);

const problem = await checkRuntime({ fromSource });
const pinned = problem === undefined ? undefined : findPinnedNode();
if (problem === undefined) {
  openCompileCache(root);
  await import(pathToFileURL(file).href);
  saveCompileCache();
} else if (pinned !== undefined) {
  runOn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
