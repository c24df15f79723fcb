import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { addressFile } from '../../adapters/sqlite/file/data-directory.ts';
import type { Settings } from '../../config/settings.ts';

/**
 * Writes the address of this service into its data directory, for commands that find the directory in use.
 * Only the service that has the directory's log open may call it: no other one writes the file meanwhile.
 * @param url null for a service that has no address, or is about to lose it: then the file is removed.
 */
export function noteAddress(
  { dataDir, store }: Pick<Settings, 'dataDir' | 'store'>,
  url: string | null,
): void {
  if (dataDir === ':memory:' || store !== undefined) return;
  const file = addressFile(resolve(dataDir));
  if (url === null) rmSync(file, { force: true });
  else writeFileSync(file, `${url}\n`, { mode: 0o600 });
}
