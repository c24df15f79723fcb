import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { bundleServer } from '../../../build/server-bundle.js';
import { findPackageRoot } from '../../../src/app/package-root.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

const OLDER = '@modelcontextprotocol/conformance';
const NEWER = 'conformance-next';
/** How many scenarios of OAuth clients each suite has, those of extensions included. */
const suites = { [OLDER]: 22, [NEWER]: 33 };
/** How many client scenarios each revision of MCP requires. */
const required = { '2025-11-25': 18, '2026-07-28': 32 };
const AT_ONCE = 3;
const TIME_OUT_MS = 300_000;

const Requirements = z.looseObject({ client: z.array(z.string()) });

const packages = join(findPackageRoot(), 'node_modules');
const sources = {
  client: 'test/support/tools/mcp/conformance-client.ts',
  'schema-worker': 'src/adapters/ajv/schema-worker.ts',
};

let built: TempDirectory;
const inBuilt = (name: string): string => join(built.path, name);

// Each scenario is two processes, a suite and a client: started from sources, they took most of the time.
beforeAll(async () => {
  built = await tempDirectory();
  await bundleServer(sources, inBuilt('client'));
});
afterAll(() => built[Symbol.asyncDispose]());

/** @returns what it printed; rejects when it exits with another code than 0. */
async function conformance(suite: string, args: readonly string[]): Promise<string> {
  await using folder = await tempDirectory();
  const program = join(packages, suite, 'dist/index.js');
  const options = {
    cwd: folder.path,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: inBuilt('compiled') },
  };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], options);
  return stdout + stderr;
}

async function oauthScenarios(suite: string): Promise<string[]> {
  const listed = await conformance(suite, ['list', '--client']);
  return [...listed.matchAll(/^ +- (auth\/\S+) \[/gm)].map(([, name = '']) => name);
}

async function requiredScenarios(revision: string): Promise<string[]> {
  const file = join(packages, NEWER, 'requirements', `${revision}.yaml`);
  return Requirements.parse(parse(await readFile(file, 'utf8'))).client;
}

/** Runs the scenarios, a few at once. Each check of each must pass, without a warning. */
async function runAll(
  suite: string,
  scenarios: readonly string[],
  more: readonly string[] = [],
): Promise<void> {
  const left = scenarios.values();
  const work = async (): Promise<void> => {
    for (const name of left) {
      const command = `${process.execPath} ${inBuilt('client/client.js')}`;
      const args = ['client', '--command', command, '--scenario', name, ...more];
      const output = await conformance(suite, args);
      expect(output, name).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

describe.for(Object.entries(suites))('the client scenarios of %s', ([suite, count]) => {
  verifies(
    'servers.oauth-conformance',
    suite,
    async () => {
      const scenarios = await oauthScenarios(suite);
      expect(scenarios).toHaveLength(count);
      await runAll(suite, scenarios);
    },
    TIME_OUT_MS,
  );
});

describe.for(Object.entries(required))('what %s requires of clients', ([revision, count]) => {
  verifies(
    'servers.conformance',
    revision,
    async () => {
      const scenarios = await requiredScenarios(revision);
      expect(scenarios).toHaveLength(count);
      // Those of OAuth are among the scenarios above.
      const others = scenarios.filter((name) => !name.startsWith('auth/'));
      await runAll(NEWER, others, ['--spec-version', revision]);
    },
    TIME_OUT_MS,
  );
});
