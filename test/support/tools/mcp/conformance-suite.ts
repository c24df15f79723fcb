import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { findPackageRoot } from '../../../../src/app/package-root.ts';
import { tempDirectory } from '../../service/temp-directory.ts';

const PACKAGES = join(findPackageRoot(), 'node_modules');

/** The official suite, and that of the next version of the protocol. */
const SUITE = join(PACKAGES, '@modelcontextprotocol/conformance/dist/index.js');
export const NEXT_SUITE = join(PACKAGES, 'conformance-next/dist/index.js');

const run = promisify(execFile);

/** @returns what it printed; rejects when it exits with another code than 0. */
export async function conformance(args: readonly string[], program = SUITE): Promise<string> {
  await using folder = await tempDirectory();
  const options = { cwd: folder.path, env: { PATH: process.env.PATH } };
  const { stdout, stderr } = await run(process.execPath, [program, ...args], options);
  return stdout + stderr;
}

/** One check of a scenario. Those that only inform are no checks. */
const Check = z.looseObject({ id: z.string(), status: z.string() });
export type Check = z.infer<typeof Check>;

/** The folder of a scenario's results: its name, and a time. */
const RESULTS = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/**
 * What a suite finds at a server, by scenario: all of them by one process, as its start takes longer than they do.
 * A scenario that could not be run has no checks.
 *
 * @param version of the protocol, of which the next suite knows two.
 */
export async function serverChecks(url: string, version?: string): Promise<Map<string, Check[]>> {
  await using folder = await tempDirectory();
  const options = { cwd: folder.path, env: { PATH: process.env.PATH } };
  const more = version === undefined ? [] : ['--spec-version', version];
  const program = version === undefined ? SUITE : NEXT_SUITE;
  const args = [program, 'server', '--url', url, '--suite', 'all', '--output-dir', '.', ...more];
  await run(process.execPath, args, options).catch((error: unknown) => {
    // Some scenarios fail, because not all of them apply.
    if (!(error instanceof Error && 'code' in error && error.code === 1)) throw error;
  });
  const results = new Map<string, Check[]>();
  for (const name of await readdir(folder.path)) {
    const [, scenario] = RESULTS.exec(name) ?? [];
    if (scenario === undefined) continue;
    const checks = await readFile(join(folder.path, name, 'checks.json'), 'utf8').catch(() => '[]');
    results.set(scenario, z.array(Check).parse(JSON.parse(checks)));
  }
  return results;
}
