import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The Node that the machine itself has, if it is another than the one that runs the tests; else the reason why not. */
export async function foreignNode(): Promise<{ path: string; reason: string | undefined }> {
  const path = '/usr/bin/node';
  try {
    const { stdout } = await execute(path, ['--version']);
    const isOther = stdout.trim() !== process.version;
    return { path, reason: isOther ? undefined : `${path} is the Node that runs the tests` };
  } catch (error) {
    return { path, reason: `${path} cannot be run: ${error instanceof Error ? error.message : error}` };
  }
}
