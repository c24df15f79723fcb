import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempDirectory extends AsyncDisposable {
  readonly path: string;
}

/** A new empty directory that goes away with `await using`. */
export async function tempDirectory(): Promise<TempDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'agent-service-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
