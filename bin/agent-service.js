#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findPinnedNode, runOn } from './pinned-node.js';
import { checkRuntime } from './runtime-check.js';

// The sources are not published: where they are is a checkout, whose dist/ may be older than they are.
const source = new URL('../src/app/main.ts', import.meta.url);
const built = new URL('../dist/src/app/main.js', import.meta.url);
const fromSource = existsSync(source);

const problem = await checkRuntime({ fromSource });
const pinned = problem === undefined ? undefined : findPinnedNode();
if (problem === undefined) {
  await import(fromSource ? source.href : built.href);
} else if (pinned !== undefined) {
  runOn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
