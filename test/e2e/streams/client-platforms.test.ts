import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { foreignNode } from '../../support/processes/foreign-node.ts';
import { skipAloud } from '../../support/project/skip-aloud.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

const execute = promisify(execFile);

/** Prints a reply, and what becomes of a session that cannot be. */
const PROGRAM = `
  import { connect } from './src/client/session-client.js';
  const [url] = process.argv.slice(2);
  const session = connect({ url, session: 'demo' });
  try {
    console.log(await session.ask('thanks', { timeoutMs: 10_000 }));
    const refused = connect({ url, session: 'bad/id' });
    await refused.ready().catch(({ name, code }) => console.log(name, code));
  } catch (error) {
    console.log(error.name, error.message);
  }
  session.close();
`;

/** The client as JavaScript, with and without packages in reach. */
let withPackages: TempDirectory;
let withoutPackages: TempDirectory;

beforeAll(async () => {
  [withPackages, withoutPackages] = await Promise.all([compiledClient(), compiledClient()]);
  await symlink(join(projectRoot, 'node_modules'), join(withPackages.path, 'node_modules'));
});
afterAll(async () => {
  await withPackages[Symbol.asyncDispose]();
  await withoutPackages[Symbol.asyncDispose]();
});

async function compiledClient(): Promise<TempDirectory> {
  const folder = await tempDirectory();
  const tsc = join(projectRoot, 'node_modules', '.bin', 'tsc');
  await execute(tsc, ['-p', join(projectRoot, 'tsconfig.build.json'), '--outDir', folder.path]);
  await writeFile(join(folder.path, 'package.json'), '{"type": "module"}');
  await writeFile(join(folder.path, 'program.js'), PROGRAM);
  return folder;
}

async function runClient(node: string, flags: readonly string[], { path }: TempDirectory): Promise<string> {
  await using service = await RunningService.start();
  const { stdout } = await execute(node, [...flags, 'program.js', service.url], { cwd: path });
  return stdout;
}

const WORKS = 'You are welcome!\nRefusedError INVALID_REQUEST\n';
const NO_WEBSOCKET = ['--no-experimental-websocket'];

describe('the client of the package', () => {
  verifies('stream.client-platforms', async () => {
    expect(await runClient(process.execPath, NO_WEBSOCKET, withPackages)).toBe(WORKS);
    expect(await runClient(process.execPath, [], withoutPackages)).toBe(WORKS);
  });

  verifies('stream.client-platforms', 'and says what it needs where there is neither', async () => {
    const printed = await runClient(process.execPath, NO_WEBSOCKET, withoutPackages);
    expect(printed).toMatch(/^MissingWebSocketError .*Node 22 or later, install the package `ws`/);
  });

  verifies('stream.client-platforms', "and on this machine's own Node", async (test) => {
    const { path, reason } = await foreignNode();
    skipAloud(test, reason);
    expect(await runClient(path, [], withPackages)).toBe(WORKS);
  });
});
