#!/usr/bin/env node
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { openCompileCache, saveCompileCache } from './compile-cache.js';
import { findMain } from './find-main.js';
import { checkRuntime } from './runtime-check.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { file, fromSource } = findMain(root);

const problem = await checkRuntime({ fromSource });
if (problem === undefined) {
  openCompileCache(root);
  // Loading the code makes V8's young generation grow to its largest size, which an idle service would keep: 4 MB.
  setFlagsFromString('--semi-space-growth-factor=1');
  await import(pathToFileURL(file).href);
  setFlagsFromString('--semi-space-growth-factor=2');
  saveCompileCache();
} else {
  // Loaded here, because on the right Node nobody needs them.
  const { findPinnedNode } = await import('./pinned-node.js');
  const { runOn } = await import('./replace-process.js');
  const pinned = findPinnedNode();
  if (pinned === undefined) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  } else runOn(pinned, process.argv.slice(2));
}
