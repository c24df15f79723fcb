import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPackageRoot } from '../../../../src/app/package-root.ts';
import { tempDirectory } from '../../service/temp-directory.ts';

const PACKAGES = join(findPackageRoot(), 'node_modules');

/** The official suite, and that of the next version of the protocol. */
const SUITE = join(PACKAGES, '@modelcontextprotocol/conformance/dist/index.js');
export const NEXT_SUITE = join(PACKAGES, 'conformance-next/dist/index.js');

/** @returns what it printed; rejects when it exits with another code than 0. */
export async function conformance(args: readonly string[], program = SUITE): Promise<string> {
  await using folder = await tempDirectory();
  const options = { cwd: folder.path, env: { PATH: process.env.PATH } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], options);
  return stdout + stderr;
}
