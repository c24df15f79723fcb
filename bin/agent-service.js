#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { checkRuntime } from './runtime-check.js';

const built = new URL('../dist/src/app/main.js', import.meta.url);
const source = new URL('../src/app/main.ts', import.meta.url);
const fromSource = !existsSync(built);

const problem = await checkRuntime({ fromSource });
if (problem === undefined) {
  await import(fromSource ? source.href : built.href);
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
