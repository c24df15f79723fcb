import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { findPackageRoot } from '../../../src/app/package-root.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

/** The packages of the suites, and how many scenarios of OAuth clients each has. */
const suites = { '@modelcontextprotocol/conformance': 22, 'conformance-next': 33 };
/** The newest protocol that the service speaks. Scenarios for a later one run over it. */
const PROTOCOL = '2025-11-25';
const AT_ONCE = 3;
const TIME_OUT_MS = 180_000;

const client = join(findPackageRoot(), 'test/support/tools/mcp/conformance-client.ts');

/** @returns what it printed; rejects when it exits with another code than 0. */
async function conformance(suite: string, args: readonly string[]): Promise<string> {
  await using folder = await tempDirectory();
  const program = join(findPackageRoot(), 'node_modules', suite, 'dist/index.js');
  const options = { cwd: folder.path, env: { PATH: process.env.PATH } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], options);
  return stdout + stderr;
}

interface Scenario {
  readonly name: string;
  readonly isLater: boolean;
}

async function scenariosOf(suite: string): Promise<Scenario[]> {
  const listed = await conformance(suite, ['list', '--client']);
  return [...listed.matchAll(/^ +- (auth\/\S+) \[(.*)\]/gm)].map(([, name = '', versions = '']) => ({
    name,
    isLater: versions.split(',').every((version) => /^\d/.test(version) && version > PROTOCOL),
  }));
}

async function run(suite: string, { name, isLater }: Scenario): Promise<void> {
  const version = isLater ? ['--spec-version', PROTOCOL, '--force'] : [];
  const command = `${process.execPath} ${client}`;
  const output = await conformance(suite, ['client', '--command', command, '--scenario', name, ...version]);
  expect(output, name).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
}

describe.for(Object.entries(suites))('the client scenarios of %s', ([suite, count]) => {
  verifies(
    'servers.oauth-conformance',
    async () => {
      const scenarios = await scenariosOf(suite);
      expect(scenarios).toHaveLength(count);
      const left = scenarios.values();
      const work = async (): Promise<void> => {
        for (const scenario of left) await run(suite, scenario);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    },
    suite,
    TIME_OUT_MS,
  );
});
